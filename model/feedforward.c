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
                        const Dropout *dropout, uint32_t place)
{
    size_t count = (size_t)N * (size_t)config->ffn;
    bool smooth = config->activation != ACTIVATION_RELU;
    *saved = (FeedforwardSaved){.config = config};
    saved->H = ARENA_TAKE(arena, real, count);
    saved->slope = smooth ? ARENA_TAKE(arena, real, count) : NULL;
    saved->mask =
        dropout_layout(arena, count, dropout, dropout ? dropout->activation : 0, place);
}

/* h [count] (=) f(h), slope (=) f'(h). Inlined with a constant f: one loop for each
 * activation. */
INLINED void smooth(Activated (*f)(real), real *h, real *slope, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        Activated y = f(h[i]);
        h[i] = y.value;
        slope[i] = y.slope;
    }
}

/* (2) H = dropout(f(A)) */
static void activate(const FeedforwardSaved *saved, size_t count)
{
    real *h = saved->H, *slope = saved->slope;
    int activation = saved->config->activation;
    if (activation == ACTIVATION_GELU) smooth(gelu, h, slope, count);
    if (activation == ACTIVATION_SWISH) smooth(swish, h, slope, count);
    if (activation == ACTIVATION_RELU) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) h[i] = h[i] < 0 ? 0 : h[i];  // NaN stays NaN
    }
    dropout_apply(h, h, &saved->mask, count);
    if (slope) dropout_apply(slope, slope, &saved->mask, count);
}

/* (2) dA = dropout(dH) ⊙ f'(A) in place of dH */
static void activate_backward(real *dH, const FeedforwardSaved *saved, size_t count)
{
    const real *h = saved->H, *slope = saved->slope, scale = saved->mask.scale;
    if (slope) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) dH[i] *= slope[i];
    } else {
#pragma omp simd
        for (size_t i = 0; i < count; i++) dH[i] = h[i] > 0 ? dH[i] * scale : 0;
    }
}

void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows)
{
    int N = rows->rows, D = saved->config->d_model, F = saved->config->ffn;
    saved->X = X;
    dropout_rows(&saved->mask, rows, F);
    // (1) A = X W₁ᵀ + b₁
    linear_forward(saved->H, X, &w->fc1, N, F, D);
    // (2) H = dropout(f(A))
    activate(saved, (size_t)N * (size_t)F);
    // (3) Y = H W₂ᵀ + b₂
    linear_forward(Y, saved->H, &w->fc2, N, D, F);
}

void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved,
                          const FeedforwardWeights *w, int N)
{
    int D = saved->config->d_model, F = saved->config->ffn;
    // (3) dH = dY W₂          dW₂ += dYᵀ H
    linear_backward(SET, dH, &dw->fc2, dY, saved->H, &w->fc2, N, D, F);
    // (2) dA = dropout(dH) ⊙ f'(A)
    activate_backward(dH, saved, (size_t)N * (size_t)F);
    // (1) dX = dA W₁          dW₁ += dAᵀ X
    linear_backward(mode, dX, &dw->fc1, dH, saved->X, &w->fc1, N, F, D);
}
