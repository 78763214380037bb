/* feedforward.c -- two matrices with an activation f between them, the same for every row.
 *
 *   forward    (1)  A = X W₁ᵀ + b₁
 *              (2)  H = dropout(f(A))        f: max(0, A), or GELU or Swish (activation.h)
 *              (3)  Y = H W₂ᵀ (+ b₂, added with the residual)
 *   backward   (3)  dH = dY W₂          dW₂ += dYᵀ H
 *              (2)  dA = dropout(dH) ⊙ f'(A)
 *              (1)  dX = dA W₁          dW₁ += dAᵀ X         db₁ += Σ_rows dA
 *
 * A is not saved. With ReLU, H > 0 says both that A was positive and that dropout kept it. GELU
 * and Swish leave dropout's factor times f'(A) in `slope`, as they have their exponential at hand:
 * backward is one product an element then. */
#include "model/feedforward.h"

#include "model/activation.h"
#include "model/linear.h"

void feedforward_layout(FeedforwardSaved *saved, Arena *arena, int N, const ModelConfig *config,
                        const Dropout *dropout, bool training)
{
    size_t count = (size_t)N * (size_t)config->ffn;
    double rate = dropout ? dropout->activation : 0;
    bool sloped = config->activation != ACTIVATION_RELU;
    saved->activation = config->activation;
    saved->H = ARENA_TAKE(arena, real, count);
    saved->slope_stride = training ? config->ffn : 0;
    saved->slope =
        sloped ? ARENA_TAKE(arena, real, training ? count : (size_t)config->ffn) : NULL;
    saved->keep = rate > 0 ? ARENA_TAKE(arena, uint8_t, count) : NULL;
    saved->scale = dropout_scale(rate);
}

static void relu_row(real *h, const real *b, const uint8_t *keep, real scale, int F)
{
    if (keep) {
#pragma omp simd
        for (int k = 0; k < F; k++) {
            real a = h[k] + b[k];
            h[k] = (a < 0 ? 0 : a) * (scale * (real)keep[k]);
        }
    } else {
#pragma omp simd
        for (int k = 0; k < F; k++) {
            real a = h[k] + b[k];
            h[k] = a < 0 ? 0 : a;  // NaN stays NaN
        }
    }
}

/* One loop for each activation: f is known where this is inlined. It serves all passes, so that
 * they have the same bits. */
static inline __attribute__((always_inline)) void smooth_row(Activated (*f)(real), real *h,
                                                             real *slope, const real *b, int F)
{
#pragma omp simd
    for (int k = 0; k < F; k++) {
        Activated y = f(h[k] + b[k]);
        h[k] = y.value;
        slope[k] = y.slope;
    }
}

/* x (=) dropout(x): once more over a row that is in the nearest cache. */
static void drop_row(real *x, const uint8_t *keep, real scale, int F)
{
#pragma omp simd
    for (int k = 0; k < F; k++) x[k] *= scale * (real)keep[k];
}

static void activate(const FeedforwardSaved *saved, const real *b, int N, int F)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)F;
        real *h = saved->H + at;
        real *slope =
            saved->slope ? saved->slope + (size_t)n * (size_t)saved->slope_stride : NULL;
        const uint8_t *keep = saved->keep ? saved->keep + at : NULL;
        switch ((Activation)saved->activation) {
        case ACTIVATION_RELU: relu_row(h, b, keep, saved->scale, F); continue;
        case ACTIVATION_GELU: smooth_row(gelu, h, slope, b, F); break;
        case ACTIVATION_SWISH: smooth_row(swish, h, slope, b, F); break;
        }
        if (!keep) continue;
        drop_row(h, keep, saved->scale, F);
        drop_row(slope, keep, saved->scale, F);
    }
}

static void activate_backward(real *dH, real *db, const FeedforwardSaved *saved, int N, int F)
{
    real scale = saved->scale;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)F;
        real *dh = dH + at;
        const real *h = saved->H + at, *slope = saved->slope ? saved->slope + at : NULL;
        if (slope) {
#pragma omp simd
            for (int k = 0; k < F; k++) {
                dh[k] *= slope[k];
                db[k] += dh[k];
            }
        } else {
#pragma omp simd
            for (int k = 0; k < F; k++) {
                dh[k] = h[k] > 0 ? dh[k] * scale : 0;
                db[k] += dh[k];
            }
        }
    }
}

void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows, int D, int F,
                         const Dropout *dropout, uint32_t place)
{
    int N = rows->rows;
    if (saved->keep) dropout_rows(saved->keep, rows, F, dropout, dropout->activation, place);

    linear_forward(saved->H, X, &w->fc1, NULL, N, F, D);  // (1)
    activate(saved, w->fc1.b, N, F);                      // (2)
    linear_forward(Y, saved->H, &w->fc2, NULL, N, D, F);  // (3)
}

void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved, const real *X,
                          const FeedforwardWeights *w, int N, int D, int F)
{
    linear_backward(SET, dH, &dw->fc2, NULL, dY, saved->H, &w->fc2, N, D, F);  // (3)
    activate_backward(dH, dw->fc1.b, saved, N, F);                             // (2)
    linear_backward(mode, dX, &dw->fc1, NULL, dH, X, &w->fc1, N, F, D);        // (1)
}
