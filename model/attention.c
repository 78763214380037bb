/* attention.c -- dot-product attention and multi-head attention.
 *
 *   forward    (1)  Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
 *              for every sentence and head, on its dh = D/H columns:
 *              (2)  S = scale · Q Kᵀ                how well query i matches key j
 *              (3)  P = softmax_rows(S)             over the keys that i sees (causal mask)
 *              (4)  O = dropout(P) V                values mixed by the attention weights P
 *              (5)  Y = O W_Oᵀ + b_O
 *   backward   (5)  dO = dY W_O                     dW_O += dYᵀ O           db_O += Σ_rows dY
 *              (4)  dV = dropout(P)ᵀ dO             dP = dropout(dO Vᵀ)
 *              (3)  dS = P ⊙ (dP - Σ_j P ⊙ dP)
 *              (3)  dS += P ⊙ Σ_j G - G             of -Σ G ln P, if the head is guided by links G
 *              (2)  dQ = scale · dS K               dK = scale · dSᵀ Q
 *              (1)  dXq = dQ W_Q                    dXkv = dK W_K + dV W_V
 *                   dW_Q += dQᵀ Xq, …               db_Q += Σ_rows dQ, …
 *
 * Vaswani et al. 2017, §3.2; dh is the paper's d_k and d_v. The scale is 1/√dh, and (2)
 * is this product, except with other score functions (scorefunction.h). Without the √dh a dot product of dh
 * independent terms of variance 1 has deviation √dh, and the softmax saturates where its
 * gradient is near zero.
 *
 * A map P of many numbers is not kept until backward. Both passes hold a block of its rows at a
 * time, and backward computes them again from what forward saved of each row:
 *
 *   forward         l_i = max_j S_ij              r_i = 1 / Σ_j e^(S_ij - l_i)
 *   backward   (3)  P_ij = e^(S_ij - l_i) r_i     dV and dK are sums over the blocks
 *
 * Dao et al. 2022, FlashAttention (arXiv 2205.14135), who cut the keys too; here a row is whole,
 * so that its softmax is the same. Causal blocks leave out the keys that none of their rows
 * sees. */
#include "model/attention.h"

#include <string.h>

#include "base/real.h"
#include "kernels/transpose.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

enum { VECTOR = 16 };

real attention_scale(const ModelConfig *config, const AttentionWeights *w, int head)
{
    const ScoreFunction *score = &score_functions[config->attention_score];
    return w->scale ? w->scale[head] : score_scale(score, config->d_model / config->heads);
}

int attention_width(int m)
{
    return (m + VECTOR - 1) / VECTOR * VECTOR;
}

size_t attention_map_at(const Attention *a, int sentence, int head)
{
    size_t maps = a->map[sentence + 1] - a->map[sentence];
    return a->map[sentence] + maps / (size_t)a->H * (size_t)head;
}

const real *attention_map(const Attention *a, int sentence, int head)
{
    return a->P + attention_map_at(a, sentence, head);
}

/* The queries of sentence s whose rows of a map fit a block; all, or equal parts of them. */
static int block_rows(const Attention *a, int s)
{
    int n = packed_length(a->queries, s), width = attention_width(packed_length(a->keys, s));
    int blocks = (int)(1 + ((size_t)n * (size_t)width - 1) / a->block);
    return (n + blocks - 1) / blocks;
}

/* The rows of all heads in buffer [2(n+m),D].
 * self-attention: QKV [n,3D], O [n,D]; cross-attention: Q [n,D], KV [m,2D], O [n,D] */
static HeadRows heads_in(real *buffer, const Attention *a)
{
    int D = a->D, q = a->self ? 3 * D : D, kv = a->self ? 3 * D : 2 * D;
    size_t n = (size_t)a->queries->rows, m = (size_t)a->keys->rows, d = (size_t)D;
    real *K = a->self ? buffer + d : buffer + n * d;
    real *O = a->self ? buffer + 3 * n * d : K + 2 * m * d;
    return (HeadRows){{buffer, q}, {K, kv}, {K + d, kv}, {O, D}};
}

void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, bool training, size_t block)
{
    int D = config->d_model, H = config->heads, S = queries->sentences;
    size_t total = 0, widest = 0, largest = 0, shared = 0;
    *a = (Attention){.queries = queries, .keys = keys ? keys : queries, .self = !keys};
    a->causal = causal, a->D = D, a->H = H, a->dh = D / H;
    a->score = &score_functions[config->attention_score];
    a->scale = score_scale(a->score, a->dh);
    a->block = block;
    a->map = ARENA_TAKE(arena, size_t, (size_t)S + 1);
    for (int s = 0; s < S; s++) {
        size_t width = (size_t)attention_width(packed_length(a->keys, s));
        size_t rows = (size_t)block_rows(a, s), one = rows * width;
        if (a->map) a->map[s] = total;
        if (rows == (size_t)packed_length(queries, s)) total += (size_t)H * one;
        else if (one > shared) shared = one;
        if (one > largest) largest = one;
        if (width > widest) widest = width;
    }
    if (a->map) a->map[S] = total;
    a->numbers = total;

    size_t rows = 2 * ((size_t)queries->rows + (size_t)a->keys->rows);
    real *buffer = ARENA_TAKE(arena, real, rows * (size_t)D);
    if (buffer) a->heads = heads_in(buffer, a);
    a->P = ARENA_TAKE(arena, real, total + shared);
    a->Kt = a->Vt = ARENA_TAKE(arena, real, (size_t)a->dh * widest);
    if (shared && training) {
        a->Vt = ARENA_TAKE(arena, real, (size_t)a->dh * widest);
        a->sums = ARENA_TAKE(arena, RowSum, (size_t)H * (size_t)queries->rows);
    }
    if (training) {
        a->Pd = ARENA_TAKE(arena, real, largest);
        a->dP = ARENA_TAKE(arena, real, largest);
    }
    a->mask = dropout_layout(arena, total + shared, dropout ? dropout->attention : 0);
}

void attention_keep(Attention *a, Arena *arena)
{
    size_t rows = 2 * ((size_t)a->queries->rows + (size_t)a->keys->rows);
    real *buffer = ARENA_TAKE(arena, real, rows * (size_t)a->D);
    if (buffer) a->kept = heads_in(buffer, a);
    a->kept_dP = ARENA_TAKE(arena, real, a->numbers);
    a->kept_dS = ARENA_TAKE(arena, real, a->numbers);
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

void attention_softmax(real *P, RowSum *sums, bool again, int n, int m, bool causal)
{
    int width = attention_width(m);
    for (int i = 0; i < n; i++) {
        int seen = causal ? m - n + i + 1 : m, filled = attention_width(seen);
        real *row = P + i * width;
        if (again) {
            softmax_again(row, seen, sums[i]);
        } else {
            RowSum sum = softmax_row(row, seen);
            if (sums) sums[i] = sum;
        }
        if (filled < width) memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
    }
}

/* ---- a block of one head of one sentence ---- */

/* n queries, the m keys that they see, and their rows of the map. */
typedef struct Head {
    GemmMode mode;  // of dK and dV: SET for the block of the last queries, which comes first
    bool kept;      // P and keep hold the whole map until backward: it is one block
    int n, m, width;
    real scale;     // of the scores
    HeadRows x;     // Q, O [n,dh]   K, V [m,dh]
    Rows Kt, Vt;    // [dh,m]
    real *P;        // [n,width]
    RowSum *sums;   // [n], or NULL: not needed
    uint8_t *keep;  // as P, or NULL: no dropout
    size_t first;   // number of P's first element among all weights of the sentence
    real *dP, *dS;  // as P, where backward keeps them; or NULL
    real *guide;    // as P, or NULL
} Head;

/* C [m,n] (mode) = scale · A [m,k] · B [k,n] */
static void head_product(GemmMode mode, const Head *h, Rows C, Strided A, Rows B, int m, int n,
                         int k, real scale)
{
    (h->kept ? small_gemm : gemm_strided)(mode, C.at, C.stride, A, B.at, B.stride, m, n, k,
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

static Rows rows_from(Rows X, int row, int column)
{
    return (Rows){X.at + (size_t)row * (size_t)X.stride + column, X.stride};
}

/* The part of `all` that belongs to head h of sentence s, with the queries from `first` on. */
static HeadRows head_rows(const Attention *a, const HeadRows *all, int s, int h, int first)
{
    int query = a->queries->start[s] + first, key = a->keys->start[s], column = h * a->dh;
    return (HeadRows){rows_from(all->Q, query, column), rows_from(all->K, key, column),
                      rows_from(all->V, key, column), rows_from(all->O, query, column)};
}

/* The block whose queries end before `end`. */
static Head head_of(const Attention *a, const AttentionWeights *w, int s, int h, int end)
{
    int n = packed_length(a->queries, s), m = packed_length(a->keys, s);
    int rows = block_rows(a, s), first = end > rows ? end - rows : 0,
        width = attention_width(m);
    bool kept = rows == n;
    size_t at = kept ? attention_map_at(a, s, h) : a->numbers;
    Head head = {end == n ? SET : ADD, kept, .n = end - first, .m = a->causal ? end : m};
    head.width = attention_width(head.m);
    head.scale = w->scale ? w->scale[h] : a->scale;
    head.x = head_rows(a, &a->heads, s, h, first);
    head.Kt = (Rows){a->Kt, width}, head.Vt = (Rows){a->Vt, width};
    head.P = a->P + at, head.keep = a->mask.keep ? a->mask.keep + at : NULL;
    head.first = ((size_t)h * (size_t)n + (size_t)first) * (size_t)width;
    if (!kept && a->sums)
        head.sums =
            a->sums + (size_t)h * (size_t)a->queries->rows + a->queries->start[s] + first;
    if (a->kept_dP) head.dP = a->kept_dP + at, head.dS = a->kept_dS + at;
    if (a->guide && kept && h == 0) head.guide = a->guide + at / (size_t)a->H;
    return head;
}

/* dropout(P): in the scratch Pd, or P itself without dropout. */
static Rows dropped(const Attention *a, const Head *h)
{
    if (!h->keep) return (Rows){h->P, h->width};
    int count = h->n * h->width;
#pragma omp simd
    for (int i = 0; i < count; i++) a->Pd[i] = h->P[i] * (a->mask.scale * (real)h->keep[i]);
    return (Rows){a->Pd, h->width};
}

/* h->P (=), and its mask if it is not kept.   again: in backward */
static void head_weights(const Attention *a, const Head *h, int sentence, bool again)
{
    Rows S = {h->P, h->width}, Q = h->x.Q, K = h->x.K;
    bool product = a->score->product;
    if (product && h->mode == SET) attention_transpose(a->Kt, K, h->m, a->dh);
    // (2) S = scale · Q Kᵀ
    if (product) head_product(SET, h, S, by_rows(Q), h->Kt, h->n, h->width, a->dh, h->scale);
    else scores_forward(S, a->score, Q, K, h->scale, h->n, h->m, a->dh);
    // (3) P = softmax_rows(S)
    attention_softmax(h->P, h->sums, again, h->n, h->m, a->causal);
    if (h->keep && !h->kept)
        dropout_sentence(h->keep, h->first, (size_t)h->n * (size_t)h->width, a->dropout,
                         a->mask.rate, a->place, sentence);
}

static void head_forward(const Attention *a, const Head *h, int sentence)
{
    // (2), (3)
    head_weights(a, h, sentence, false);
    // (4) O = dropout(P) V
    head_product(SET, h, h->x.O, by_rows(dropped(a, h)), h->x.V, h->n, a->dh, h->m, 1);
}

/* dP (=) dS: the gradient of dropout, then that of the softmax, row by row. */
static void softmax_backward(real *dP, const Head *h, real keep_scale)
{
    const real *P = h->P;
    const uint8_t *keep = h->keep;
    int width = h->width;
    for (int i = 0; i < h->n; i++, dP += width, P += width) {
        real sum = 0;
        if (keep) {
#pragma omp simd
            for (int j = 0; j < width; j++) dP[j] *= keep_scale * (real)keep[i * width + j];
        }
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < width; j++) sum += P[j] * dP[j];
#pragma omp simd
        for (int j = 0; j < width; j++) dP[j] = P[j] * (dP[j] - sum);
    }
}

static void guide_backward(real *dS, const Head *h)
{
    const real *P = h->P, *G = h->guide;
    for (int i = 0; i < h->n; i++, dS += h->width, P += h->width, G += h->width) {
        real sum = 0;
        for (int j = 0; j < h->width; j++) sum += G[j];
        for (int j = 0; j < h->width; j++) dS[j] += P[j] * sum - G[j];
    }
}

/* d: the gradients of Q (=), of K and V (h->mode); of d->O it reads the gradient of O
 * dscale (+=), or NULL if it is not learned */
static void head_backward(const HeadRows *d, real *dscale, const Attention *a, const Head *h,
                          int sentence)
{
    int n = h->n, m = h->m, dh = a->dh;
    Rows dP = {a->dP, h->width}, dS = dP, Q = h->x.Q, K = h->x.K;
    if (!h->kept) head_weights(a, h, sentence, true);
    // (4) dV = dropout(P)ᵀ dO
    head_product(h->mode, h, d->V, by_columns(dropped(a, h)), d->O, m, dh, n, 1);
    // (4) dP = dO Vᵀ, before dropout
    if (h->mode == SET) attention_transpose(a->Vt, h->x.V, m, dh);
    head_product(SET, h, dP, by_rows(d->O), h->Vt, n, h->width, dh, 1);
    size_t bytes = (size_t)n * (size_t)h->width * sizeof(real);
    if (h->dP) memcpy(h->dP, dP.at, bytes);
    // (3) dS = P ⊙ (dropout(dP) - Σ_j P ⊙ dropout(dP))
    softmax_backward(dP.at, h, a->mask.scale);
    // (3) dS += P ⊙ Σ_j G - G
    if (h->guide) guide_backward(dS.at, h);
    if (h->dS) memcpy(h->dS, dS.at, bytes);
    if (!a->score->product) {
        scores_backward(h->mode, d->Q, d->K, dscale, dS, a->score, Q, K, h->scale, n, m, dh);
        return;
    }
    // (2) dQ = scale · dS K
    head_product(SET, h, d->Q, by_rows(dS), K, n, dh, m, h->scale);
    // (2) dK = scale · dSᵀ Q
    head_product(h->mode, h, d->K, by_columns(dS), Q, m, dh, n, h->scale);
}

/* ---- multi-head attention ---- */

void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w, const Dropout *dropout, uint32_t place)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows, S = a->queries->sentences;
    a->Xq = Xq;
    a->Xkv = a->self ? Xq : Xkv;
    a->dropout = dropout, a->place = place;

    // (1) Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
    linear_forward(a->heads.Q.at, Xq, &w->q, N, a->heads.Q.stride, D);
    if (!a->self) linear_forward(a->heads.K.at, Xkv, &w->k, M, 2 * D, D);
    for (int s = 0; a->mask.keep && s < S; s++)
        dropout_sentence(a->mask.keep + a->map[s], 0, a->map[s + 1] - a->map[s], dropout,
                         a->mask.rate, place, s);
    for (int s = 0; s < S; s++)
        for (int h = 0; h < a->H; h++) {
            Head head;
            // (2) to (4)
            for (int end = packed_length(a->queries, s); end > 0; end -= head.n) {
                head = head_of(a, w, s, h, end);
                head_forward(a, &head, s);
            }
        }
    // (5) Y = O W_Oᵀ + b_O
    linear_forward(Y, a->heads.O.at, &w->out, N, D, D);
}

void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *scratch, const real *dY, const Attention *a,
                        const AttentionWeights *w)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows;
    HeadRows d = a->kept.Q.at ? a->kept : heads_in(scratch, a);

    // (5) dO = dY W_O          dW_O += dYᵀ O
    linear_backward(SET, d.O.at, &dw->out, dY, a->heads.O.at, &w->out, N, D, D);
    for (int s = 0; s < a->queries->sentences; s++)
        for (int h = 0; h < a->H; h++) {
            Head head;
            // (4) to (2)
            for (int end = packed_length(a->queries, s); end > 0; end -= head.n) {
                head = head_of(a, w, s, h, end);
                HeadRows rows = head_rows(a, &d, s, h, end - head.n);
                head_backward(&rows, dw->scale ? dw->scale + h : NULL, a, &head, s);
            }
        }
    // (1) dXq = dQ W_Q          dXkv = dK W_K + dV W_V          dW_Q += dQᵀ Xq, …
    linear_backward(q_mode, dXq, &dw->q, d.Q.at, a->Xq, &w->q, N, d.Q.stride, D);
    if (a->self) return;
    linear_backward(kv_mode, dXkv, &dw->k, d.K.at, a->Xkv, &w->k, M, 2 * D, D);
}
