/* scorefunction.h -- how a query and a key are compared, before the softmax.
 *
 *   S_ij = scale · compare(q_i, k_j)
 *
 * The table has the functions of --attention-score. The network computes q·k as matrix products
 * (attention.c); every other comparison runs through the plain loops of scores_forward and
 * scores_backward. They need no network. */
#pragma once

#include "base/real.h"
#include "kernels/gemm.h"

typedef enum {
    SCORE_SCALED_DOT,
    SCORE_DOT,
    SCORE_DOT_OVER_D,
    SCORE_COSINE,
    SCORE_LAPLACE
} Score;

/* Rows of vectors, `stride` reals apart. */
typedef struct Rows {
    real *at;
    int stride;
} Rows;

typedef struct ScoreFunction {
    const char *formula;     // of a score: "q·k/√d_k"
    const char *comparison;  // without the scale: "q·k"
    const char *meaning;     // of the comparison, in words
    const char *term;        // of one number of q and one of k, for printf: "(%s)(%s)"
    const char *whole;       // all terms, and the lengths of q and k: "(%s) / (%.3f × %.3f)"
    real factor;             // the scale is factor / dh^power; a learned scale begins with it
    double power;
    bool learned;  // one scale for each head and use of attention
    bool product;  // the comparison is q·k, and the scale is not learned

    /* q, k [dh] */
    real (*compare)(const real *q, const real *k, int dh);
    /* dq, dk [dh] (+=)   dc: the gradient of what compare returns   q, k as in compare */
    void (*compare_backward)(real *dq, real *dk, real dc, const real *q, const real *k, int dh);
} ScoreFunction;

/* Indexed by Score, as the names. */
extern const ScoreFunction score_functions[];
extern const char *const score_names[];  // ends in NULL

/* The scale of the comparison of vectors of dh numbers, if it is not learned. */
real score_scale(const ScoreFunction *score, int dh);

/* S [n,m] (=)   Q [n,dh]   K [m,dh] */
void scores_forward(Rows S, const ScoreFunction *score, Rows Q, Rows K, real scale, int n,
                    int m, int dh);

/* dQ [n,dh] (=)   dK [m,dh] (mode)   *dscale (+=), or NULL   dS [n,m]   the others as in forward */
void scores_backward(GemmMode mode, Rows dQ, Rows dK, real *dscale, Rows dS,
                     const ScoreFunction *score, Rows Q, Rows K, real scale, int n, int m,
                     int dh);

static inline real dot_product(const real *x, const real *y, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}
