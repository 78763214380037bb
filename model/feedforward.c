/* feedforward.c -- two matrices with a ReLU between them, the same for every row.
 *
 *   forward    (1)  A = X W₁ᵀ + b₁
 *              (2)  H = dropout(max(0, A))
 *              (3)  Y = H W₂ᵀ (+ b₂, added with the residual)
 *   backward   (3)  dH = dY W₂          dW₂ += dYᵀ H
 *              (2)  dA = dH ⊙ [H > 0] / (1 - p)
 *              (1)  dX = dA W₁          dW₁ += dAᵀ X         db₁ += Σ_rows dA
 *
 * H > 0 says both that A was positive and that dropout kept it, so A is not saved. */
#include "model/feedforward.h"

#include "model/linear.h"

void feedforward_layout(FeedforwardSaved *saved, Arena *arena, int N, int F,
                        const Dropout *dropout)
{
    size_t count = (size_t)N * (size_t)F;
    double rate = dropout ? dropout->activation : 0;
    saved->H = ARENA_TAKE(arena, real, count);
    saved->keep = rate > 0 ? ARENA_TAKE(arena, uint8_t, count) : NULL;
    saved->scale = dropout_scale(rate);
}

static void activate(real *H, const real *b, const uint8_t *keep, real scale, int N, int F)
{
    for (int n = 0; n < N; n++) {
        real *h = H + (size_t)n * (size_t)F;
        const uint8_t *kept = keep ? keep + (size_t)n * (size_t)F : NULL;
        if (kept) {
#pragma omp simd
            for (int k = 0; k < F; k++) {
                real a = h[k] + b[k];
                h[k] = (a < 0 ? 0 : a) * (scale * (real)kept[k]);
            }
        } else {
#pragma omp simd
            for (int k = 0; k < F; k++) {
                real a = h[k] + b[k];
                h[k] = a < 0 ? 0 : a;  // NaN stays NaN
            }
        }
    }
}

static void activate_backward(real *dH, real *db, const real *H, real scale, int N, int F)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)F;
        real *dh = dH + at;
        const real *h = H + at;
#pragma omp simd
        for (int k = 0; k < F; k++) {
            dh[k] = h[k] > 0 ? dh[k] * scale : 0;
            db[k] += dh[k];
        }
    }
}

void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows, int D, int F,
                         const Dropout *dropout, uint32_t place)
{
    int N = rows->rows;
    if (saved->keep) dropout_rows(saved->keep, rows, F, dropout, dropout->activation, place);

    linear_forward(saved->H, X, w->fc1.W, NULL, N, F, D);                  // (1)
    activate(saved->H, w->fc1.b, saved->keep, saved->scale, N, F);         // (2)
    linear_forward(Y, saved->H, w->fc2.W, NULL, N, D, F);                  // (3)
}

void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved, const real *X,
                          const FeedforwardWeights *w, int N, int D, int F)
{
    linear_backward(SET, dH, dw->fc2.W, NULL, dY, saved->H, w->fc2.W, N, D, F);   // (3)
    activate_backward(dH, dw->fc1.b, saved->H, saved->scale, N, F);               // (2)
    linear_backward(mode, dX, dw->fc1.W, NULL, dH, X, w->fc1.W, N, F, D);         // (1)
}
