/* encoded.h -- the encoder's output as the decoder uses it: the keys and values of
 * encoder-decoder attention, computed once for each sentence and layer. */
#ifndef INFERENCE_ENCODED_H
#define INFERENCE_ENCODED_H

#include "model/transformer.h"

typedef struct EncodedLayer {
    real *Kt;  // [D,width] for each sentence: the keys as columns, the heads one after another
    real *V;   // [N,D] values
} EncodedLayer;

typedef struct Encoded {
    const Packed *source;
    size_t *keys;  // [S+1] offset of each sentence in Kt
    EncodedLayer layer[MAX_LAYERS];

    Arena slice_memory;  // for the encoder's pass over a slice
    Stack encoder;
} Encoded;

/* Takes the buffers, or measures them (arena.h). */
void encoded_layout(Encoded *encoded, Arena *arena, const Transformer *model,
                    const Packed *source);

/* Runs the encoder over all sentences: keys and values (=). */
void encoded_compute(Encoded *encoded, const Transformer *model);

#endif
