/* exposure.h -- --exposure: where greedy search ŷ parts from given translations y. At each position
 * t, over the sentences of at least t tokens, </s> included:
 *
 *   forced   mean of ln p(y_t | y_<t, x); how often no token is more probable than y_t
 *   free     mean of ln p(y_t | ŷ_<t, x) of the sentences in which ŷ is still running; how often
 *            ŷ_t = y_t, the most probable token after ŷ_<t
 *   parted   the share of all sentences in which ŷ_s ≠ y_s for an s ≤ t
 *   after    the same over all positions after the first ŷ_s ≠ y_s, while ŷ is running
 *
 * Ranzato et al. 2016 (arXiv 1511.06732) call the difference exposure bias. */
#pragma once

#include "inference/snapshot.h"

enum { SENTENCES, RUNNING, FORCED, FORCED_RIGHT, FREE, FREE_RIGHT, PARTED, EXPOSURE_NUMBERS };

typedef struct Exposure {
    const char *path;
    double (*position)[EXPOSURE_NUMBERS];  // [limit] sums
    double after[EXPOSURE_NUMBERS];
    int positions, limit;  // tokens of the longest translation so far, and of any
    int *greedy;           // [limit] scratch
    real *logits;          // [V] scratch
} Exposure;

/* path: of the picture, a PNG. Start with {0}; call exposure_free even if it fails. */
bool exposure_create(Exposure *exposure, const char *path, const ModelConfig *config,
                     Error *error);
void exposure_free(Exposure *exposure);

bool exposure_add(Exposure *exposure, const Snapshot *forced, Error *error);

/* Prints the table and draws it. */
bool exposure_print(const Exposure *exposure, Error *error);
