/* pipeline.h -- a lock that orders threads which add their gradients to one block.
 *
 * Backward goes through the network in stages: the chunks of the output layer, the sublayers of
 * the decoder, those of the encoder, the embeddings. Passes are numbered 0, 1, 2, …; a pass may
 * enter a stage when the pass before it has left it. So every gradient is the sum of the same
 * terms in the same order as on one thread, while the threads work on different stages: a
 * pipeline.
 *
 * A tensor must belong to one stage. Where the output layer and the embeddings are one matrix,
 * the embeddings need a block of their own (training/gradients.h). */
#pragma once

#include <pthread.h>

#include "base/error.h"

/* The order of the passes over one block. */
typedef struct Pipeline {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int *left;        // [passes] how many stages each has left
    size_t capacity;  // of `left`
} Pipeline;

/* The place of one pass in the order. Pass NULL for it when no ordering is needed. */
typedef struct PipelinePass {
    Pipeline *pipeline;
    int number;   // of the pass
    int entered;  // stages so far; starts at 0
} PipelinePass;

void pipeline_init(Pipeline *pipeline);
void pipeline_free(Pipeline *pipeline);

/* Starts a new order of `passes` passes. No pass may be running. */
bool pipeline_begin(Pipeline *pipeline, int passes, Error *error);

/* Leaves the current stages and enters the next ones; waits until the pass before has left
 * them. */
void pipeline_next(PipelinePass *place, int stages);

/* Leaves all stages. Call it at the end of every pass, also of one that failed. */
void pipeline_end(PipelinePass *place);
