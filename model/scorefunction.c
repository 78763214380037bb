/* scorefunction.c -- the score functions, each forward and backward.
 *
 *   scaled-dot   q·k / √dh             Vaswani et al. 2017, §3.2.1
 *   dot          q·k                   Luong et al. 2015, §3.1
 *   dot-over-d   q·k / dh              a common misquotation of the first
 *   cosine       t · cos(q,k)          Henry et al. 2020 (arXiv 2010.04245); t is learned
 *   laplace      -‖q-k‖₁               Kim et al. 2019 (arXiv 1901.05761)
 *
 * The t of cosine is one number for each head and use of attention, the inverse of a
 * temperature. It begins with 10, as in Swin Transformer V2 (Liu et al. 2022, arXiv
 * 2111.09883). Henry et al. begin with log₂(L² - L), so that a row of L keys can become sharp;
 * that is 10 for L = 32. */
#include "model/scorefunction.h"

real score_scale(const ScoreFunction *score, int dh)
{
    double divisor =
        score->power == 0.5 ? sqrt(dh) : pow(dh, score->power);  // the usual one, fast
    return score->factor / (real)divisor;
}

/* ---- dot product
 *
 *   forward    c = q·k
 *   backward   dq += dc k      dk += dc q */

static void product_backward(real *dq, real *dk, real dc, const real *q, const real *k, int dh)
{
#pragma omp simd
    for (int d = 0; d < dh; d++) dq[d] += dc * k[d], dk[d] += dc * q[d];
}

/* ---- cosine
 *
 *   forward    c = q·k / (|q| |k|),   |x| = √(x·x + 1e-5)       a vector of zeros is safe
 *   backward   dq += dc (k/|k| - c q/|q|) / |q|      dk += dc (q/|q| - c k/|k|) / |k| */

static real length(const real *x, int dh)
{
    return (real)sqrt(dot_product(x, x, dh) + (real)1e-5);
}

static real cosine(const real *q, const real *k, int dh)
{
    return dot_product(q, k, dh) / (length(q, dh) * length(k, dh));
}

static void cosine_backward(real *dq, real *dk, real dc, const real *q, const real *k, int dh)
{
    real c = cosine(q, k, dh), by_q = 1 / length(q, dh), by_k = 1 / length(k, dh);
#pragma omp simd
    for (int d = 0; d < dh; d++) {
        dq[d] += dc * by_q * (k[d] * by_k - c * q[d] * by_q);
        dk[d] += dc * by_k * (q[d] * by_q - c * k[d] * by_k);
    }
}

/* ---- Laplace: minus the sum of the absolute differences
 *
 *   forward    c = -Σ |q_d - k_d|
 *   backward   dq -= dc sign(q - k)      dk += dc sign(q - k),   sign(0) = 0 */

static real laplace(const real *q, const real *k, int dh)
{
    real sum = 0;
#pragma omp simd reduction(- : sum)
    for (int d = 0; d < dh; d++) sum -= (real)fabs(q[d] - k[d]);
    return sum;
}

static void laplace_backward(real *dq, real *dk, real dc, const real *q, const real *k, int dh)
{
#pragma omp simd
    for (int d = 0; d < dh; d++) {
        real change = dc * (real)((q[d] > k[d]) - (q[d] < k[d]));
        dq[d] -= change, dk[d] += change;
    }
}

const char *const score_names[] = {"scaled-dot", "dot",     "dot-over-d",
                                   "cosine",     "laplace", NULL};

static const char PRODUCT[] =
    "This is their dot product: they are multiplied number by number, and the products are "
    "added. It is large if both are long and point in the same direction: it is the product of "
    "their lengths and the cosine of the angle between them.";
static const char COSINE[] =
    "This is the cosine of the angle between them: they are multiplied number by number, and "
    "the sum of the products is divided by the lengths of both. It is 1 if both point in the "
    "same direction, and -1 if they point in opposite ones.";
static const char DISTANCE[] =
    "This is their distance with a minus: the differences, number by number, are added without "
    "their signs. It is 0 if both are equal, and lower the further apart they are.";

// clang-format off
const ScoreFunction score_functions[] = {
    [SCORE_SCALED_DOT] = {"q·k/√d_k",   "q·k",      PRODUCT,  "(%s)(%s)",  "%s",                   1,  .5, false, true,  dot_product, product_backward},
    [SCORE_DOT]        = {"q·k",        "q·k",      PRODUCT,  "(%s)(%s)",  "%s",                   1,  0,  false, true,  dot_product, product_backward},
    [SCORE_DOT_OVER_D] = {"q·k/d_k",    "q·k",      PRODUCT,  "(%s)(%s)",  "%s",                   1,  1,  false, true,  dot_product, product_backward},
    [SCORE_COSINE]     = {"t·cos(q,k)", "cos(q,k)", COSINE,   "(%s)(%s)",  "(%s) / (%.3f × %.3f)", 10, 0,  true,  false, cosine,      cosine_backward},
    [SCORE_LAPLACE]    = {"-‖q-k‖₁",    "-‖q-k‖₁",  DISTANCE, "|%s - %s|", "-(%s)",                1,  0,  false, false, laplace,     laplace_backward},
};
// clang-format on

static real *row(Rows X, int i)
{
    return X.at + (size_t)i * (size_t)X.stride;
}

void scores_forward(Rows S, const ScoreFunction *score, Rows Q, Rows K, real scale, int n,
                    int m, int dh)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            row(S, i)[j] = scale * score->compare(row(Q, i), row(K, j), dh);
}

void scores_backward(GemmMode mode, Rows dQ, Rows dK, real *dscale, Rows dS,
                     const ScoreFunction *score, Rows Q, Rows K, real scale, int n, int m,
                     int dh)
{
    for (int i = 0; i < n; i++) memset(row(dQ, i), 0, (size_t)dh * sizeof(real));
    for (int j = 0; mode == SET && j < m; j++) memset(row(dK, j), 0, (size_t)dh * sizeof(real));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real ds = row(dS, i)[j], *q = row(Q, i), *k = row(K, j);
            if (dscale) *dscale += ds * score->compare(q, k, dh);
            score->compare_backward(row(dQ, i), row(dK, j), scale * ds, q, k, dh);
        }
}
