/* stacks.h -- the encoder, which reads the source sentence, and the decoder, which writes the
 * target sentence: stacks of layers, alike but for the decoder's attention to the encoded
 * source. */
#pragma once

#include "model/addnorm.h"
#include "model/attention.h"
#include "model/feedforward.h"

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

typedef struct StackLayer {
    Attention self;
    AddNorm self_norm;
    Attention cross;  // decoder only, as its norm
    AddNorm cross_norm;
    FeedforwardSaved ffn;
    AddNorm final_norm;
} StackLayer;

typedef struct Stack {
    const ModelConfig *config;
    const Packed *rows;    // encoder: source [N]; decoder: target [M]
    const Packed *source;  // decoder: source [N]; encoder: NULL
    int layers;
    LayerNormSaved last;  // pre-norm only, as the next
    real *output;         // [N,D] normalised
    StackLayer layer[MAX_LAYERS];
} Stack;

/* What is kept of a pass through the network. */
typedef enum {
    KEEP_OUTPUT,        // the output only: all layers share the buffers of the first
    KEEP_ATTENTION,     // also the attention of every layer
    KEEP_FOR_BACKWARD,  // also all that backward needs
    KEEP_GRADIENTS      // also the gradients of every head, to show them (attention.h)
} Keep;

/* source: NULL for an encoder   dropout: NULL when not training */
void stack_layout(Stack *stack, Arena *arena, const ModelConfig *config, const Packed *rows,
                  const Packed *source, const Dropout *dropout, Keep keep);

/* Returns the output of the stack, as X: the encoded source, or the decoder's output.
 * X [N,D] embedded source, or [M,D] embedded target   encoded [N,D], decoder only */
const real *stack_forward(Stack *stack, const real *X, const real *encoded, const Weights *w,
                          Scratch *scratch);

/* dX, as X: in, the gradient of the output; out, that of X   dencoded [N,D] (=), decoder only
 * dw (+=) */
void stack_backward(const Stack *stack, real *dX, real *dencoded, Weights *dw, const Weights *w,
                    Scratch *scratch);

/* The places of dropout: each has its own stream of random numbers. */
enum { PLACE_EMBEDDING, PLACE_ENCODER = 1024, PLACE_DECODER = 2048, PLACES_A_LAYER = 8 };
enum { SITE_SELF, SITE_SELF_ADD, SITE_CROSS, SITE_CROSS_ADD, SITE_FFN, SITE_FFN_ADD };
