/* decoder.h -- the stack that writes the target sentence. */
#ifndef MODEL_DECODER_H
#define MODEL_DECODER_H

#include "model/encoder.h"

typedef struct DecoderLayer {
    Attention self;
    AddNorm self_norm;
    Attention cross;
    AddNorm cross_norm;
    FeedforwardSaved ffn;
    AddNorm final_norm;
} DecoderLayer;

typedef struct Decoder {
    const Packed *rows;  // target
    const Packed *source;
    int layers;
    AddNorm first;  // pre-norm only
    DecoderLayer layer[MAX_LAYERS];
} Decoder;

void decoder_layout(Decoder *decoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Packed *source, const Dropout *dropout,
                    PassKind kind);

/* Returns the decoder's output [M,D].   X [M,D] embedded target   encoded [N,D] */
const real *decoder_forward(Decoder *decoder, const real *X, const real *encoded,
                            const Weights *w, const ModelConfig *config, Scratch *scratch,
                            const Dropout *dropout);

/* dX [M,D]: in, the gradient of the output; out, that of the embedded target.
 * dencoded [N,D] (=)   dw (+=)   turn: a stage for each sublayer */
void decoder_backward(const Decoder *decoder, real *dX, real *dencoded, Weights *dw, Turn *turn,
                      const Weights *w, const ModelConfig *config, Scratch *scratch);

#endif
