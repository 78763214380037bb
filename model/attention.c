/* attention.c -- dot-product attention and multi-head attention.
 *
 *   forward    (1)  Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
 *              for every sentence and head, on its dh = D/H columns:
 *              (2)  S = scale · Q Kᵀ                how well query i matches key j
 *              (3)  P = softmax_rows(S)             over the keys that i sees (causal mask)
 *              (4)  O = dropout(P) V                values mixed by the attention weights P
 *              (5)  Y = O W_Oᵀ (+ b_O, added with the residual)
 *   backward   (5)  dO = dY W_O                     dW_O += dYᵀ O
 *              (4)  dV = dropout(P)ᵀ dO             dP = dropout(dO Vᵀ)
 *              (3)  dS = P ⊙ (dP - Σ_j P ⊙ dP)
 *              (2)  dQ = scale · dS K               dK = scale · dSᵀ Q
 *              (1)  dXq = dQ W_Q                    dXkv = dK W_K + dV W_V
 *                   dW_Q += dQᵀ Xq, …               db_Q += Σ_rows dQ, …
 *
 * Vaswani et al. 2017, §3.2; dh is the paper's d_k and d_v. The scale is 1/√dh, and (2)
 * is this product, except with other score functions (scorefunction.h). Without the √dh a dot product of dh
 * independent terms of variance 1 has deviation √dh, and the softmax saturates where its
 * gradient is near zero. */
#include "model/attention.h"

#include <string.h>

#include "base/profile.h"
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
                      const Dropout *dropout, bool training)
{
    int D = config->d_model, H = config->heads, S = queries->sentences;
    size_t total = 0, widest = 0, largest = 0;
    *a = (Attention){.queries = queries, .keys = keys ? keys : queries, .self = !keys};
    a->causal = causal, a->D = D, a->H = H, a->dh = D / H;
    a->score = &score_functions[config->attention_score];
    a->scale = score_scale(a->score, a->dh);
    a->map = ARENA_TAKE(arena, size_t, (size_t)S + 1);
    for (int s = 0; s < S; s++) {
        size_t width = (size_t)attention_width(packed_length(a->keys, s));
        size_t one = (size_t)packed_length(queries, s) * width;
        if (a->map) a->map[s] = total;
        total += (size_t)H * one;
        if (one > largest) largest = one;
        if (width > widest) widest = width;
    }
    if (a->map) a->map[S] = total;
    a->numbers = total;

    size_t rows = 2 * ((size_t)queries->rows + (size_t)a->keys->rows);
    real *buffer = ARENA_TAKE(arena, real, rows * (size_t)D);
    if (buffer) a->heads = heads_in(buffer, a);
    a->P = ARENA_TAKE(arena, real, total);
    a->Kt = ARENA_TAKE(arena, real, (size_t)a->dh * widest);
    if (training) {
        a->Pd = ARENA_TAKE(arena, real, largest);
        a->dP = ARENA_TAKE(arena, real, largest);
    }
    a->mask = dropout_layout(arena, total, dropout ? dropout->attention : 0);
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

/* Rows are short and loop tails slow, so the loops run over whole vectors. The lane numbers
 * come from a table: gcc would split the loop at `seen` if it saw an index. */
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

/* ---- the products of one head: as in gemm.h, with strides ---- */

/* C [m,n] (=) scale · A [m,k] · B [k,n] */
static void head_nn(Rows C, Rows A, Rows B, int m, int n, int k, real scale)
{
    small_gemm(C.at, C.stride, (Strided){A.at, (size_t)A.stride, 1}, B.at, B.stride, m, n, k,
               scale);
}

/* C [m,n] (=) scale · A [k,m]ᵀ · B [k,n] */
static void head_tn(Rows C, Rows A, Rows B, int m, int n, int k, real scale)
{
    small_gemm(C.at, C.stride, (Strided){A.at, 1, (size_t)A.stride}, B.at, B.stride, m, n, k,
               scale);
}

/* C [m,width] (=) scale · A [m,k] · B [n,k]ᵀ, width = attention_width(n)   Bt [k,width] scratch */
static void head_nt(Rows C, Rows A, Rows B, real *Bt, int m, int n, int k, real scale)
{
    int width = attention_width(n);
    attention_transpose(Bt, B, n, k);
    head_nn(C, A, (Rows){Bt, width}, m, width, k, scale);
}

/* ---- one head of one sentence ---- */

void attention_probabilities(real *P, const ScoreFunction *score, Rows Q, Rows K, real *Kt,
                             real scale, int n, int m, int dh, bool causal)
{
    int width = attention_width(m);
    // (2) S = scale · Q Kᵀ
    if (score->product) head_nt((Rows){P, width}, Q, K, Kt, n, m, dh, scale);
    else scores_forward((Rows){P, width}, score, Q, K, scale, n, m, dh);
    // (3) P = softmax_rows(S); causal mask: query i sees keys 0..i, the others get weight 0
    for (int i = 0; i < n; i++) {
        int seen = causal ? i + 1 : m, filled = attention_width(seen);
        real *row = P + i * width;
        softmax_row(row, seen);
        if (filled < width) memset(row + filled, 0, (size_t)(width - filled) * sizeof *row);
    }
}

/* n queries, m keys, and the map P [n,width]. */
typedef struct Head {
    int n, m, width;
    real scale;  // of the scores
    HeadRows x;  // Q, O [n,dh]   K, V [m,dh]
    real *P;
    const uint8_t *keep;  // as P, or NULL: no dropout
    real *dP, *dS;        // as P, where backward keeps them; or NULL
} Head;

static Rows rows_from(Rows X, int row, int column)
{
    return (Rows){X.at + (size_t)row * (size_t)X.stride + column, X.stride};
}

/* The part of `all` that belongs to head h of sentence s. */
static HeadRows head_rows(const Attention *a, const HeadRows *all, int s, int h)
{
    int query = a->queries->start[s], key = a->keys->start[s], column = h * a->dh;
    return (HeadRows){rows_from(all->Q, query, column), rows_from(all->K, key, column),
                      rows_from(all->V, key, column), rows_from(all->O, query, column)};
}

static Head head_of(const Attention *a, const AttentionWeights *w, int s, int h)
{
    size_t at = attention_map_at(a, s, h);
    Head head = {.n = packed_length(a->queries, s), .m = packed_length(a->keys, s)};
    head.width = attention_width(head.m);
    head.scale = w->scale ? w->scale[h] : a->scale;
    head.x = head_rows(a, &a->heads, s, h);
    head.P = a->P + at, head.keep = dropout_keep(&a->mask, at);
    if (a->kept_dP) head.dP = a->kept_dP + at, head.dS = a->kept_dS + at;
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

static void head_forward(const Attention *a, const Head *h)
{
    // (2) S = scale · Q Kᵀ      (3) P = softmax_rows(S)
    attention_probabilities(h->P, a->score, h->x.Q, h->x.K, a->Kt, h->scale, h->n, h->m, a->dh,
                            a->causal);
    // (4) O = dropout(P) V
    head_nn(h->x.O, dropped(a, h), h->x.V, h->n, a->dh, h->m, 1);
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

/* d (=) the gradients of Q, K and V; of d->O it reads the gradient of O
 * dscale (+=), or NULL if it is not learned */
static void head_backward(const HeadRows *d, real *dscale, const Attention *a, const Head *h)
{
    int n = h->n, m = h->m, dh = a->dh;
    Rows dP = {a->dP, h->width}, dS = dP;
    // (4) dV = dropout(P)ᵀ dO
    head_tn(d->V, dropped(a, h), d->O, m, dh, n, 1);
    // (4) dP = dO Vᵀ, before dropout
    head_nt(dP, d->O, h->x.V, a->Kt, n, m, dh, 1);
    size_t bytes = (size_t)n * (size_t)h->width * sizeof(real);
    if (h->dP) memcpy(h->dP, dP.at, bytes);
    // (3) dS = P ⊙ (dropout(dP) - Σ_j P ⊙ dropout(dP))
    softmax_backward(dP.at, h, a->mask.scale);
    if (h->dS) memcpy(h->dS, dS.at, bytes);
    if (!a->score->product) {
        scores_backward(d->Q, d->K, dscale, dS, a->score, h->x.Q, h->x.K, h->scale, n, m, dh);
        return;
    }
    // (2) dQ = scale · dS K
    head_nn(d->Q, dS, h->x.K, n, dh, m, h->scale);
    // (2) dK = scale · dSᵀ Q
    head_tn(d->K, dS, h->x.Q, m, dh, n, h->scale);
}

/* ---- multi-head attention ---- */

void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w, const Dropout *dropout, uint32_t place)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows, S = a->queries->sentences;
    a->Xq = Xq;
    a->Xkv = a->self ? Xq : Xkv;

    // (1) Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
    linear_forward(a->heads.Q.at, Xq, &w->q, w->q.b, N, a->heads.Q.stride, D);
    if (!a->self) linear_forward(a->heads.K.at, Xkv, &w->k, w->k.b, M, 2 * D, D);
    ProfilePart before = profile_enter(PROFILE_ATTENTION);
    for (int s = 0; a->mask.keep && s < S; s++)
        dropout_sentence(a->mask.keep + a->map[s], a->map[s + 1] - a->map[s], dropout,
                         a->mask.rate, place, s);
    for (int s = 0; s < S; s++)
        for (int h = 0; h < a->H; h++) {
            Head head = head_of(a, w, s, h);
            // (2) to (4)
            head_forward(a, &head);
        }
    profile_leave(before);
    // (5) Y = O W_Oᵀ
    linear_forward(Y, a->heads.O.at, &w->out, NULL, N, D, D);
}

void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *scratch, const real *dY, const Attention *a,
                        const AttentionWeights *w)
{
    int D = a->D, N = a->queries->rows, M = a->keys->rows;
    HeadRows d = a->kept.Q.at ? a->kept : heads_in(scratch, a);

    // (5) dO = dY W_O          dW_O += dYᵀ O
    linear_backward(SET, d.O.at, &dw->out, dY, a->heads.O.at, &w->out, N, D, D);
    ProfilePart before = profile_enter(PROFILE_ATTENTION);
    for (int s = 0; s < a->queries->sentences; s++)
        for (int h = 0; h < a->H; h++) {
            Head head = head_of(a, w, s, h);
            HeadRows rows = head_rows(a, &d, s, h);
            // (4) to (2)
            head_backward(&rows, dw->scale ? dw->scale + h : NULL, a, &head);
        }
    profile_leave(before);
    // (1) dXq = dQ W_Q          dXkv = dK W_K + dV W_V          dW_Q += dQᵀ Xq, …
    bias_backward(dw->q.b, d.Q.at, N, d.Q.stride);
    linear_backward(q_mode, dXq, &dw->q, d.Q.at, a->Xq, &w->q, N, d.Q.stride, D);
    if (a->self) return;
    bias_backward(dw->k.b, d.K.at, M, 2 * D);
    linear_backward(kv_mode, dXkv, &dw->k, d.K.at, a->Xkv, &w->k, M, 2 * D, D);
}
