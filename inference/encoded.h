/* encoded.h -- the source as the decoder asks for it: the keys and values of every layer, computed
 * once for each sentence. */
#ifndef INFERENCE_ENCODED_H
#define INFERENCE_ENCODED_H

#include "model/transformer.h"

typedef struct EncodedLayer {
    real *Kt;  // [D,width] a sentence, one behind the other: keys as columns, by head
    real *V;   // [N,D] values
} EncodedLayer;

typedef struct Encoded {
    const Packed *source;
    size_t *keys;  // [S+1] where in Kt the keys of a sentence begin
    EncodedLayer layer[MAX_LAYERS];

    Arena room;  // for the encoder's pass over a slice; lies in the arena of all
    Encoder encoder;
} Encoded;

/* Takes the buffers; measures if the arena is a measuring one. */
void encoded_layout(Encoded *encoded, Arena *arena, const Transformer *model,
                    const Packed *source);

/* The encoder over all sentences: keys and values (=). */
void encoded_compute(Encoded *encoded, const Transformer *model);

#endif
