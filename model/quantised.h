/* quantised.h -- prepares a network for inference: its matrices are quantised to int8, or
 * packed as floats (kernels/matrix.h), and the memory that they took in model->block is
 * released.
 *
 * The block keeps biases, norms, learned positions and embeddings that are no output layer. A prepared
 * network translates, scores and shows its attention. It cannot be trained, saved by its block,
 * or given other weights (transformer_use). */
#pragma once

#include "model/checkpoint.h"
#include "model/transformer.h"

/* Prepares a network that has its weights. false: not enough memory; the model is unchanged. */
bool transformer_prepare(Transformer *model, bool int8, Error *error);

/* Fills a new network with the weights of a file and prepares it, with int8 also if the file
 * has that: they go straight into the prepared matrices, which take no memory in the block.
 * false: the file does not fit, or not enough memory. */
bool transformer_read(Transformer *model, const CheckpointFile *file, bool int8, Error *error);
