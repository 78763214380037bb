/* pipeline.c -- an ordered pipeline: one lock and a counter a pass; see pipeline.h. */
#include "model/pipeline.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void pipeline_init(Pipeline *pipeline)
{
    *pipeline = (Pipeline){0};
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->moved, NULL);
}

void pipeline_free(Pipeline *pipeline)
{
    pthread_cond_destroy(&pipeline->moved);
    pthread_mutex_destroy(&pipeline->lock);
    free(pipeline->left);
}

bool pipeline_begin(Pipeline *pipeline, int passes, Error *error)
{
    if (!GROW(pipeline->left, pipeline->capacity, (size_t)passes))
        return error_memory(error, "for %d micro-batches", passes);
    memset(pipeline->left, 0, (size_t)passes * sizeof *pipeline->left);
    return true;
}

/* Says how many stages a pass has left, and wakes the others. With the lock. */
static void leave(const PipelinePass *place, int stages)
{
    place->pipeline->left[place->number] = stages;
    pthread_cond_broadcast(&place->pipeline->moved);
}

void pipeline_next(PipelinePass *place, int stages)
{
    if (!place) return;
    Pipeline *pipeline = place->pipeline;
    pthread_mutex_lock(&pipeline->lock);
    leave(place, place->entered);
    place->entered += stages;
    while (place->number > 0 && pipeline->left[place->number - 1] < place->entered)
        pthread_cond_wait(&pipeline->moved, &pipeline->lock);
    pthread_mutex_unlock(&pipeline->lock);
}

void pipeline_end(PipelinePass *place)
{
    if (!place) return;
    pthread_mutex_lock(&place->pipeline->lock);
    leave(place, INT_MAX);
    pthread_mutex_unlock(&place->pipeline->lock);
}
