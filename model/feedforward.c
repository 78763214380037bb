/* feedforward.c -- position-wise feed-forward network: two matrices with an activation f
 * between them, applied to every row alike.
 *
 *   forward    (1)  A = X W₁ᵀ + b₁
 *              (2)  H = dropout(f(A))        f: max(0, A), or GELU or Swish (activation.h)
 *              (3)  Y = H W₂ᵀ + b₂
 *   backward   (3)  dH = dY W₂          dW₂ += dYᵀ H          db₂ += Σ_rows dY
 *              (2)  dA = dropout(dH) ⊙ f'(A)
 *              (1)  dX = dA W₁          dW₁ += dAᵀ X         db₁ += Σ_rows dA
 *
 * A is not saved. With ReLU, H > 0 means that A was positive and that dropout kept it. GELU and
 * Swish save f'(A) times the factor of dropout in `slope`, since forward has the exponential at
 * hand: backward is then one product per element. */
#include "model/feedforward.h"

#include "model/activation.h"
#include "model/linear.h"

void feedforward_layout(FeedforwardSaved *saved, Arena *arena, int N, const ModelConfig *config,
                        const Dropout *dropout, bool training)
{
    int F = config->ffn;
    size_t count = (size_t)N * (size_t)F, slopes = training ? count : (size_t)F;
    bool smooth = config->activation != ACTIVATION_RELU;
    *saved = (FeedforwardSaved){config->d_model, F, config->activation, .H = NULL};
    saved->H = ARENA_TAKE(arena, real, count);
    saved->slope = smooth ? ARENA_TAKE(arena, real, slopes) : NULL;
    saved->slope_stride = training ? F : 0;
    saved->mask = dropout_layout(arena, count, dropout ? dropout->activation : 0);
}

/* h (=) dropout(max(0, h)) */
INLINED void relu_row(real *h, const uint8_t *keep, real scale, int F)
{
#pragma omp simd
    for (int k = 0; k < F; k++) {
        real f = h[k] < 0 ? 0 : h[k];  // NaN stays NaN
        h[k] = keep ? f * (scale * (real)keep[k]) : f;
    }
}

/* h (=) f(h), slope (=) f'(h). Inlined with a constant f: one loop for each activation.
 * Training and inference share it, so that they compute the same bits. */
INLINED void smooth_row(Activated (*f)(real), real *h, real *slope, int F)
{
#pragma omp simd
    for (int k = 0; k < F; k++) {
        Activated y = f(h[k]);
        h[k] = y.value;
        slope[k] = y.slope;
    }
}

/* x (=) dropout(x): a second pass over a row that is in the L1 cache. */
static void drop_row(real *x, const uint8_t *keep, real scale, int F)
{
#pragma omp simd
    for (int k = 0; k < F; k++) x[k] *= scale * (real)keep[k];
}

/* (2) H = dropout(f(A)) */
static void activate(const FeedforwardSaved *saved, int N)
{
    int F = saved->F;
    real scale = saved->mask.scale;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)F;
        real *h = saved->H + at;
        real *slope =
            saved->slope ? saved->slope + (size_t)n * (size_t)saved->slope_stride : NULL;
        const uint8_t *keep = dropout_keep(&saved->mask, at);
        switch ((Activation)saved->activation) {
        case ACTIVATION_RELU:
            if (keep) relu_row(h, keep, scale, F);
            else relu_row(h, NULL, 1, F);
            continue;
        case ACTIVATION_GELU: smooth_row(gelu, h, slope, F); break;
        case ACTIVATION_SWISH: smooth_row(swish, h, slope, F); break;
        }
        if (!keep) continue;
        drop_row(h, keep, scale, F);
        drop_row(slope, keep, scale, F);
    }
}

/* (2) dA = dropout(dH) ⊙ f'(A) in place of dH */
static void activate_backward(real *dH, const FeedforwardSaved *saved, int N)
{
    int F = saved->F;
    real scale = saved->mask.scale;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)F;
        real *dh = dH + at;
        const real *h = saved->H + at, *slope = saved->slope ? saved->slope + at : NULL;
        if (slope) {
#pragma omp simd
            for (int k = 0; k < F; k++) dh[k] *= slope[k];
        } else {
#pragma omp simd
            for (int k = 0; k < F; k++) dh[k] = h[k] > 0 ? dh[k] * scale : 0;
        }
    }
}

void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows,
                         const Dropout *dropout, uint32_t place)
{
    int N = rows->rows, D = saved->D, F = saved->F;
    saved->X = X;
    dropout_rows(&saved->mask, rows, F, dropout, place);
    // (1) A = X W₁ᵀ + b₁
    linear_forward(saved->H, X, &w->fc1, N, F, D);
    // (2) H = dropout(f(A))
    activate(saved, N);
    // (3) Y = H W₂ᵀ + b₂
    linear_forward(Y, saved->H, &w->fc2, N, D, F);
}

void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved,
                          const FeedforwardWeights *w, int N)
{
    int D = saved->D, F = saved->F;
    // (3) dH = dY W₂          dW₂ += dYᵀ H
    linear_backward(SET, dH, &dw->fc2, dY, saved->H, &w->fc2, N, D, F);
    // (2) dA = dropout(dH) ⊙ f'(A)
    activate_backward(dH, saved, N);
    // (1) dX = dA W₁          dW₁ += dAᵀ X
    linear_backward(mode, dX, &dw->fc1, dH, saved->X, &w->fc1, N, F, D);
}
