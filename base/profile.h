/* profile.h -- how long things take: a clock, and a profile of each thread's time by kind of
 * work.
 *
 * Each thread has one profile, which always counts for one part of the work. A function that is
 * such a part switches the profile on entry and back on return:
 *
 *     ProfilePart before = profile_enter(PROFILE_LOSS);
 *     …
 *     profile_leave(before);
 *
 * Time counts for the innermost part. PROFILE_ENCODER is the exception: it keeps the time of
 * all that it calls, so that decoding can tell the encoder's layers from the decoder's. A
 * switch takes about 25 ns: use it around work on a micro-batch, not on a row. */
#pragma once

#include <time.h>

typedef enum {
    PROFILE_OTHER,  // everything else
    PROFILE_EMBEDDING,
    PROFILE_LINEAR,     // products of activations and weights, biases, activation functions
    PROFILE_ATTENTION,  // attention without its linear layers
    PROFILE_LOSS,       // the output layer, softmax, loss and their gradients
    PROFILE_NORM,       // residual sums, layer norms, and the random numbers of dropout
    PROFILE_OPTIMIZER,  // zeroing and summing gradients, norm, Adam
    PROFILE_WAITING,    // for another thread
    PROFILE_ENCODER,    // when translating: the encoder, and the keys and values of the source
    PROFILE_SEARCH,     // when translating: choosing tokens and hypotheses
    PROFILE_PARTS
} ProfilePart;

/* Counts the calling thread's time for `part` from now on; returns the part before. */
ProfilePart profile_enter(ProfilePart part);
void profile_leave(ProfilePart before);

/* seconds [PROFILE_PARTS] (+=) the calling thread's time since its last profile_read. */
void profile_read(double seconds[PROFILE_PARTS]);

/* Seconds since some fixed moment in the past. */
static inline double clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
