/* guide.h -- guided alignment: a head of attention learns which source tokens a target token
 * translates (Garg et al. 2019, arXiv 1909.02074). Nobody gives the links: rounds of expectation
 * maximisation estimate them from the corpus, as README.md explains.
 *
 *   x_ij = t(s_j, t_i) · exp(-2 |(i+½)/m - (j+½)/n|)     target token i < m, source token j < n
 *   P_ij = x_ij / (0.005 + Σ_j x_ij)                     without </s>
 *   c(s,t) = Σ P_ij over the corpus, where s_j = s and t_i = t
 *   t(s,t) = c(s,t) / √(c(s,·) c(·,t))                   in the first round 1 */
#pragma once

#include "model/attention.h"

typedef struct Guide {
    int sources, targets;  // sizes of the vocabularies
    int longest;           // of the sources, in tokens
    size_t cells;          // of c; pairs of large vocabularies share them
    real *count;  // [cells + sources + targets] c(s,t), c(s,·), c(·,t); NULL: the first round
    real *next;   // the same of this round; NULL after the last one
    real *P;      // [longest] scratch
} Guide;

/* cells: for pairs of tokens; GUIDE_CELLS or less, a prime */
enum { GUIDE_CELLS = 16777213 };
bool guide_create(Guide *guide, int sources, int targets, int longest, size_t cells,
                  Error *error);
void guide_free(Guide *guide);

/* A round counts every pair, then ends. The last round leaves no memory for another one. */
void guide_count(Guide *guide, const PairIds *pair);
bool guide_end_round(Guide *guide, bool last, Error *error);

/* link [m] (=) the source token that each target token but </s> is linked to: the largest P_ij, if it is
 * above `least`; else -1 */
void guide_link(int *link, Guide *guide, const PairIds *pair, real least);

/* a->guide (=) w · P of each sentence whose maps are kept. */
void guide_fill(const Attention *a, const Guide *guide, real w);
