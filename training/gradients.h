/* gradients.h -- the accumulators of an update's gradients, and their sum over threads and
 * ranks.
 *
 * The A accumulators are the leaves of a binary tree. At step 1, 2, 4, … node a adds node
 * a + step to itself, for every a that is a multiple of 2·step:
 *
 *     leaf     0   1   2   3   4   5   6            sum   ((0+1)+(2+3)) + ((4+5)+6)
 *     step 1   0 + 1   2 + 3   4 + 5   6
 *     step 2   0   +   2       4   +   6
 *     step 4   0       +       4
 *
 * Floating-point addition is not associative; the same tree gives the same bits on any number
 * of ranks.
 *
 * Each accumulator is a block in the layout of the parameters. Rank r of R holds a subtree: share
 * of them from r·share on, where share is the smallest power of two with R·share >= A. So all
 * have the same number if A is R times a power of two. For the sum, the block is divided into
 * parts of whole slices, one for each rank, its owner:
 *
 *   (a)  a rank sums its accumulators
 *   (b)  it sends the parts of this sum to their owners: block · (R-1)/R numbers
 *   (c)  an owner sums those of all ranks, and squares the result slice by slice for the norm
 *
 * Every rank gets the squares of all slices and adds them in the order of the slices. So the bits
 * of the sum and of its norm depend neither on the threads nor on the ranks.
 *
 * Before (a), tensors that are copies of others (`projections`) share their gradients in each
 * accumulator. The norm counts them once.
 *
 * An owner also holds its part of Adam's moments, and updates its part of the weights, which
 * then goes to all ranks: block · (R-1)/R numbers again. Together that is what a ring
 * all-reduce moves (Patarasuk and Yuan 2009: 2 · (R-1)/R, the least possible), with Adam's work
 * and memory divided by R, as in ZeRO-1 (Rajbhandari et al. 2020, arXiv 1910.02054). */
#pragma once

#include "base/workers.h"
#include "model/transformer.h"
#include "training/config.h"

/* ---- slices ----
 *
 * A loop over the numbers of a block is cut into slices, so that a slice of each block that it
 * touches (both sides of a sum, weights and moments) stays in a thread's cache. */

enum { SLICE = 16384 };  // numbers

typedef void SliceWork(void *context, size_t begin, size_t count);

/* Calls work on all threads, in any order, for every slice of numbers begin .. end-1. begin is
 * a multiple of SLICE, and so is every begin that work gets. */
void slices_run(Workers *workers, size_t begin, size_t end, SliceWork *work, void *context);

/* Numbers begin .. end-1 of a block; empty if begin >= end. */
typedef struct Range {
    size_t begin, end;
} Range;

Range range_common(Range a, Range b);
Range range_of(const Tensor *tensor);

/* ---- gradients ---- */

typedef struct Gradients {
    int accumulators, share;            // A
    int first, end;                     // the accumulators of this rank
    int used;                           // accumulators of the last sum
    const Params *params;               // of the model
    real *block[MAX_ACCUMULATORS];      // [end-first] the accumulators
    Weights *weights;                   // [end-first] their tensors
    size_t part[MAX_ACCUMULATORS + 1];  // [R+1] rank r owns numbers part[r] .. part[r+1]-1
    Range own;                          // this rank's part
    real *received;                     // [R][own]
    real *node[MAX_ACCUMULATORS];       // [R] the own part of each rank's sum
    size_t slices;
    double *squares;  // [slices]
} Gradients;

/* False if there are more ranks than accumulators. Call gradients_free even then. */
bool gradients_create(Gradients *gradients, const Transformer *model, int accumulators,
                      Error *error);
void gradients_free(Gradients *gradients);

/* Sets this rank's accumulators among 0 .. used-1 to zero. */
void gradients_clear(const Gradients *gradients, int used, Workers *workers);

/* Sums accumulators 0 .. used-1 (at least 1); *norm (=) the norm of the sum, without
 * frozen tensors and copies. Collective. */
bool gradients_sum(Gradients *gradients, double *norm, int used, Workers *workers,
                   Error *error);

/* Every rank gets the whole sum, after owners have changed their parts or not. Collective. */
bool gradients_allgather(Gradients *gradients, Error *error);

/* The sum from number `begin` on, which is in the own part, or after gradients_allgather
 * anywhere. */
real *gradients_from(const Gradients *gradients, size_t begin);

/* *tensor (=) the line in the table of parameters of the first tensor whose sum holds NaN or
 * infinity; params->count if there is none. Collective. */
bool gradients_not_finite(const Gradients *gradients, int *tensor, Error *error);
