/* attention.c -- multi-head attention (Vaswani et al. 2017, §3.2.2), and what stands beside the
 * steps of head.c.
 *
 *   forward    (1)  Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
 *              (2) to (4)   head.c, for every sentence and head, on its dh = D/H columns
 *              (5)  Y = O W_Oᵀ + b_O
 *   backward   (5)  dO = dY W_O                     dW_O += dYᵀ O           db_O += Σ_rows dY
 *              (4) to (2)
 *              (1)  dXq = dQ W_Q                    dXkv = dK W_K + dV W_V
 *                   dW_Q += dQᵀ Xq, …               db_Q += Σ_rows dQ, …
 *
 * Beside head.c:
 *   score functions that are no products of queries and keys (scorefunction.h)
 *   guided alignment: -Σ G ln P, whose gradient is (3) dS += P ⊙ Σ_j G - G
 *   gradients that are kept, to show them
 *   maps in blocks */
#include "model/attention.h"

#include "base/real.h"
#include "model/linear.h"

real attention_scale(const ModelConfig *config, const AttentionWeights *w, int head)
{
    const ScoreFunction *score = &score_functions[config->attention_score];
    return w->scale ? w->scale[head] : score_scale(score, config->d_model / config->heads);
}

size_t attention_map_at(const Attention *a, int sentence, int head)
{
    size_t maps = a->map[sentence + 1] - a->map[sentence];
    return a->map[sentence] + maps / (size_t)a->config->heads * (size_t)head;
}

/* The queries of sentence s whose rows of a map fit a block; all, or equal parts of them. */
static int block_rows(const Attention *a, int s)
{
    int n = packed_length(a->queries, s), width = head_width(packed_length(a->keys, s));
    int blocks = (int)(1 + ((size_t)n * (size_t)width - 1) / a->block);
    return (n + blocks - 1) / blocks;
}

/* The rows of all heads in buffer [2(n+m),D].
 * self-attention: QKV [n,3D], O [n,D]; cross-attention: Q [n,D], KV [m,2D], O [n,D] */
static HeadRows heads_in(real *buffer, const Attention *a)
{
    int D = a->config->d_model, q = a->self ? 3 * D : D, kv = a->self ? 3 * D : 2 * D;
    size_t n = (size_t)a->queries->rows, m = (size_t)a->keys->rows, d = (size_t)D;
    real *K = a->self ? buffer + d : buffer + n * d;
    real *O = a->self ? buffer + 3 * n * d : K + 2 * m * d;
    return (HeadRows){{buffer, q}, {K, kv}, {K + d, kv}, {O, D}};
}

static HeadRows heads_layout(const Attention *a, Arena *arena)
{
    size_t rows = 2 * ((size_t)a->queries->rows + (size_t)a->keys->rows);
    real *buffer = ARENA_TAKE(arena, real, rows * (size_t)a->config->d_model);
    return buffer ? heads_in(buffer, a) : (HeadRows){0};
}

void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, uint32_t place, bool training, size_t block)
{
    int S = queries->sentences;
    size_t H = (size_t)config->heads, dh = (size_t)config->d_model / H;
    size_t total = 0, widest = 0, largest = 0, shared = 0;
    *a = (Attention){.config = config,
                     .queries = queries,
                     .keys = keys ? keys : queries,
                     .self = !keys,
                     .causal = causal,
                     .score = &score_functions[config->attention_score],
                     .block = block};
    a->map = ARENA_TAKE(arena, size_t, (size_t)S + 1);
    for (int s = 0; s < S; s++) {
        size_t width = (size_t)head_width(packed_length(a->keys, s));
        size_t rows = (size_t)block_rows(a, s), one = rows * width;
        if (a->map) a->map[s] = total;
        if (rows == (size_t)packed_length(queries, s)) total += H * one;
        else if (one > shared) shared = one;
        if (one > largest) largest = one;
        if (width > widest) widest = width;
    }
    if (a->map) a->map[S] = total;
    a->numbers = total;
    a->heads = heads_layout(a, arena);
    a->P = ARENA_TAKE(arena, real, total + shared);
    a->Kt = a->Vt = ARENA_TAKE(arena, real, dh * widest);
    if (shared && training) {
        a->Vt = ARENA_TAKE(arena, real, dh * widest);
        a->sums = ARENA_TAKE(arena, RowSum, H * (size_t)queries->rows);
    }
    if (training) {
        a->Pd = ARENA_TAKE(arena, real, largest);
        a->dP = ARENA_TAKE(arena, real, largest);
    }
    a->mask =
        dropout_layout(arena, total + shared, dropout, dropout ? dropout->attention : 0, place);
}

static Rows rows_from(Rows X, int row, int column)
{
    return (Rows){X.at + (size_t)row * (size_t)X.stride + column, X.stride};
}

/* The part of `all` that belongs to one head of one sentence, its queries from `first` on. */
static HeadRows head_rows(const Attention *a, const HeadRows *all, int sentence, int head,
                          int first)
{
    int query = a->queries->start[sentence] + first, key = a->keys->start[sentence],
        column = head * (a->config->d_model / a->config->heads);
    return (HeadRows){rows_from(all->Q, query, column), rows_from(all->K, key, column),
                      rows_from(all->V, key, column), rows_from(all->O, query, column)};
}

/* The block of a head's queries that ends before `end`: all queries, unless the map is large.
 *
 * A large map is not kept until backward. Both passes hold a block of its rows at a time, and
 * backward computes the block and its dropout mask again, from what forward saved of each row,
 * its largest score and the inverse of its sum (docs/speed.md); dV and dK are sums over the
 * blocks. Dao et al. 2022, FlashAttention (arXiv 2205.14135), who cut the keys too; here a row
 * is whole, so that its softmax is the same. Causal blocks leave out the keys that none of their
 * rows sees. */
static AttentionHead block_of(const Attention *a, const AttentionWeights *w, int sentence,
                              int head, int end)
{
    int n = packed_length(a->queries, sentence), m = packed_length(a->keys, sentence);
    int rows = block_rows(a, sentence), first = end > rows ? end - rows : 0;
    bool large = rows < n;
    size_t at = large ? a->numbers : attention_map_at(a, sentence, head);
    AttentionHead b = {.n = end - first,
                       .m = a->causal ? end : m,
                       .dh = a->config->d_model / a->config->heads,
                       .causal = a->causal,
                       .large = large,
                       .mode = end == n ? SET : ADD,
                       .scale = attention_scale(a->config, w, head),
                       .x = head_rows(a, &a->heads, sentence, head, first),
                       .P = a->P + at,
                       .mask = a->mask,
                       .Kt = {a->Kt, head_width(m)},
                       .Vt = {a->Vt, head_width(m)},
                       .Pd = a->Pd,
                       .dP = a->dP};
    if (b.mask.keep) b.mask.keep += at;
    if (!large) return b;
    if (a->sums)
        b.sums = a->sums + (size_t)head * (size_t)a->queries->rows +
                 a->queries->start[sentence] + first;
    // its numbers among all of the sentence's maps, whose rows are those of the whole
    at = ((size_t)head * (size_t)n + (size_t)first) * (size_t)head_width(m);
    if (b.mask.keep)
        dropout_sentence(b.mask.keep, at, (size_t)b.n * (size_t)head_width(b.m), &a->mask,
                         sentence);
    return b;
}

/* ---- beside head.c ---- */

static Rows map_of(real *P, const AttentionHead *h)
{
    return (Rows){P, head_width(h->m)};
}

/* (2) and (3) with any score function */
static void weights_forward(const Attention *a, const AttentionHead *h)
{
    if (a->score->product) head_scores(h);
    else scores_forward(map_of(h->P, h), a->score, h->x.Q, h->x.K, h->scale, h->n, h->m, h->dh);
    head_softmax(h);
}

/* (3) dS += P ⊙ Σ_j G - G   dS, G as P */
static void guide_backward(real *dS, const real *G, const AttentionHead *h)
{
    int width = head_width(h->m);
    const real *P = h->P;
    for (int i = 0; i < h->n; i++, dS += width, P += width, G += width) {
        real sum = 0;
        for (int j = 0; j < width; j++) sum += G[j];
        for (int j = 0; j < width; j++) dS[j] += P[j] * sum - G[j];
    }
}

/* (4) to (2), with any score function.
 * dscale (+=), or NULL if it is not learned   at: of its map, if that is kept */
static void block_backward(const HeadRows *d, real *dscale, const Attention *a,
                           const AttentionHead *h, size_t at, bool guided)
{
    size_t bytes = (size_t)h->n * (size_t)head_width(h->m) * sizeof(real);
    head_values_backward(d, h);
    if (a->kept_dP) memcpy(a->kept_dP + at, h->dP, bytes);
    head_softmax_backward(h);
    if (guided) guide_backward(h->dP, a->guide + at / (size_t)a->config->heads, h);
    if (a->kept_dS) memcpy(a->kept_dS + at, h->dP, bytes);
    if (a->score->product) head_scores_backward(d, h);
    else
        scores_backward(h->mode, d->Q, d->K, dscale, map_of(h->dP, h), a->score, h->x.Q, h->x.K,
                        h->scale, h->n, h->m, h->dh);
}

void attention_keep(Attention *a, Arena *arena)
{
    a->kept = heads_layout(a, arena);
    a->kept_dP = ARENA_TAKE(arena, real, a->numbers);
    a->kept_dS = ARENA_TAKE(arena, real, a->numbers);
}

/* ---- multi-head attention ---- */

static void heads_forward(const Attention *a, const AttentionWeights *w)
{
    for (int s = 0; s < a->queries->sentences; s++)
        for (int h = 0; h < a->config->heads; h++)
            for (int end = packed_length(a->queries, s); end > 0;) {
                AttentionHead b = block_of(a, w, s, h, end);
                weights_forward(a, &b);
                head_values(&b);
                end -= b.n;
            }
}

static void heads_backward(const HeadRows *d, AttentionWeights *dw, const Attention *a,
                           const AttentionWeights *w)
{
    for (int s = 0; s < a->queries->sentences; s++)
        for (int h = 0; h < a->config->heads; h++)
            for (int end = packed_length(a->queries, s); end > 0;) {
                AttentionHead b = block_of(a, w, s, h, end);
                end -= b.n;
                HeadRows rows = head_rows(a, d, s, h, end);
                b.again = b.large;
                if (b.again) weights_forward(a, &b);
                block_backward(&rows, dw->scale ? dw->scale + h : NULL, a, &b,
                               attention_map_at(a, s, h), a->guide && h == 0 && !b.large);
            }
}

void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w)
{
    int D = a->config->d_model, N = a->queries->rows, M = a->keys->rows;
    a->Xq = Xq;
    a->Xkv = a->self ? Xq : Xkv;
    for (int s = 0; a->mask.keep && s < a->queries->sentences; s++)
        dropout_sentence(a->mask.keep + a->map[s], 0, a->map[s + 1] - a->map[s], &a->mask, s);

    // (1) Q = Xq W_Qᵀ + b_Q     K = Xkv W_Kᵀ + b_K     V = Xkv W_Vᵀ + b_V
    linear_forward(a->heads.Q.at, Xq, &w->q, N, a->heads.Q.stride, D);
    if (!a->self) linear_forward(a->heads.K.at, Xkv, &w->k, M, 2 * D, D);
    // (2) to (4)
    heads_forward(a, w);
    // (5) Y = O W_Oᵀ + b_O
    linear_forward(Y, a->heads.O.at, &w->out, N, D, D);
}

void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *scratch, const real *dY, const Attention *a,
                        const AttentionWeights *w)
{
    int D = a->config->d_model, N = a->queries->rows, M = a->keys->rows;
    HeadRows d = a->kept.Q.at ? a->kept : heads_in(scratch, a);

    // (5) dO = dY W_O          dW_O += dYᵀ O
    linear_backward(SET, d.O.at, &dw->out, dY, a->heads.O.at, &w->out, N, D, D);
    // (4) to (2)
    heads_backward(&d, dw, a, w);
    // (1) dXq = dQ W_Q          dXkv = dK W_K + dV W_V          dW_Q += dQᵀ Xq, …
    //     self-attention: d.Q has dQ, dK and dV side by side, and q is W_Q, W_K and W_V (params.h)
    linear_backward(q_mode, dXq, &dw->q, d.Q.at, a->Xq, &w->q, N, d.Q.stride, D);
    if (!a->self) linear_backward(kv_mode, dXkv, &dw->k, d.K.at, a->Xkv, &w->k, M, 2 * D, D);
}
