/* transformer.h -- the whole network, forward and backward over a micro-batch of sentence
 * pairs. */
#pragma once

#include "model/loss.h"
#include "model/stacks.h"

typedef struct Transformer {
    ModelConfig config;
    Params params;      // the table
    real *block;        // the numbers
    Weights weights;    // pointers into the block, and, as positions, to the sinusoids
    real *sinusoids;    // [max_length,D], or NULL: positions are learned, or there are none
    Prepared prepared;  // its matrices for inference (quantised.h), if any
} Transformer;

/* Weights are zero: params_initialise or a checkpoint fills model->block. What is not written
 * to takes no memory: a model whose matrices are int8 in its file never has them as floats. */
bool transformer_create(Transformer *model, const ModelConfig *config, Error *error);
void transformer_free(Transformer *model);

/* Replaces model->block by another block of the same layout. The caller owns both. */
void transformer_use(Transformer *model, real *block);

/* Everything a pass computes and backward needs. A large struct: do not copy it. */
typedef struct Activations {
    const Packed *source, *target;  // target: the sentences to produce, each ending in </s>
    const Dropout *dropout;         // NULL: none
    real *X_source, *X_target;      // [N,D] [M,D] embedded
    DropoutMask mask_source, mask_target;
    Stack encoder, decoder;
    const real *encoded;  // [N,D]
    const real *output;   // [M,D]
    Scratch scratch;
    LossBuffers loss;
    SoftTargets soft;  // of the target's rows; transformer_layout removes them
    real *dX;          // [M,D]
    real *dencoded;    // [N,D]
} Activations;

/* Takes the buffers for these sentences; measures if the arena is a measuring one. */
void transformer_layout(Activations *a, Arena *arena, const Transformer *model,
                        const Packed *source, const Packed *target, const Dropout *dropout,
                        Keep keep);

/* Embeds, encodes, decodes with teacher forcing: a->output (=). */
void transformer_forward(Activations *a, const Transformer *model);

/* *loss (+=) the loss of a->output. Call transformer_forward first. */
void transformer_loss(Loss *loss, Activations *a, const Transformer *model, double smoothing);

/* Adds the loss, and adds the gradients of scale · objective to dw (+=). Call
 * transformer_forward first. */
void transformer_backward(Loss *loss, Activations *a, const Transformer *model, Weights *dw,
                          double smoothing, real scale);

/* Floating-point operations of the matrix products that the mathematics needs for a pair of
 * sentences of these lengths, forward and backward (twice forward): a multiplication and an
 * addition are two. */
double transformer_flops(const ModelConfig *config, int source, int target);
