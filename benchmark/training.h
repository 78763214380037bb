/* training.h -- the speed of the trainer, and its share of the peak (rate.h). */
#pragma once

#include "benchmark/rate.h"
#include "data/corpus.h"
#include "model/config.h"
#include "training/config.h"

typedef struct TrainingCase {
    const Corpus *corpus;
    ModelConfig model;  // vocab included
    TrainingConfig training;
    int threads;
    double seconds;      // to measure for; at least LEAST_UPDATES updates
    bool openblas;       // which multiplies, or our own tile
    const char *python;  // that runs PyTorch (peer.h); NULL: without it
} TrainingCase;

enum { LEAST_UPDATES = 3 };

typedef struct PeerResult {
    int updates;
    double seconds, tokens, places;            // places: tokens and padding
    double tokens_per_second, padding, ratio;  // padding: share of the places
} PeerResult;

/* Over the measured updates. */
typedef struct TrainingResult {
    Rate rate;         // a piece of work is an update
    long long tokens;  // source + target tokens, </s> included
    double tokens_per_second;
    double memory;  // bytes, the most that was resident
    PeerResult peer;
} TrainingResult;

/* plan (=) the model and training of a preset of ./train (tiny, small, base) for this
 * corpus. */
bool training_case(TrainingCase *plan, const char *preset, const Corpus *corpus,
                   int batch_tokens, int threads, Error *error);

/* For child_run: a TrainingCase, a TrainingResult. */
bool training_work(const void *plan, void *result, Error *error);
