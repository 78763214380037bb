/* synthetic.h -- a random corpus with real sentence lengths and token frequencies.
 *
 * The cost of a network depends on these, not on the meaning. The pairs have the lengths of
 * Multi30k English-German in 10,000 joint BPE tokens (Elliott et al. 2016, arXiv 1605.00459;
 * 29,000 pairs, encoded by this project's tokenizer, </s> counted):
 *
 *   source   the histogram itself: 5 to 49 tokens, mean 15.0
 *   target   round(0.8 + 0.97 n + (0.65 + 0.13 n) z), z normal, at least 3: mean and deviation
 *            for every source length n between 8 and 30 are met to within 0.8 of a token
 *   tokens   the r-th most frequent of the others with probability ~ (r + 1.9)^-1.08
 *            (Mandelbrot 1953): cumulative frequencies are met to within 0.013 at every rank
 *
 * Drawn by base/rng: the same seed gives the same corpus on every machine. */
#pragma once

#include "base/rng.h"
#include "data/corpus.h"

/* `pairs` pairs of a vocabulary of `vocab` ids, <pad> included. length: tokens of each
 * sentence, </s> included; 0: drawn. corpus_free it. */
bool synthetic_corpus(Corpus *corpus, size_t pairs, int length, int vocab, uint64_t seed,
                      Error *error);
