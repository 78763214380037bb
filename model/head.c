/* head.c -- scaled dot-product attention of one head (Vaswani et al. 2017, §3.2.1, eq. 1).
 *
 *   forward    (2)  S = scale · Q Kᵀ                how well query i matches key j
 *              (3)  P = softmax_rows(S)             over the keys that i sees (causal mask)
 *              (4)  O = dropout(P) V                values mixed by the attention weights P
 *   backward   (4)  dV = dropout(P)ᵀ dO             dP = dropout(dO Vᵀ)
 *              (3)  dS = P ⊙ (dP - Σ_j P ⊙ dP)
 *              (2)  dQ = scale · dS K               dK = scale · dSᵀ Q
 *
 * Steps (1) and (5) are of all heads together: attention.c. The scale is 1/√dh: without it a dot
 * product of dh independent terms of variance 1 has deviation √dh, and the softmax saturates
 * where its gradient is near zero. */
#include "model/head.h"

#include "base/real.h"
#include "kernels/transpose.h"
#include "kernels/vecexp.h"

enum { VECTOR = 16 };

void head_transpose(real *T, Rows X, int m, int dh)
{
    int width = head_width(m);
    for (int j = 0; j < width; j += LANES) {
        int rows = at_most(m - j, LANES), k = 0;
        const real *x = X.at + (size_t)j * (size_t)X.stride;
        for (; k + LANES <= dh; k += LANES)
            transpose_square(T + k * width + j, (size_t)width, x + k, (size_t)X.stride, rows);
        for (; k < dh; k++)
            for (int l = 0; l < LANES; l++)
                T[k * width + j + l] =
                    l < rows ? x[(size_t)l * (size_t)X.stride + (size_t)k] : 0;
    }
}

/* C [m,n] (mode) = scale · A [m,k] · B [k,n] */
static void product(GemmMode mode, const AttentionHead *h, Rows C, Strided A, Rows B, int m,
                    int n, int k, real scale)
{
    (h->large ? gemm_strided : small_gemm)(mode, C.at, C.stride, A, B.at, B.stride, m, n, k,
                                           scale);
}

static Strided by_rows(Rows A)
{
    return (Strided){A.at, (size_t)A.stride, 1};
}

static Strided by_columns(Rows A)
{
    return (Strided){A.at, 1, (size_t)A.stride};
}

/* T (=) Xᵀ, of keys or values. The first block of a map sets it for all. */
static Rows transposed(Rows T, const AttentionHead *h, Rows X)
{
    if (h->mode == SET) head_transpose(T.at, X, h->m, h->dh);
    return T;
}

/* dropout(P): in the scratch Pd, or P itself without dropout. */
static Rows dropped(const AttentionHead *h)
{
    int width = head_width(h->m);
    if (!h->mask.keep) return (Rows){h->P, width};
    dropout_apply(h->Pd, h->P, &h->mask, (size_t)h->n * (size_t)width);
    return (Rows){h->Pd, width};
}

void head_scores(const AttentionHead *h)
{
    int width = head_width(h->m);
    // (2) S = scale · Q Kᵀ
    product(SET, h, (Rows){h->P, width}, by_rows(h->x.Q), transposed(h->Kt, h, h->x.K), h->n,
            width, h->dh, h->scale);
}

void head_scores_backward(const HeadRows *d, const AttentionHead *h)
{
    Rows dS = {h->dP, head_width(h->m)};
    // (2) dQ = scale · dS K
    product(SET, h, d->Q, by_rows(dS), h->x.K, h->n, h->dh, h->m, h->scale);
    // (2) dK = scale · dSᵀ Q
    product(h->mode, h, d->K, by_columns(dS), h->x.Q, h->m, h->dh, h->n, h->scale);
}

static const int lane[VECTOR] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Rows are short and loop tails slow, so the loops run over whole vectors. The lane numbers
 * come from a table: gcc would split the loop at `seen` if it saw an index. */
RowSum softmax_row(real *z, int seen)
{
    real first = z[0], largest = first, sum = 0;
    for (int j = 0; j < seen; j += VECTOR) {
        const real *at = z + j;
#pragma omp simd reduction(max : largest) simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) {
            real x = at[l];
            x = lane[l] < seen - j ? x : first;
            largest = x > largest ? x : largest;
        }
    }
    for (int j = 0; j < seen; j += VECTOR) {
#pragma omp simd simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) {
            real e = vec_exp(z[j + l] - largest);
            z[j + l] = lane[l] < seen - j ? e : 0;
        }
        for (int l = 0; l < at_most(seen - j, VECTOR); l++) sum += z[j + l];
    }
    real inverse = 1 / sum;
    for (int j = 0; j < seen; j += VECTOR)
#pragma omp simd simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) z[j + l] *= inverse;
    return (RowSum){largest, inverse};
}

/* As softmax_row, which returned `sum`. */
static void softmax_again(real *z, int seen, RowSum sum)
{
    for (int j = 0; j < seen; j += VECTOR)
#pragma omp simd simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) {
            real p = vec_exp(z[j + l] - sum.largest) * sum.inverse;
            z[j + l] = lane[l] < seen - j ? p : 0;
        }
}

void head_softmax(const AttentionHead *h)
{
    int width = head_width(h->m);
    // (3) P = softmax_rows(S)
    for (int i = 0; i < h->n; i++) {
        int seen = h->causal ? h->m - h->n + i + 1 : h->m, filled = head_width(seen);
        real *row = h->P + i * width;
        if (h->again) {
            softmax_again(row, seen, h->sums[i]);
        } else {
            RowSum sum = softmax_row(row, seen);
            if (h->sums) h->sums[i] = sum;
        }
        if (filled < width) memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
    }
}

void head_softmax_backward(const AttentionHead *h)
{
    int width = head_width(h->m);
    real *dP = h->dP;
    const real *P = h->P;
    dropout_apply(dP, dP, &h->mask, (size_t)h->n * (size_t)width);
    // (3) dS = P ⊙ (dropout(dP) - Σ_j P ⊙ dropout(dP))
    for (int i = 0; i < h->n; i++, dP += width, P += width) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < width; j++) sum += P[j] * dP[j];
#pragma omp simd
        for (int j = 0; j < width; j++) dP[j] = P[j] * (dP[j] - sum);
    }
}

void head_values(const AttentionHead *h)
{
    // (4) O = dropout(P) V
    product(SET, h, h->x.O, by_rows(dropped(h)), h->x.V, h->n, h->dh, h->m, 1);
}

void head_values_backward(const HeadRows *d, const AttentionHead *h)
{
    int width = head_width(h->m);
    // (4) dV = dropout(P)ᵀ dO
    product(h->mode, h, d->V, by_columns(dropped(h)), d->O, h->m, h->dh, h->n, 1);
    // (4) dP = dO Vᵀ, before dropout
    product(SET, h, (Rows){h->dP, width}, by_rows(d->O), transposed(h->Vt, h, h->x.V), h->n,
            width, h->dh, 1);
}
