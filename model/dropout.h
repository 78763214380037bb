/* dropout.h -- inverted dropout: training sets random numbers to zero and scales up the others.
 *
 *   forward    y = keep ? x / (1 - p) : 0          backward   dx = keep ? dy / (1 - p) : 0
 *
 * Srivastava et al. 2014, inverted: the factor 1 / (1 - p) is applied in training, so inference
 * does nothing. Whether a number is kept is a function of (seed, update, sentence of the
 * update, place in the network, element). It depends neither on how an update is cut into
 * micro-batches nor on the thread. */
#pragma once

#include "base/arena.h"
#include "base/packed.h"
#include "base/real.h"

typedef struct Dropout {
    double residual;  // rate p on embeddings and on the output of each sublayer; 0: no dropout
    double activation;  // rate inside the feed-forward network
    double attention;   // rate on attention weights
    uint64_t seed;
    uint32_t update;
    const int *sentence;  // [S] index within the update of each sentence; NULL: 0, 1, …
    int copy;       // R-Drop (loss.c): sentence copy + i repeats sentence i with its own mask
    double r_drop;  // weight A of the divergence; copy and r_drop are 0 without R-Drop
} Dropout;

/* The decisions for one matrix of activations. */
typedef struct DropoutMask {
    uint8_t *keep;  // 1 or 0 for each number; NULL: no dropout
    double rate;    // p, rounded to 1/65536
    real scale;     // 1 / (1 - p)
    const Dropout *dropout;
    uint32_t place;  // in the network
} DropoutMask;

/* Takes memory for `count` decisions, or none if the rate is 0. */
DropoutMask dropout_layout(Arena *arena, size_t count, const Dropout *dropout, double rate,
                           uint32_t place);

/* keep [count] (=) 1 or 0 for the numbers from `first` on of one sentence. */
void dropout_sentence(uint8_t *keep, size_t first, size_t count, const DropoutMask *mask,
                      int sentence);

/* mask->keep [N,width] (=) for the packed sentences; does nothing without dropout. */
void dropout_rows(const DropoutMask *mask, const Packed *rows, int width);

/* Y [count] (=) dropout(X), which may be Y; does nothing without dropout. Gradients likewise. */
void dropout_apply(real *Y, const real *X, const DropoutMask *mask, size_t count);
