/* encoder.h -- the stack that reads the source sentence. */
#ifndef MODEL_ENCODER_H
#define MODEL_ENCODER_H

#include "model/addnorm.h"
#include "model/attention.h"
#include "model/feedforward.h"
#include "model/turns.h"

/* Buffers that all sublayers share; R = the larger of N and M. */
typedef struct Scratch {
    real *F;          // [R,D] the output of a sublayer
    real *dF;         // [R,D] its gradient
    real *dY;         // [R,D] pre-norm: the gradient of a sublayer's input
    real *attention;  // [4R,D] gradients of queries, keys, values and outputs
    real *dH;         // [R,F]
} Scratch;

void scratch_layout(Scratch *scratch, Arena *arena, const ModelConfig *config, int R,
                    bool training);

typedef struct EncoderLayer {
    Attention self;
    AddNorm self_norm;
    FeedforwardSaved ffn;
    AddNorm final_norm;
} EncoderLayer;

typedef struct Encoder {
    const Packed *rows;
    int layers;
    AddNorm first;  // pre-norm only
    EncoderLayer layer[MAX_LAYERS];
} Encoder;

/* What a pass keeps. */
typedef enum {
    PASS_SCORE,     // the output only: all layers share the buffers of the first
    PASS_SNAPSHOT,  // also the attention of every layer
    PASS_TRAIN      // also all that backward needs
} PassKind;

void encoder_layout(Encoder *encoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Dropout *dropout, PassKind kind);

/* Returns the encoded source [N,D].   X [N,D] embedded source */
const real *encoder_forward(Encoder *encoder, const real *X, const Weights *w,
                            const ModelConfig *config, Scratch *scratch,
                            const Dropout *dropout);

/* dX [N,D]: in, the gradient of the encoded source; out, that of the embedded source.   dw (+=)
 * turn: a stage for each sublayer */
void encoder_backward(const Encoder *encoder, real *dX, Weights *dw, Turn *turn,
                      const Weights *w, const ModelConfig *config, Scratch *scratch);

/* The places of dropout: each has its own stream of random numbers. */
enum { PLACE_EMBEDDING, PLACE_ENCODER = 1024, PLACE_DECODER = 2048, PLACES_A_LAYER = 8 };
enum { SITE_SELF, SITE_SELF_ADD, SITE_CROSS, SITE_CROSS_ADD, SITE_FFN, SITE_FFN_ADD };

#endif
