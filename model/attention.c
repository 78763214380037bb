/* attention.c -- queries, keys and values.
 *
 *   forward    (1)  Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
 *              for every sentence and head, on its dh = D/H columns:
 *              (2)  Z = Q Kᵀ / √dh                  how well query i matches key j
 *              (3)  P = softmax_rows(Z)             over the keys that i may see
 *              (4)  O = dropout(P) V                what i reads: values mixed by P
 *              (5)  Y = O W_Oᵀ (+ b_O, added with the residual)
 *   backward   (5)  dO = dY W_O                     dW_O += dYᵀ O
 *              (4)  dV = dropout(P)ᵀ dO             dP = dropout(dO Vᵀ)
 *              (3)  dZ = P ⊙ (dP - Σ_j P ⊙ dP)
 *              (2)  dQ = dZ K / √dh                 dK = dZᵀ Q / √dh
 *              (1)  dXq = dQ W_Q                    dXkv = dK W_K + dV W_V
 *                   dW_Q += dQᵀ Xq, …               db_Q += Σ_rows dQ, …
 *
 * Vaswani et al. 2017, §3.2. Without the √dh a dot product of dh independent terms of variance 1
 * has deviation √dh, and the softmax saturates where its gradient is near zero. */
#include "model/attention.h"

#include <math.h>
#include <string.h>

#include "base/profile.h"
#include "base/real.h"
#include "kernels/transpose.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

enum { VECTOR = 16 };

int attention_width(int m)
{
    return (m + VECTOR - 1) / VECTOR * VECTOR;
}

/* How many numbers the map of one head has. */
static size_t map_count(const Attention *a, int sentence)
{
    return (size_t)packed_length(a->queries, sentence) *
           (size_t)attention_width(packed_length(a->keys, sentence));
}

/* Where in P the map of a head begins. */
static size_t map_at(const Attention *a, int sentence, int head)
{
    return a->map[sentence] + (size_t)head * map_count(a, sentence);
}

const real *attention_map(const Attention *a, int sentence, int head)
{
    return a->P + map_at(a, sentence, head);
}

void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, bool training)
{
    int D = config->d_model, H = config->heads, dh = D / H, S = queries->sentences;
    bool self = !keys;
    if (self) keys = queries;
    size_t total = 0, widest = 0, largest = 0;
    *a = (Attention){.queries = queries,
                     .keys = keys,
                     .causal = causal,
                     .D = D,
                     .H = H,
                     .score = config->score};
    a->map = ARENA_TAKE(arena, size_t, (size_t)S + 1);
    for (int s = 0; s < S; s++) {
        size_t width = (size_t)attention_width(packed_length(keys, s));
        size_t one = (size_t)packed_length(queries, s) * width;
        if (a->map) a->map[s] = total;
        total += (size_t)H * one;
        if (one > largest) largest = one;
        if (width > widest) widest = width;
    }
    if (a->map) a->map[S] = total;

    size_t n = (size_t)queries->rows, m = (size_t)keys->rows, d = (size_t)D;
    if (self) {
        real *QKV = ARENA_TAKE(arena, real, n * 3 * d);
        a->q_stride = a->kv_stride = 3 * D;
        a->Q = QKV;
        a->K = QKV ? QKV + D : NULL;
    } else {
        a->Q = ARENA_TAKE(arena, real, n * d);
        a->K = ARENA_TAKE(arena, real, m * 2 * d);
        a->q_stride = D;
        a->kv_stride = 2 * D;
    }
    a->V = a->K ? a->K + D : NULL;
    a->O = ARENA_TAKE(arena, real, n * d);
    a->P = ARENA_TAKE(arena, real, total);
    a->Kt = ARENA_TAKE(arena, real, (size_t)dh * widest);
    if (training) {
        a->Pd = ARENA_TAKE(arena, real, largest);
        a->dP = ARENA_TAKE(arena, real, largest);
    }
    double rate = dropout ? dropout->attention : 0;
    if (rate > 0) a->keep = ARENA_TAKE(arena, uint8_t, total);
    a->keep_scale = dropout_scale(rate);
}

void attention_transpose(real *T, Rows X, int m, int dh)
{
    int width = attention_width(m);
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

/* Rows are short, and the ends of loops slow: so whole vectors, and a table of lanes, since from an
 * index gcc would see where to split the loop. */
void softmax_row(real *z, int seen)
{
    static const int lane[VECTOR] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
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
    for (int j = 0; j < seen; j += VECTOR)
#pragma omp simd reduction(+ : sum) simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) {
            real e = vec_exp(z[j + l] - largest);
            z[j + l] = lane[l] < seen - j ? e : 0;
            sum += z[j + l];
        }
    real inverse = 1 / sum;
    for (int j = 0; j < seen; j += VECTOR)
#pragma omp simd simdlen(VECTOR)
        for (int l = 0; l < VECTOR; l++) z[j + l] *= inverse;
}

void attention_probabilities(real *P, real *Kt, Rows Q, Rows K, int n, int m, int dh, int first,
                             int score)
{
    int width = attention_width(m);
    switch ((Score)score) {
    case SCORE_SCALED_DOT:
        attention_transpose(Kt, K, m, dh);
        small_gemm(P, width, (Strided){Q.at, Q.stride, 1}, Kt, width, n, width, dh,
                   1 / (real)sqrt(dh));  // (2)
        break;
    }
    for (int i = 0; i < n; i++) {  // (3)
        int seen = first ? first + i : m, filled = attention_width(seen);
        real *row = P + i * width;
        softmax_row(row, seen);
        if (filled < width) memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
    }
}

static Rows rows_of(real *matrix, int stride, int row, int column)
{
    return (Rows){matrix + (size_t)row * (size_t)stride + column, stride};
}

/* One head of one sentence: its n queries and m keys, and its map P [n,width]. */
typedef struct Head {
    int n, m, width, dh;
    int query, key, column;  // the first row of each, and the first column
    Rows Q, K, V;
    size_t map, count;  // where in P, and how many numbers
} Head;

static Head head_of(const Attention *a, int s, int h)
{
    int dh = a->D / a->H, query = a->queries->start[s], key = a->keys->start[s];
    int n = packed_length(a->queries, s), m = packed_length(a->keys, s);
    return (Head){.n = n,
                  .m = m,
                  .width = attention_width(m),
                  .dh = dh,
                  .query = query,
                  .key = key,
                  .column = h * dh,
                  .Q = rows_of(a->Q, a->q_stride, query, h * dh),
                  .K = rows_of(a->K, a->kv_stride, key, h * dh),
                  .V = rows_of(a->V, a->kv_stride, key, h * dh),
                  .map = map_at(a, s, h),
                  .count = map_count(a, s)};
}

/* dropout(P) of a head: in the scratch Pd where there is dropout; otherwise P itself serves. */
static const real *dropped(const Attention *a, const Head *head)
{
    const real *P = a->P + head->map;
    if (!a->keep) return P;
    const uint8_t *keep = a->keep + head->map;
#pragma omp simd
    for (size_t i = 0; i < head->count; i++) a->Pd[i] = P[i] * (a->keep_scale * (real)keep[i]);
    return a->Pd;
}

static void head_forward(const Attention *a, const Head *h)
{
    Rows O = rows_of(a->O, a->D, h->query, h->column);
    attention_probabilities(a->P + h->map, a->Kt, h->Q, h->K, h->n, h->m, h->dh, a->causal,
                            a->score);  // (2), (3)
    const real *Pd = dropped(a, h);
    small_gemm(O.at, O.stride, (Strided){Pd, h->width, 1}, h->V.at, h->V.stride, h->n, h->dh,
               h->m,
               1);  // (4)
}

void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w, const Dropout *dropout, uint32_t place)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows, S = a->queries->sentences;

    if (!Xkv) {  // (1)
        linear_forward(a->Q, Xq, &w->q, w->q.b, N, 3 * D, D);
    } else {
        linear_forward(a->Q, Xq, &w->q, w->q.b, N, D, D);
        linear_forward(a->K, Xkv, &w->k, w->k.b, M, 2 * D, D);
    }
    ProfilePart before = profile_enter(PROFILE_ATTENTION);
    if (a->keep)
        for (int s = 0; s < S; s++)
            dropout_sentence(a->keep + a->map[s], a->map[s + 1] - a->map[s], dropout,
                             dropout->attention, place, s);
    for (int s = 0; s < S; s++)
        for (int h = 0; h < a->H; h++) {
            Head head = head_of(a, s, h);
            head_forward(a, &head);  // (2) to (4)
        }
    profile_leave(before);
    linear_forward(Y, a->O, &w->out, NULL, N, D, D);  // (5)
}

/* dP (=) dZ: the softmax's backward, row by row, dropout's before it. */
static void softmax_backward(real *dP, const real *P, const uint8_t *keep, real scale, int n,
                             int width)
{
    for (int i = 0; i < n; i++, dP += width, P += width) {
        real sum = 0;
        if (keep) {
#pragma omp simd
            for (int j = 0; j < width; j++) dP[j] *= scale * (real)keep[i * width + j];
        }
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < width; j++) sum += P[j] * dP[j];
#pragma omp simd
        for (int j = 0; j < width; j++) dP[j] = P[j] * (dP[j] - sum);
    }
}

static void head_backward(const Attention *a, const Head *h, real *dQ, real *dK, real *dV,
                          real *dO)
{
    int n = h->n, m = h->m, width = h->width, dh = h->dh;
    real root = 1 / (real)sqrt(dh), *dP = a->dP;
    Rows dQh = rows_of(dQ, a->q_stride, h->query, h->column);
    Rows dKh = rows_of(dK, a->kv_stride, h->key, h->column);
    Rows dVh = rows_of(dV, a->kv_stride, h->key, h->column);
    Rows dOh = rows_of(dO, a->D, h->query, h->column);

    small_gemm(dVh.at, dVh.stride, (Strided){dropped(a, h), 1, width}, dOh.at, dOh.stride, m,
               dh, n,
               1);  // (4)
    attention_transpose(a->Kt, h->V, m, dh);
    small_gemm(dP, width, (Strided){dOh.at, dOh.stride, 1}, a->Kt, width, n, width, dh, 1);
    softmax_backward(dP, a->P + h->map, a->keep ? a->keep + h->map : NULL, a->keep_scale, n,
                     width);  // (3)
    small_gemm(dQh.at, dQh.stride, (Strided){dP, width, 1}, h->K.at, h->K.stride, n, dh, m,
               root);  // (2)
    small_gemm(dKh.at, dKh.stride, (Strided){dP, 1, width}, h->Q.at, h->Q.stride, m, dh, n,
               root);
}

void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *dO, real *dQKV, const real *dY,
                        const Attention *a, const real *Xq, const real *Xkv,
                        const AttentionWeights *w)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows;
    real *dQ = dQKV, *dK = Xkv ? dQ + (size_t)N * (size_t)D : dQ + D, *dV = dK + D;

    linear_backward(SET, dO, &dw->out, NULL, dY, a->O, &w->out, N, D, D);  // (5)
    ProfilePart before = profile_enter(PROFILE_ATTENTION);
    for (int s = 0; s < a->queries->sentences; s++)
        for (int h = 0; h < a->H; h++) {
            Head head = head_of(a, s, h);
            head_backward(a, &head, dQ, dK, dV, dO);  // (4) to (2)
        }
    profile_leave(before);
    if (!Xkv) {  // (1)
        linear_backward(q_mode, dXq, &dw->q, dw->q.b, dQ, Xq, &w->q, N, 3 * D, D);
    } else {
        linear_backward(q_mode, dXq, &dw->q, dw->q.b, dQ, Xq, &w->q, N, D, D);
        linear_backward(kv_mode, dXkv, &dw->k, dw->k.b, dK, Xkv, &w->k, M, 2 * D, D);
    }
}
