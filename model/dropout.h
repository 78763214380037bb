/* dropout.h -- which numbers a training pass leaves out.
 *
 *   forward    y = keep ? x / (1 - p) : 0          backward   dx = keep ? dy / (1 - p) : 0
 *
 * Srivastava et al. 2014, in its inverted form: nothing to do when translating. A decision is a
 * function of (seed, update, sentence of the update, place in the network, element), so it does
 * not depend on how an update is cut into micro-batches, nor on the thread. */
#ifndef MODEL_DROPOUT_H
#define MODEL_DROPOUT_H

#include "base/packed.h"
#include "base/real.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Dropout {
    double residual;    // rates p: on embeddings and on what a sublayer adds,
    double activation;  // inside the feed-forward network,
    double attention;   // on attention probabilities; 0 is off
    uint64_t seed;
    uint32_t update;
    const int *sentence;  // [S] the micro-batch's, as numbered in the update; NULL: 0, 1, …
    int copy;             // R-Drop (rdrop.h): sentence copy + i is sentence i once more,
    double r_drop;        // with decisions of its own; and the objective's A; 0, 0: none
} Dropout;

/* keep [count] (=) 1 or 0 for one sentence's numbers at one place. Rates are rounded to 1/65536. */
void dropout_sentence(uint8_t *keep, size_t count, const Dropout *dropout, double rate,
                      uint32_t place, int sentence);

/* keep [N,width] (=) for the packed sentences. */
void dropout_rows(uint8_t *keep, const Packed *rows, int width, const Dropout *dropout,
                  double rate, uint32_t place);

/* 1 / (1 - p) of the rate as it was rounded. */
real dropout_scale(double rate);

#endif
