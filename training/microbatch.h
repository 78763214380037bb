/* microbatch.h -- an update's sentences, cut into micro-batches.
 *
 * A thread runs the network over one micro-batch at a time; it is small, so that its
 * activations stay in the processor's cache. Each sentence, the longest first, goes to the
 * micro-batch with the fewest tokens so far: the LPT rule (longest processing time first) of
 * Graham 1969, "Bounds on Multiprocessing Timing Anomalies". Micro-batches then differ by at
 * most one short sentence, so threads that run the same number of them finish together. The
 * plan depends on the lengths alone, not on the machine. */
#pragma once

#include "model/transformer.h"
#include "training/guide.h"

/* What a model learns from besides the translations. */
typedef struct Supervision {
    const Guide *guide;   // the links of the guided head; NULL: none
    SoftTarget *soft;     // [target tokens of the corpus,each] of teachers; NULL: none
    int each;             // (model/loss.h)
    const size_t *start;  // [pairs] the first target token of a pair
} Supervision;

/* The sentences of one micro-batch. */
typedef struct MicroBatchPart {
    int *sentence;      // [count] their numbers in the update, the longest first
    int count, tokens;  // source plus target tokens
} MicroBatchPart;

typedef struct PlannedSentence {
    int number, tokens, part;
} PlannedSentence;

/* Starts as zeros; every microbatch_plan reuses its memory. */
typedef struct MicroBatchPlan {
    int count;                 // micro-batches
    MicroBatchPart *part;      // [count]
    int *sentence;             // [S] of part 0, of part 1, …
    PlannedSentence *planned;  // [S] scratch
    size_t part_size, sentence_size, planned_size;
} MicroBatchPlan;

/* plan (=) micro-batches of about `tokens` source plus target tokens, each of at least one
 * sentence. If there are more than `multiple`, their number is made a multiple of it. */
bool microbatch_plan(MicroBatchPlan *plan, const PairIds *pair, int pairs, int tokens,
                     int multiple, Error *error);
void microbatch_plan_free(MicroBatchPlan *plan);

/* One thread's buffers for the micro-batch that it works on. They grow to the largest one. */
typedef struct MicroBatch {
    const PairIds *pair;         // of the update
    const MicroBatchPart *part;  // the pairs that are in it
    Packed source, target;
    int *id[2], *start[2];  // of source and target
    size_t id_size[2], start_size[2];
    bool training;
    Dropout dropout;  // if training
    Arena arena;
    Activations activations;
    Attention *guided;  // head 0 of the last decoder layer, if there is a guide
    SoftTarget *soft;   // [target rows,each] if there are teachers
} MicroBatch;

/* Packs the sentences of `part`; with dropout->r_drop each of them twice, all of the first copy
 * before the second. Copies *dropout, with the sentences of `part` in it; pass NULL for a
 * forward pass without dropout. */
bool microbatch_pack(MicroBatch *batch, const PairIds *pair, const MicroBatchPart *part,
                     const Dropout *dropout, Error *error);

/* Lays out batch->activations for the packed sentences, and for `more` than their translations, if
 * not NULL. */
bool microbatch_layout(MicroBatch *batch, const Transformer *model, const Supervision *more,
                       Error *error);

/* Gives the activations the links, times `guide`, and what teachers say, with the weight
 * `teacher`: of a target that is changed, the target itself. Call it after the layout. */
void microbatch_supervise(MicroBatch *batch, const Supervision *more, real guide,
                          double teacher);

void microbatch_free(MicroBatch *batch);
