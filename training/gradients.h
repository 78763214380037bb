/* gradients.h -- the accumulators of an update's gradients, and their sum over threads and ranks.
 *
 * Of A accumulators, each a block in the layout of the parameters, a rank holds some. To sum them,
 * the block is cut into parts of whole slices, one a rank, its owner:
 *
 *   (a)  a rank sums its own accumulators as far as the tree (tree.h) lets it, outside its part
 *   (b)  what is left, its roots, goes to the owners: block · (R-1)/R numbers a root
 *   (c)  an owner finishes the tree of its part, and squares it slice by slice for the norm
 *
 * With one rank there is only (c), over the whole block. The squares of all slices come together
 * on every rank and are added in the order of the slices. So the bits of sum and norm depend
 * neither on threads nor on ranks.
 *
 * An accumulator that is the only one is shared by all threads: its micro-batches take turns
 * (model/turns.h). Where the output layer and the embeddings are one matrix, what looking up rows
 * adds to it is then a sum of its own, which (c) takes up.
 *
 * Owners hold their part of Adam's moments, too, and update their part of the weights, which then
 * goes to all: block · (R-1)/R numbers again. Together that is what a ring all-reduce would move
 * (Patarasuk and Yuan 2009: 2 · (R-1)/R, the least possible), with Adam's work and memory divided
 * by R, as in ZeRO-1 (Rajbhandari et al. 2020, arXiv 1910.02054). */
#ifndef TRAINING_GRADIENTS_H
#define TRAINING_GRADIENTS_H

#include "model/transformer.h"
#include "training/slices.h"
#include "training/tree.h"

typedef struct Gradients {
    Tree tree;
    int first, end;        // the accumulators of this rank
    bool shared;           // there is one, and micro-batches take turns at it
    size_t size;           // numbers of a block
    real **block;          // [end-first] the accumulators
    Weights *weights;      // [end-first] their tensors
    real *lookups;         // [V,D] what looking up rows adds to the matrix, or NULL
    size_t matrix, count;  // where in the block the matrix is, and its numbers
    size_t *part;          // [R+1] rank r owns numbers part[r] .. part[r+1]-1
    size_t own, own_end;   // this rank's: part[rank], part[rank+1]
    int rounds;            // roots that a rank sends, at most
    real *received;        // [rounds][R][own_end-own]
    bool *sends;           // [R] which ranks send in this round
    int *place;            // [A] of the tree's roots
    real **node;           // [A] where the numbers of the own part of a root are
    TreePair *pairs;       // [A] the sums of (a) or (c)
    int pair_count;
    size_t slices;
    double *squares;  // [slices]
} Gradients;

/* False if there are more ranks than accumulators. gradients_free what was created in part, too. */
bool gradients_create(Gradients *gradients, const Transformer *model, int accumulators,
                      Error *error);
void gradients_free(Gradients *gradients);

/* Accumulators 0 .. used-1 start anew, those of this rank. */
void gradients_clear(const Gradients *gradients, int used, Workers *workers);

/* Whether accumulator a is of this rank; then where to add to. */
bool gradients_has(const Gradients *gradients, int a);
Weights *gradients_weights(const Gradients *gradients, int a);

/* Sums accumulators 0 .. used-1 (at least 1); *norm (=) the sum's. Collective. */
bool gradients_sum(Gradients *gradients, double *norm, int used, Workers *workers,
                   Error *error);

/* *norm (=) that of one tensor's sum. Slice by slice as the norm of all, so its bits depend on
 * neither threads nor ranks, either. Collective. */
bool gradients_tensor_norm(Gradients *gradients, double *norm, const Tensor *tensor,
                           Error *error);

/* The sum from number `begin` of the own part on. */
const real *gradients_from(const Gradients *gradients, size_t begin);

/* *tensor (=) the first in whose gradient's sum NaN or infinity is, by its line in the table of
 * parameters; params->count if there is none. Collective. */
bool gradients_not_finite(const Gradients *gradients, int *tensor, const Params *params,
                          Error *error);

/* Bytes of what this rank holds. */
size_t gradients_memory(const Gradients *gradients);

#endif
