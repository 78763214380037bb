/* encoder.h -- the stack that reads the source sentence. */
#ifndef MODEL_ENCODER_H
#define MODEL_ENCODER_H

#include "model/addnorm.h"
#include "model/attention.h"
#include "model/feedforward.h"
#include "model/turns.h"

/* Buffers that one sublayer after another uses; R = the larger of N and M. */
typedef struct Scratch {
    real *F;     // [R,D] what a sublayer adds
    real *dF;    // [R,D] its gradient
    real *dY;    // [R,D] the gradient of what it reads, in pre-norm
    real *dO;    // [R,D]
    real *dQKV;  // [R,3D]
    real *dH;    // [R,F]
} Scratch;

void scratch_layout(Scratch *scratch, Arena *arena, const ModelConfig *config, int R,
                    bool training);

typedef struct EncoderLayer {
    const real *X;  // [N,D] what self-attention reads
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

/* What a pass is for decides what it needs. */
typedef enum {
    PASS_SCORE,  // its output only: all layers share the first one's buffers
    PASS_LOOK,   // every layer's attention, too, to be looked at
    PASS_TRAIN   // and everything that backward needs
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

/* Places for dropout: each is a stream of random numbers of its own. */
enum { PLACE_EMBEDDING, PLACE_ENCODER = 1024, PLACE_DECODER = 2048, PLACES_A_LAYER = 8 };
enum { SITE_SELF, SITE_SELF_ADD, SITE_CROSS, SITE_CROSS_ADD, SITE_FFN, SITE_FFN_ADD };

#endif
