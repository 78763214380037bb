/* loss.c -- label-smoothed cross-entropy over C = V-1 classes (all but <pad>).
 *
 *   forward    z = X Eᵀ + bias
 *              p = softmax(z),   -ln p_c = lse - z_c,   lse = ln Σ_c e^(z_c)
 *              objective = (1-ε) (-ln p_t) + (ε/C) Σ_c (-ln p_c)
 *                        = lse - (1-ε) z_t - (ε/C) Σ_c z_c
 *   backward   dz_c = scale · (p_c - (1-ε) [c = t] - ε/C)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * E is read in chunks of LOSS_CLASSES rows, so that a chunk of E, of dE and of the scores stay
 * in cache together, and only e^(z - m) is kept for backward, with m the largest score of its
 * row and chunk. Where all chunks are done, a row's lse follows from the chunks' m and sums s:
 *   lse = L + ln Σ_chunks s e^(m - L),   L = max m;      p_c = e^(z_c - m) · e^(m - lse)
 *
 * Label smoothing as in Szegedy et al. 2016, §7: the target's share is 1-ε+ε/C. */
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

#include "base/profile.h"
#include "base/real.h"
#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

void loss_layout(LossBuffers *buffers, Arena *arena, int M, int V, int D, bool training)
{
    size_t rows = (size_t)at_most(M, LOSS_ROWS), C = (size_t)V - 1;
    size_t chunks = (size_t)loss_chunks((int)C);
    size_t kept = training || C < LOSS_CLASSES ? C : LOSS_CLASSES;
    buffers->Z = ARENA_TAKE(arena, real, rows * kept);
    buffers->X = training ? ARENA_TAKE(arena, real, gemm_repeated_size(D, (int)rows)) : NULL;
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

/* z [width] becomes e^(z - largest); returns their sum. */
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

/* Adds a row's loss; its chunks' `largest` become e^(m - lse). */
static void row_loss(Loss *loss, real *largest, const real *sum, double total, real at_target,
                     double smoothing, int C)
{
    int chunks = loss_chunks(C);
    real top = largest[0], all = 0;
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
    loss->nll += lse - (double)at_target;
    loss->objective += lse - (1 - smoothing) * (double)at_target - smoothing / C * total;
    loss->tokens++;
}

/* The loss of a block of rows; Z (=) e^(z - m), of all chunks one behind the other if keep. */
static void block_forward(Loss *loss, const LossBuffers *b, const real *X, const real *E,
                          const real *bias, const int *target, double smoothing, int rows,
                          int C, int D, bool keep)
{
    int chunks = loss_chunks(C);
    for (int n = 0; n < rows; n++) b->total[n] = 0;
    for (int k = 0, first = 0; k < chunks; k++, first += LOSS_CLASSES) {
        int width = at_most(C - first, LOSS_CLASSES);
        real *Z = keep ? b->Z + (size_t)first * (size_t)rows : b->Z;
        gemm_nt(SET, Z, X, E + (size_t)first * (size_t)D, bias + first, rows, width, D);
        for (int n = 0; n < rows; n++) {
            real *z = Z + (size_t)n * (size_t)width;
            int own = target[n] - first;
            if (own >= 0 && own < width) b->at_target[n] = z[own];
            b->sum[n * chunks + k] =
                exponentials(z, &b->largest[n * chunks + k], &b->total[n], width);
        }
    }
    for (int n = 0; n < rows; n++)
        row_loss(loss, b->largest + n * chunks, b->sum + n * chunks, b->total[n],
                 b->at_target[n], smoothing, C);
}

void loss_forward(Loss *loss, const real *X, const real *E, const real *bias, const int *target,
                  double smoothing, const LossBuffers *b, int M, int V, int D)
{
    for (int first = 0; first < M; first += LOSS_ROWS)
        block_forward(loss, b, X + (size_t)first * (size_t)D, E, bias, target + first,
                      smoothing, at_most(M - first, LOSS_ROWS), V - 1, D, false);
}

Turn *loss_turn(Turn *turn, int M, int C)
{
    if (M <= LOSS_ROWS) return turn;
    turn_next(turn, loss_chunks(C));
    return NULL;
}

/* turn: a stage for each chunk, or NULL */
static void block_backward(real *dX, real *dE, real *dbias, Turn *turn, real scale,
                           const LossBuffers *b, const real *X, const real *E,
                           const int *target, double smoothing, int rows, int C, int D)
{
    int chunks = loss_chunks(C);
    Repeated repeated = gemm_repeated(b->X, X, D, rows);
    real others = scale * (real)(smoothing / C), own_share = scale * (real)(1 - smoothing);
    for (int k = 0, first = 0; k < chunks; k++, first += LOSS_CLASSES) {
        int width = at_most(C - first, LOSS_CLASSES);
        real *Z = b->Z + (size_t)first * (size_t)rows;
        for (int n = 0; n < rows; n++) {
            real *z = Z + (size_t)n * (size_t)width,
                 factor = scale * b->largest[n * chunks + k];
#pragma omp simd simdlen(16)
            for (int c = 0; c < width; c++) z[c] = z[c] * factor - others;
            int own = target[n] - first;
            if (own >= 0 && own < width) z[own] -= own_share;
        }
        gemm_nn(k == 0 ? SET : ADD, dX, Z, E + (size_t)first * (size_t)D, rows, D, width);
        turn_next(turn, 1);
        gemm_tn_repeated(ADD, dE + (size_t)first * (size_t)D, Z, &repeated, width);
        if (dbias) bias_backward(dbias + first, Z, rows, width);
    }
}

void loss_backward(Loss *loss, real *dX, real *dE, real *dbias, Turn *turn, real scale,
                   const real *X, const real *E, const real *bias, const int *target,
                   double smoothing, const LossBuffers *b, int M, int V, int D)
{
    turn = loss_turn(turn, M, V - 1);
    for (int first = 0; first < M; first += LOSS_ROWS) {
        size_t at = (size_t)first * (size_t)D;
        int rows = at_most(M - first, LOSS_ROWS);
        block_forward(loss, b, X + at, E, bias, target + first, smoothing, rows, V - 1, D,
                      true);
        block_backward(dX + at, dE, dbias, turn, scale, b, X + at, E, target + first, smoothing,
                       rows, V - 1, D);
    }
}
