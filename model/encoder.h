/* encoder.h -- the stack that reads the source sentence. */
#ifndef MODEL_ENCODER_H
#define MODEL_ENCODER_H

#include "model/attention.h"
#include "model/feedforward.h"
#include "model/layernorm.h"

/* Buffers that one sublayer after another uses; R = the larger of N and M. */
typedef struct Scratch {
    real *F;     // [R,D] what a sublayer adds
    real *dF;    // [R,D] its gradient
    real *dO;    // [R,D]
    real *dQKV;  // [R,3D]
    real *dH;    // [R,F]
} Scratch;

void scratch_layout(Scratch *scratch, Arena *arena, const ModelConfig *config, int R,
                    bool training);

/* A sublayer's "Add & Norm": its saved numbers, dropout and result. */
typedef struct AddNorm {
    LayerNormSaved saved;
    uint8_t *keep;  // [N,D], or NULL: no dropout
    real *Y;        // [N,D]
} AddNorm;

void addnorm_layout(AddNorm *norm, Arena *arena, int N, int D, const Dropout *dropout);

/* norm->Y (=) LayerNorm(X + dropout(F + bias))   X, F [N,D] */
void addnorm_forward(AddNorm *norm, const real *X, const real *F, const real *bias,
                     NormWeights w, const Packed *rows, int D, const Dropout *dropout,
                     uint32_t place);

/* dX [N,D]: dY becomes dX, in place.   dF [N,D] scratch; returns where dF is: there, or at dX if
 * there is no dropout.   dbias, dw (+=) */
const real *addnorm_backward(const AddNorm *norm, real *dX, real *dF, real *dbias,
                             NormWeights dw, NormWeights w, const Packed *rows, int D,
                             real scale);

typedef struct EncoderLayer {
    const real *X;          // [N,D] the layer below
    Attention self;
    AddNorm self_norm;
    FeedforwardSaved ffn;
    AddNorm final_norm;
} EncoderLayer;

typedef struct Encoder {
    const Packed *rows;
    int layers;
    EncoderLayer layer[MAX_LAYERS];
} Encoder;

/* keep: every layer has buffers of its own, for backward or for looking at attention; otherwise
 * all share the first layer's. */
void encoder_layout(Encoder *encoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Dropout *dropout, bool keep, bool training);

/* Returns the encoded source [N,D].   X [N,D] embedded source */
const real *encoder_forward(Encoder *encoder, const real *X, const Weights *w,
                            const ModelConfig *config, Scratch *scratch,
                            const Dropout *dropout);

/* dX [N,D]: in, the gradient of the encoded source; out, that of the embedded source.   dw (+=) */
void encoder_backward(const Encoder *encoder, real *dX, Weights *dw, const Weights *w,
                      const ModelConfig *config, Scratch *scratch, const Dropout *dropout);

/* Places for dropout: each is a stream of random numbers of its own. */
enum { PLACE_EMBEDDING, PLACE_ENCODER = 1024, PLACE_DECODER = 2048, PLACES_A_LAYER = 8 };
enum { SITE_SELF, SITE_SELF_ADD, SITE_CROSS, SITE_CROSS_ADD, SITE_FFN, SITE_FFN_ADD };

#endif
