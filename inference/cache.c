/* cache.c -- one step of the decoder with the key-value cache of cache.h.
 *
 *   a layer    (1)  q, k, v = x W_{Q,K,V}ᵀ + b         k and v are written to the row's node
 *              (2)  a = LayerNorm(x + attend(q, the keys and values from the root to the row))
 *              (3)  b = LayerNorm(a + attend(a W_Qᵀ + b_Q, source keys and values))
 *              (4)  x = LayerNorm(b + FeedForward(b))
 *
 * (post-norm; in pre-norm the norms are applied before q, k, v, before the second q and before
 * the FeedForward). The rows are those that stacks.c computes for a whole sentence, where the
 * causal mask lets row t see rows 0..t. In (2) each row has keys of its own, scattered over the
 * nodes: the code is plain loops with a dot product for each key and head. In (3) the rows of a
 * sentence share their keys, which are transposed once and used in one small product for each
 * head. Everything else is one product for all rows.
 *
 * A batch may have some thousand tokens, and their activations do not fit into a cache. The
 * encoder therefore runs over one slice of the sentences at a time, in memory for the largest
 * slice. Only the keys and values of the decoder's layers are kept. In K each sentence's keys
 * are transposed and padded with zeros for the product of attention. */
#include "inference/cache.h"

#include "model/embedding.h"
#include "model/linear.h"

/* ---- the encoder, slice by slice ---- */

enum { SLICE_ROWS = 320 };  // tokens; a longer sentence is a slice of its own (docs/speed.md)

/* Some sentences, and the buffers of the encoder for them. */
typedef struct Slice {
    Packed source;
    int first;  // the first sentence
    real *X;    // [N,D]
    real *KV;   // [N,2D] of one layer
    Stack encoder;
    Scratch scratch;
} Slice;

/* The number of sentences in the slice that begins with `first`. */
static int slice_sentences(const Packed *source, int first)
{
    int end = first + 1;
    while (end < source->sentences &&
           source->start[end + 1] - source->start[first] <= SLICE_ROWS)
        end++;
    return end - first;
}

static void slice_layout(Slice *slice, Arena *arena, const ModelConfig *config,
                         const Packed *source, int first)
{
    int S = slice_sentences(source, first), N = source->start[first + S] - source->start[first];
    size_t count = (size_t)N * (size_t)config->d_model;
    // stack_layout reads the lengths, also while measuring: then from the whole source
    int *start = ARENA_TAKE(arena, int, (size_t)S + 1);
    slice->first = first;
    slice->source = start ? packed_slice(start, source, first, first + S)
                          : (Packed){S, N, NULL, source->start + first};
    slice->X = ARENA_TAKE(arena, real, count);
    slice->KV = ARENA_TAKE(arena, real, 2 * count);
    stack_layout(&slice->encoder, arena, config, &slice->source, NULL, NULL, KEEP_OUTPUT);
    scratch_layout(&slice->scratch, arena, config, N, false);
}

/* Takes the buffers of keys and values and of a slice, or measures them (arena.h). */
static void source_layout(Cache *cache, Arena *arena, const ModelConfig *config)
{
    const Packed *source = cache->source;
    size_t D = (size_t)config->d_model, rows = (size_t)source->rows, most = 0;
    for (int l = 0; l < config->decoder_layers; l++) {
        cache->K[l] = ARENA_TAKE(arena, real, (rows + 16 * (size_t)source->sentences) * D);
        cache->V[l] = ARENA_TAKE(arena, real, rows * D);
    }
    for (int s = 0; s < source->sentences; s += slice_sentences(source, s)) {
        Arena measure = {0};
        Slice slice;
        slice_layout(&slice, &measure, config, source, s);
        if (measure.used > most) most = measure.used;
    }
    cache->slice_memory = (Arena){.base = ARENA_TAKE(arena, unsigned char, most), .size = most};
}

/* The keys of a sentence, with memory for head_width of its tokens. */
static real *keys_at(const Cache *cache, int layer, int sentence, const ModelConfig *config)
{
    int column = cache->source->start[sentence] + 16 * sentence;
    return cache->K[layer] + (size_t)column * (size_t)config->d_model;
}

/* Copies the slice's KV [N,2D] to the keys and values of a layer. */
static void keep(Cache *cache, int layer, const Slice *slice, const ModelConfig *config)
{
    int D = config->d_model;
    size_t d = (size_t)D, row = (size_t)cache->source->start[slice->first];
    for (int s = 0; s < slice->source.sentences; s++) {
        Rows keys = {slice->KV + (size_t)slice->source.start[s] * 2 * d, 2 * D};
        real *K = keys_at(cache, layer, slice->first + s, config);
        int m = packed_length(&slice->source, s);
        if (score_functions[config->attention_score].product) head_transpose(K, keys, m, D);
        else
            for (int j = 0; j < m; j++)
                memcpy(K + (size_t)j * d, keys.at + (size_t)j * 2 * d, d * sizeof *K);
    }
    real *V = cache->V[layer] + row * d;
    for (size_t n = 0; n < (size_t)slice->source.rows; n++)
        memcpy(V + n * d, slice->KV + n * 2 * d + d, d * sizeof *V);
}

void cache_encode(Cache *cache, const Transformer *model)
{
    const Packed *source = cache->source;
    const ModelConfig *config = &model->config;
    const Weights *w = &model->weights;
    int D = config->d_model;
    for (int s = 0; s < source->sentences; s += slice_sentences(source, s)) {
        Arena memory = cache->slice_memory;
        Slice slice;
        slice_layout(&slice, &memory, config, source, s);
        embedding_forward(slice.X, &slice.source, false, 0, &w->source_embedding,
                          w->source_positions, D);
        const real *X = stack_forward(&slice.encoder, slice.X, NULL, w, &slice.scratch);
        for (int l = 0; l < config->decoder_layers; l++) {
            const Linear *kv = &w->decoder[l].cross.k;  // of both
            linear_forward(slice.KV, X, kv, slice.source.rows, 2 * D, D);
            keep(cache, l, &slice, config);
        }
    }
    cache->step = cache->nodes = 0;
}

/* ---- the decoder, step by step ---- */

size_t cache_node_bytes(const ModelConfig *config)
{
    return (size_t)config->decoder_layers * 2 * (size_t)config->d_model * sizeof(real);
}

void cache_layout(Cache *cache, Arena *arena, const Transformer *model, const Packed *source,
                  int rows, int steps, int capacity)
{
    const ModelConfig *config = &model->config;
    size_t D = (size_t)config->d_model, H = (size_t)config->heads, R = (size_t)rows,
           nodes = (size_t)capacity;
    int longest = 0;
    *cache = (Cache){.source = source, .rows = rows, .steps = steps, .capacity = capacity};
    source_layout(cache, arena, config);
    for (int s = 0; s < source->sentences; s++)
        if (packed_length(source, s) > longest) longest = packed_length(source, s);
    cache->parent = ARENA_TAKE(arena, int, nodes);
    cache->token = ARENA_TAKE(arena, int, nodes);
    cache->log_probability = ARENA_TAKE(arena, double, nodes);
    cache->first = ARENA_TAKE(arena, int, (size_t)steps + 1);
    cache->id = ARENA_TAKE(arena, int, R);
    cache->start = ARENA_TAKE(arena, int, R + 1);
    for (int r = 0; cache->start && r <= rows; r++) cache->start[r] = r;
    cache->path = ARENA_TAKE(arena, int, (size_t)steps *R);

    cache->X = ARENA_TAKE(arena, real, R * D);
    cache->F = ARENA_TAKE(arena, real, R * D);
    cache->QKV = ARENA_TAKE(arena, real, R * 3 * D);
    cache->O = ARENA_TAKE(arena, real, R * D);
    size_t self = H * (size_t)head_width(steps);
    size_t cross = (R > H ? R : H) * (size_t)head_width(longest);
    cache->P = ARENA_TAKE(arena, real, self > cross ? self : cross);
    cache->value = ARENA_TAKE(arena, const real *, (size_t)(steps > longest ? steps : longest));
    real *sum = NULL;
    if (config->norm == NORM_PRE) {
        sum = ARENA_TAKE(arena, real, R * D);
        layernorm_layout(&cache->norm_last, arena, config, rows);
    }
    addnorm_layout(&cache->self_norm, arena, config, rows, sum, NULL, 0);
    addnorm_layout(&cache->cross_norm, arena, config, rows, sum, NULL, 0);
    addnorm_layout(&cache->final_norm, arena, config, rows, sum, NULL, 0);
    feedforward_layout(&cache->ffn, arena, rows, config, NULL, 0);
    cache->KV = ARENA_TAKE(arena, real, nodes * (size_t)config->decoder_layers * 2 * D);
}

static inline const Vector *vector_at(const real *x)
{
    return (const Vector *)x;
}

/* The key of a node of step t; its value follows. */
static real *node_at(const Cache *cache, int t, int node, int layer, const ModelConfig *config)
{
    size_t first = (size_t)cache->first[t], rows = (size_t)cache->first[t + 1] - first;
    size_t at =
        first * (size_t)config->decoder_layers + (size_t)layer * rows + ((size_t)node - first);
    return cache->KV + at * 2 * (size_t)config->d_model;
}

/* o [D] (=) the values v[0 .. n-1] [D] weighted by P [H,width], head by head. Blocks whose sums
 * stay in registers make greedy search 7 % faster than the loop for the rest alone. */
static void weigh_values(real *o, const real *P, int width, const real *const *v, int n, int H,
                         int dh)
{
    enum { BLOCK = 32, VECTORS = BLOCK / LANES };
    memset(o, 0, (size_t)(H * dh) * sizeof *o);
    for (int h = 0, k = 0; h < H; h++, P += width) {
        for (; k + BLOCK <= (h + 1) * dh; k += BLOCK) {
            Vector sum[VECTORS] = {0};
            for (int j = 0; j < n; j++)
                for (int i = 0; i < VECTORS; i++) sum[i] += P[j] * vector_at(v[j] + k)[i];
            memcpy(o + k, sum, sizeof sum);
        }
        for (int j = 0; k < (h + 1) * dh && j < n; j++) {
#pragma omp simd
            for (int c = k; c < (h + 1) * dh; c++) o[c] += P[j] * v[j][c];
        }
        k = (h + 1) * dh;
    }
}

/* o [D] (=) the values cache->value[0 .. n-1] weighted by the softmax of cache->P [H,width] times
 * the scale. */
static void attend(real *o, const Cache *cache, int n, const AttentionWeights *w,
                   const ModelConfig *config)
{
    int H = config->heads, width = head_width(n);
    for (int h = 0; h < H; h++) {
        real *P = cache->P + h * width, scale = attention_scale(config, w, h);
        for (int j = 0; j < n; j++) P[j] *= scale;
        softmax_row(P, n);
    }
    weigh_values(o, cache->P, width, cache->value, n, H, config->d_model / H);
}

/* o [D] (=) self-attention of one row over the nodes of its path.   q [D]   path [n] */
static void attend_self(real *o, const real *q, const Cache *cache, const int *path, int layer,
                        const AttentionWeights *w, const ModelConfig *config)
{
    const ScoreFunction *score = &score_functions[config->attention_score];
    int n = cache->step + 1, width = head_width(n);
    int D = config->d_model, H = config->heads, dh = D / H;
    for (int j = 0; j < n; j++) {
        const real *k = node_at(cache, j, path[j], layer, config);
        cache->value[j] = k + D;
        for (int h = 0; h < H; h++)
            cache->P[h * width + j] = score->product
                                          ? dot_product(q + h * dh, k + h * dh, dh)
                                          : score->compare(q + h * dh, k + h * dh, dh);
    }
    attend(o, cache, n, w, config);
}

/* P [heads,width] (=) q · K of some heads, which are computed together, since a sum is a chain
 * of additions.   q [heads,dh]   K [heads,dh,width] */
static inline __attribute__((always_inline)) void
source_scores(real *P, const real *q, const real *K, int width, int dh, const int heads)
{
    enum { VECTORS = 16 / LANES };  // head_width is a multiple of 16
    for (int j = 0; j < width; j += 16) {
        Vector sum[4][VECTORS] = {0};
        for (int k = 0; k < dh; k++)
            for (int h = 0; h < heads; h++)
                for (int i = 0; i < VECTORS; i++)
                    sum[h][i] += q[h * dh + k] * vector_at(K + (h * dh + k) * width + j)[i];
        for (int h = 0; h < heads; h++) memcpy(P + h * width + j, sum[h], sizeof sum[h]);
    }
}

/* o [D] (=) encoder-decoder attention of the only row of a sentence.   q [D]
 * Greedy search takes 9 % longer with the general products of attend_source. */
static void attend_source_row(real *o, const real *q, const real *K, const real *V,
                              const Cache *cache, int m, const AttentionWeights *w,
                              const ModelConfig *config)
{
    int D = config->d_model, H = config->heads, dh = D / H, width = head_width(m), h = 0;
    real *P = cache->P;  // [H,width]
    for (; h + 4 <= H; h += 4)
        source_scores(P + h * width, q + h * dh, K + h * dh * width, width, dh, 4);
    for (; h < H; h++)
        source_scores(P + h * width, q + h * dh, K + h * dh * width, width, dh, 1);
    for (int j = 0; j < m; j++) cache->value[j] = V + (size_t)j * (size_t)D;
    attend(o, cache, m, w, config);
}

/* O [rows,D] (=) encoder-decoder attention of the rows of one sentence.   Q [rows,D] */
static void attend_source(real *O, real *Q, const Cache *cache, int layer, int sentence,
                          int rows, const AttentionWeights *w, const ModelConfig *config)
{
    const ScoreFunction *score = &score_functions[config->attention_score];
    int D = config->d_model, H = config->heads, dh = D / H;
    int m = packed_length(cache->source, sentence), width = head_width(m);
    real *K = keys_at(cache, layer, sentence, config);
    const real *V = cache->V[layer] + (size_t)cache->source->start[sentence] * (size_t)D;
    real *P = cache->P;
    if (rows == 1 && score->product) {
        attend_source_row(O, Q, K, V, cache, m, w, config);
        return;
    }
    for (int h = 0; h < H; h++) {
        real scale = attention_scale(config, w, h);
        if (score->product)
            small_gemm(SET, P, width, (Strided){Q + h * dh, D, 1},
                       K + (size_t)(h * dh) * (size_t)width, width, rows, width, dh, scale);
        else
            scores_forward((Rows){P, width}, score, (Rows){Q + h * dh, D},
                           (Rows){K + h * dh, D}, scale, rows, m, dh);
        for (int i = 0; i < rows; i++) softmax_row(P + i * width, m);
        small_gemm(SET, O + h * dh, D, (Strided){P, width, 1}, V + h * dh, D, rows, dh, m, 1);
    }
}

/* Adds the nodes of this step, and fills in each row's path. */
static void add_nodes(Cache *cache, const Prefix *prefix, int count)
{
    assert(count <= cache->rows && cache->step < cache->steps);
    assert(cache->nodes + count <= cache->capacity);
    cache->first[cache->step] = cache->nodes;
    cache->first[cache->step + 1] = cache->nodes + count;
    for (int r = 0; r < count; r++) {
        int node = cache->nodes + r, *path = cache->path + (size_t)r * (size_t)cache->steps;
        cache->parent[node] = prefix[r].parent;
        cache->token[node] = cache->id[r] = prefix[r].token;
        cache->log_probability[node] = prefix[r].log_probability;
        for (int t = cache->step; t >= 0; t--, node = cache->parent[node]) path[t] = node;
        assert(node == NO_NODE);
    }
}

const real *cache_step(Cache *cache, const Transformer *model, const Prefix *prefix, int count)
{
    const ModelConfig *config = &model->config;
    int D = config->d_model;
    size_t d = (size_t)D;
    Packed rows = {count, count, cache->id, cache->start};
    real *X = cache->X, *F = cache->F, *O = cache->O, *Q = cache->QKV;
    const Weights *w = &model->weights;
    const real *P = w->target_positions;

    add_nodes(cache, prefix, count);
    embedding_forward(X, &rows, false, 0, &w->target_embedding,
                      P ? P + (size_t)cache->step * d : NULL, D);
    const real *x = X, *input;
    for (int l = 0; l < config->decoder_layers; l++) {
        const LayerWeights *p = &w->decoder[l];
        input = addnorm_input(&cache->self_norm, x, p->self_norm, count);
        linear_forward(cache->QKV, input, &p->self.q, count, 3 * D, D);  // (1)
        real *KV = node_at(cache, cache->step, cache->nodes, l, config);
        for (size_t r = 0; r < (size_t)count; r++)
            memcpy(KV + r * 2 * d, cache->QKV + r * 3 * d + d, 2 * d * sizeof *KV);

        for (int r = 0; r < count; r++)  // (2)
            attend_self(O + (size_t)r * d, cache->QKV + (size_t)r * 3 * d, cache,
                        cache->path + (size_t)r * (size_t)cache->steps, l, &p->self, config);
        linear_forward(F, O, &p->self.out, count, D, D);
        x = addnorm_output(&cache->self_norm, x, F, p->self_norm, &rows);

        input = addnorm_input(&cache->cross_norm, x, p->cross_norm, count);
        linear_forward(Q, input, &p->cross.q, count, D, D);  // (3)
        for (int r = 0, next; r < count; r = next) {
            for (next = r + 1; next < count && prefix[next].sentence == prefix[r].sentence;)
                next++;
            attend_source(O + (size_t)r * d, Q + (size_t)r * d, cache, l, prefix[r].sentence,
                          next - r, &p->cross, config);
        }
        linear_forward(F, O, &p->cross.out, count, D, D);
        x = addnorm_output(&cache->cross_norm, x, F, p->cross_norm, &rows);

        input = addnorm_input(&cache->final_norm, x, p->final_norm, count);
        feedforward_forward(F, &cache->ffn, input, &p->ffn, &rows);  // (4)
        x = addnorm_output(&cache->final_norm, x, F, p->final_norm, &rows);
    }
    cache->nodes += count;
    cache->step++;
    if (config->norm != NORM_PRE) return x;
    layernorm_forward(X, &cache->norm_last, x, w->decoder_last, count);
    return X;
}

int cache_tokens(int *id, const Cache *cache, int node)
{
    int count = 0;
    for (int up = cache->parent[node]; up != NO_NODE; up = cache->parent[up]) count++;
    for (int i = count - 1; i >= 0; i--, node = cache->parent[node]) id[i] = cache->token[node];
    return count;
}

int cache_hypothesis(int *id, double *each, const Cache *cache, int node,
                     double log_probability)
{
    int count = cache_tokens(id, cache, node);
    id[count] = ID_END;
    for (int i = count; i >= 0; i--, node = cache->parent[node]) {
        each[i] = log_probability - cache->log_probability[node];
        log_probability = cache->log_probability[node];
    }
    return count + 1;
}
