/* decoding.h -- the speed of the translator, and its share of the peak (rate.h).
 *
 * The network has random weights, which cost the same as trained ones. The output length is
 * fixed: the bias of </s> is -100, so that no sentence ends early, and max_tokens is
 * OUTPUT_TOKENS, the mean length of a German sentence of Multi30k (synthetic.h), </s>
 * included. */
#pragma once

#include "benchmark/rate.h"
#include "data/corpus.h"
#include "model/config.h"

enum { OUTPUT_TOKENS = 15, DECODED_SENTENCES = 1000 };

typedef struct DecodingCase {
    const Corpus *corpus;  // its first DECODED_SENTENCES sources, or all
    ModelConfig model;     // vocab included
    int beam;              // 1: greedy
    bool int8;             // quantised weights
    int threads;
    double seconds;  // to measure for; at least one pass
} DecodingCase;

typedef struct DecodingResult {
    Rate rate;  // a piece of work is a pass over all sentences
    int sentences;
    double sentences_per_second;
    double tokens_per_second;  // of the output
    double memory;             // bytes, the most that was resident
    double single;  // seconds of one sentence alone, the median; 0: with several threads
} DecodingResult;

/* For child_run: a DecodingCase, a DecodingResult. */
bool decoding_work(const void *plan, void *result, Error *error);
