/* loss.c -- softmax and label-smoothed cross-entropy over C = V-1 classes (all but <pad>).
 *
 *   forward    z = X Eᵀ + bias                                          logits
 *              p = softmax(z),   -ln p_c = lse - z_c,   lse = ln Σ_c e^(z_c)
 *              q_c = (1-ε) [c = t] + ε/C                                smoothed target distribution
 *              objective = Σ_c q_c (-ln p_c)                            cross-entropy of q and p
 *                        = lse - (1-ε) z_t - (ε/C) Σ_c z_c
 *   backward   dz_c = scale · (p_c - q_c)
 *                   = scale · (p_c - (1-ε) [c = t] - ε/C)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * E is read in chunks of LOSS_CLASSES rows, so that a chunk of E, of dE and of the logits stay in
 * cache together. Backward reads e^(z - m), where m is the largest logit of the row in the chunk.
 * After the last chunk the lse of a row follows from m and the sum s of each chunk:
 *   lse = L + ln Σ_chunks s e^(m - L),   L = max m;      p_c = e^(z_c - m) · e^(m - lse)
 *
 * Label smoothing: Szegedy et al. 2016, §7. The target's probability in q is 1-ε+ε/C. */
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

#include "base/profile.h"
#include "base/real.h"
#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

OutputLayer loss_chunk(const OutputLayer *w, int k)
{
    size_t first = (size_t)k * LOSS_CLASSES;
    return (OutputLayer){w->E + first * (size_t)w->D, w->bias ? w->bias + first : NULL,
                         at_most(w->C - (int)first, LOSS_CLASSES), w->D};
}

void loss_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w, bool training)
{
    size_t rows = (size_t)at_most(M, LOSS_ROWS), chunks = (size_t)loss_chunks(w->C);
    size_t kept = (size_t)(training ? w->C : at_most(w->C, LOSS_CLASSES));
    *buffers = (LossBuffers){.training = training};
    buffers->Z = ARENA_TAKE(arena, real, rows * kept);
    if (training) buffers->X = ARENA_TAKE(arena, real, gemm_repeated_size(w->D, (int)rows));
    buffers->largest = ARENA_TAKE(arena, real, rows * chunks);
    buffers->sum = ARENA_TAKE(arena, real, rows * chunks);
    buffers->total = ARENA_TAKE(arena, double, rows);
    buffers->at_target = ARENA_TAKE(arena, real, rows);
}

real *logits_layout(Arena *arena, int M, int V)
{
    return ARENA_TAKE(arena, real, (size_t)at_most(M, LOGITS_ROWS) * (size_t)V);
}

void logits_forward(real *Z, const real *X, const Weights *w, int M, int V, int D)
{
    matrix_multiply(Z, X, &w->output, w->logits_bias, M, V - 1, D);
}

real *logits_row(real *block, int r, const real *X, const Weights *w, int M, int V, int D)
{
    if (r % LOGITS_ROWS == 0) {
        ProfilePart before = profile_enter(PROFILE_LOSS);
        logits_forward(block, X + (size_t)r * (size_t)D, w, at_most(M - r, LOGITS_ROWS), V, D);
        profile_leave(before);
    }
    return block + (size_t)(r % LOGITS_ROWS) * (size_t)(V - 1);
}

/* z [width] becomes e^(z - largest), the numerators of the softmax; returns their sum. */
static real exponentials(real *z, real *largest, double *total, int width)
{
    real top = z[0], sum = 0, scores = 0;
#pragma omp simd reduction(max : top) simdlen(16)
    for (int c = 0; c < width; c++) top = z[c] > top ? z[c] : top;
#pragma omp simd reduction(+ : sum, scores) simdlen(16)
    for (int c = 0; c < width; c++) {
        scores += z[c];
        z[c] = vec_exp(z[c] - top);
        sum += z[c];
    }
    *largest = top;
    *total += scores;
    return sum;
}

/* Adds the loss of row n; its chunks' `largest` become e^(m - lse). */
static void row_loss(Loss *loss, const LossBuffers *b, int n, double smoothing, int C)
{
    int chunks = loss_chunks(C);
    real *largest = b->largest + n * chunks, top = largest[0], all = 0;
    const real *sum = b->sum + n * chunks;
    double at_target = (double)b->at_target[n];
#pragma omp simd reduction(max : top)
    for (int c = 0; c < chunks; c++) top = largest[c] > top ? largest[c] : top;
#pragma omp simd reduction(+ : all)
    for (int c = 0; c < chunks; c++) {
        largest[c] = vec_exp(largest[c] - top);
        all += sum[c] * largest[c];
    }
#pragma omp simd
    for (int c = 0; c < chunks; c++) largest[c] /= all;
    double lse = (double)top + log(all);
    loss->nll += lse - at_target;
    loss->objective += lse - (1 - smoothing) * at_target - smoothing / C * b->total[n];
    loss->tokens++;
}

/* The logits of chunk k [rows,width], and what is kept of them for backward. */
static real *chunk_logits(const LossBuffers *b, int k, int rows)
{
    return b->training ? b->Z + (size_t)k * LOSS_CLASSES * (size_t)rows : b->Z;
}

/* The loss of a block of rows; Z (=) e^(z - m). */
static void block_forward(Loss *loss, const real *X, const OutputLayer *w, const int *target,
                          double smoothing, const LossBuffers *b, int rows)
{
    int chunks = loss_chunks(w->C);
    for (int n = 0; n < rows; n++) b->total[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k);
        real *Z = chunk_logits(b, k, rows);
        // z = X Eᵀ + bias
        gemm_nt(SET, Z, X, chunk.E, chunk.bias, rows, chunk.C, w->D);
        for (int n = 0; n < rows; n++) {
            real *z = Z + (size_t)n * (size_t)chunk.C;
            int at = n * chunks + k, own = target[n] - k * LOSS_CLASSES;
            if (own >= 0 && own < chunk.C) b->at_target[n] = z[own];
            b->sum[at] = exponentials(z, &b->largest[at], &b->total[n], chunk.C);
        }
    }
    for (int n = 0; n < rows; n++) row_loss(loss, b, n, smoothing, w->C);
}

void loss_forward(Loss *loss, const real *X, const OutputLayer *w, const Objective *objective,
                  const LossBuffers *b, int M)
{
    for (int first = 0; first < M; first += LOSS_ROWS)
        block_forward(loss, X + (size_t)first * (size_t)w->D, w, objective->target + first,
                      objective->smoothing, b, at_most(M - first, LOSS_ROWS));
}

Turn *loss_turn(Turn *turn, int M, int C)
{
    if (M <= LOSS_ROWS) return turn;
    turn_next(turn, loss_chunks(C));
    return NULL;
}

/* turn: a stage for each chunk, or NULL */
static void block_backward(real *dX, const OutputLayer *dw, Turn *turn, const real *X,
                           const OutputLayer *w, const int *target, const Objective *objective,
                           const LossBuffers *b, int rows)
{
    int chunks = loss_chunks(w->C), D = w->D;
    double epsilon = objective->smoothing;
    real scale = objective->scale;
    real target_share = scale * (real)(1 - epsilon),
         uniform_share = scale * (real)(epsilon / w->C);
    Repeated repeated = gemm_repeated(b->X, X, D, rows);
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k), dchunk = loss_chunk(dw, k);
        int width = chunk.C;
        real *dZ = chunk_logits(b, k, rows);
        // gradient of label-smoothed cross-entropy: dz = scale · (p - (1-ε) [c = t] - ε/C)
        for (int n = 0; n < rows; n++) {
            real *dz = dZ + (size_t)n * (size_t)width;
            real p_factor = scale * b->largest[n * chunks + k];
#pragma omp simd simdlen(16)
            for (int c = 0; c < width; c++) dz[c] = dz[c] * p_factor - uniform_share;
            int own = target[n] - k * LOSS_CLASSES;
            if (own >= 0 && own < width) dz[own] -= target_share;
        }
        // dX = dz E
        gemm_nn(k == 0 ? SET : ADD, dX, dZ, chunk.E, rows, D, width);
        turn_next(turn, 1);
        // dE += dzᵀ X          dbias += Σ_rows dz
        gemm_tn_repeated(ADD, dchunk.E, dZ, &repeated, width);
        if (dchunk.bias) bias_backward(dchunk.bias, dZ, rows, width);
    }
}

void loss_backward(Loss *loss, real *dX, const OutputLayer *dw, Turn *turn, const real *X,
                   const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                   int M)
{
    turn = loss_turn(turn, M, w->C);
    for (int first = 0; first < M; first += LOSS_ROWS) {
        const real *x = X + (size_t)first * (size_t)w->D;
        const int *target = objective->target + first;
        int rows = at_most(M - first, LOSS_ROWS);
        block_forward(loss, x, w, target, objective->smoothing, b, rows);
        block_backward(dX + (size_t)first * (size_t)w->D, dw, turn, x, w, target, objective, b,
                       rows);
    }
}
