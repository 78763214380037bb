/* decoding.h -- how fast the real translator translates, against the yardstick of rate.h.
 *
 * The network has random weights: what it says is nonsense, but costs what sense would. Only the
 * length would be left to chance, so it is fixed: the bias of </s> is -100, which ends no sentence
 * early, and max_tokens is OUTPUT_TOKENS, where every sentence ends. That is the mean length of a
 * German sentence of Multi30k (synthetic.h), </s> included. */
#ifndef BENCHMARK_DECODING_H
#define BENCHMARK_DECODING_H

#include "base/profile.h"
#include "benchmark/rate.h"
#include "data/corpus.h"
#include "model/config.h"

enum { OUTPUT_TOKENS = 15, DECODED_SENTENCES = 1000 };

typedef struct DecodingCase {
    const Corpus *corpus;  // its first DECODED_SENTENCES sources, or all it has
    ModelConfig model;     // vocab included
    int beam;              // 1: greedy
    bool int8;             // weights rounded, or floats
    int threads;
    double seconds;  // to measure for; at least one pass over the sentences
} DecodingCase;

typedef struct DecodingResult {
    Rate rate;  // a piece of work is a pass over all sentences
    int sentences;
    double sentences_per_second;
    double tokens_per_second;    // written ones
    double memory;               // bytes, the most that was resident
    double part[PROFILE_PARTS];  // shares of the workers' time, sum 1
    double single;  // seconds of one sentence alone, the median; 0: with several threads
} DecodingResult;

/* For child_run: a DecodingCase, a DecodingResult. */
bool decoding_work(const void *plan, void *result, Error *error);

#endif
