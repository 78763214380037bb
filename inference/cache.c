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
 * head. Everything else is one product for all rows. */
#include "inference/cache.h"

#include <assert.h>
#include <string.h>

#include "base/profile.h"
#include "model/embedding.h"
#include "model/linear.h"

size_t cache_node_bytes(const ModelConfig *config)
{
    return (size_t)config->decoder_layers * 2 * (size_t)config->d_model * sizeof(real);
}

void cache_layout(Cache *cache, Arena *arena, const Transformer *model, const Packed *source,
                  int rows, int steps, int capacity)
{
    const ModelConfig *config = &model->config;
    size_t D = (size_t)config->d_model, R = (size_t)rows, nodes = (size_t)capacity;
    int longest = 0;
    *cache = (Cache){.rows = rows, .steps = steps, .capacity = capacity};
    encoded_layout(&cache->encoded, arena, model, source);
    for (int s = 0; s < source->sentences; s++)
        if (packed_length(source, s) > longest) longest = packed_length(source, s);
    cache->parent = ARENA_TAKE(arena, int, nodes);
    cache->token = ARENA_TAKE(arena, int, nodes);
    cache->first = ARENA_TAKE(arena, int, (size_t)steps + 1);
    cache->id = ARENA_TAKE(arena, int, R);
    cache->start = ARENA_TAKE(arena, int, R + 1);
    for (int r = 0; cache->start && r <= rows; r++) cache->start[r] = r;
    cache->path = ARENA_TAKE(arena, int, (size_t)steps *R);

    cache->X = ARENA_TAKE(arena, real, R * D);
    cache->F = ARENA_TAKE(arena, real, R * D);
    cache->QKV = ARENA_TAKE(arena, real, R * 3 * D);
    cache->O = ARENA_TAKE(arena, real, R * D);
    size_t self = (size_t)config->heads * (size_t)attention_width(steps);
    size_t cross = R * (size_t)attention_width(longest);
    cache->P = ARENA_TAKE(arena, real, self > cross ? self : cross);
    real *stream = addnorm_layout_first(&cache->norm_first, arena, config, rows);
    addnorm_layout(&cache->self_norm, arena, config, rows, stream, NULL);
    addnorm_layout(&cache->cross_norm, arena, config, rows, stream, NULL);
    addnorm_layout(&cache->final_norm, arena, config, rows, stream, NULL);
    feedforward_layout(&cache->ffn, arena, rows, config, NULL, false);
    cache->KV = ARENA_TAKE(arena, real, nodes * (size_t)config->decoder_layers * 2 * D);
}

void cache_encode(Cache *cache, const Transformer *model)
{
    encoded_compute(&cache->encoded, model);
    cache->step = cache->nodes = 0;
}

/* The key of a node of step t; its value follows. */
static real *node_at(const Cache *cache, int t, int node, int layer, const ModelConfig *config)
{
    size_t first = (size_t)cache->first[t], rows = (size_t)cache->first[t + 1] - first;
    size_t at =
        first * (size_t)config->decoder_layers + (size_t)layer * rows + ((size_t)node - first);
    return cache->KV + at * 2 * (size_t)config->d_model;
}

static real dot(const real *x, const real *y, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

/* o [D] (=) self-attention of one row over the nodes of its path.   q [D]   path [n] */
static void attend_self(real *o, const real *q, const Cache *cache, const int *path, int layer,
                        const ModelConfig *config)
{
    int n = cache->step + 1, width = attention_width(n);
    int D = config->d_model, H = config->heads, dh = D / H;
    real *P = cache->P, scale = attention_scale(dh);  // [H,width]
    for (int j = 0; j < n; j++) {
        const real *k = node_at(cache, j, path[j], layer, config);
        for (int h = 0; h < H; h++) P[h * width + j] = scale * dot(q + h * dh, k + h * dh, dh);
    }
    for (int h = 0; h < H; h++) softmax_row(P + h * width, n);
    memset(o, 0, (size_t)D * sizeof *o);
    for (int j = 0; j < n; j++) {
        const real *v = node_at(cache, j, path[j], layer, config) + D;
        for (int h = 0; h < H; h++) {
            real p = P[h * width + j];
#pragma omp simd
            for (int k = h * dh; k < (h + 1) * dh; k++) o[k] += p * v[k];
        }
    }
}

/* O [rows,D] (=) encoder-decoder attention of the rows of one sentence.   Q [rows,D] */
static void attend_source(real *O, const real *Q, const Cache *cache, int layer, int sentence,
                          int rows, const ModelConfig *config)
{
    const Encoded *encoded = &cache->encoded;
    int D = config->d_model, H = config->heads, dh = D / H;
    int m = packed_length(encoded->source, sentence), width = attention_width(m);
    const real *Kt = encoded->layer[layer].Kt + encoded->keys[sentence];
    const real *V =
        encoded->layer[layer].V + (size_t)encoded->source->start[sentence] * (size_t)D;
    real *P = cache->P, scale = attention_scale(dh);
    for (int h = 0; h < H; h++) {
        small_gemm(P, width, (Strided){Q + h * dh, D, 1}, Kt + (size_t)(h * dh) * (size_t)width,
                   width, rows, width, dh, scale);
        for (int i = 0; i < rows; i++) softmax_row(P + i * width, m);
        small_gemm(O + h * dh, D, (Strided){P, width, 1}, V + h * dh, D, rows, dh, m, 1);
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
    const real *P = model->target_positions;

    ProfilePart part = profile_enter(PROFILE_LINEAR);
    add_nodes(cache, prefix, count);
    embedding_forward(X, &rows, false, 0, &w->target_embedding,
                      P ? P + (size_t)cache->step * d : NULL, NULL, D);
    Stream s = addnorm_first(&cache->norm_first, X, w->decoder_first, config, count);
    for (int l = 0; l < config->decoder_layers; l++) {
        const LayerWeights *p = &w->decoder[l];
        linear_forward(cache->QKV, s.Y, &p->self.q, p->self.q.b, count, 3 * D, D);  // (1)
        real *KV = node_at(cache, cache->step, cache->nodes, l, config);
        for (size_t r = 0; r < (size_t)count; r++)
            memcpy(KV + r * 2 * d, cache->QKV + r * 3 * d + d, 2 * d * sizeof *KV);

        profile_enter(PROFILE_ATTENTION);
        for (int r = 0; r < count; r++)  // (2)
            attend_self(O + (size_t)r * d, cache->QKV + (size_t)r * 3 * d, cache,
                        cache->path + (size_t)r * (size_t)cache->steps, l, config);
        profile_enter(PROFILE_LINEAR);
        linear_forward(F, O, &p->self.out, NULL, count, D, D);
        s = addnorm_forward(&cache->self_norm, s, F, p->self.out.b, p->self_norm, &rows, NULL,
                            0);

        linear_forward(Q, s.Y, &p->cross.q, p->cross.q.b, count, D, D);  // (3)
        profile_enter(PROFILE_ATTENTION);
        for (int r = 0, next; r < count; r = next) {
            for (next = r + 1; next < count && prefix[next].sentence == prefix[r].sentence;)
                next++;
            attend_source(O + (size_t)r * d, Q + (size_t)r * d, cache, l, prefix[r].sentence,
                          next - r, config);
        }
        profile_enter(PROFILE_LINEAR);
        linear_forward(F, O, &p->cross.out, NULL, count, D, D);
        s = addnorm_forward(&cache->cross_norm, s, F, p->cross.out.b, p->cross_norm, &rows,
                            NULL, 0);

        feedforward_forward(F, &cache->ffn, s.Y, &p->ffn, &rows, NULL, 0);  // (4)
        s = addnorm_forward(&cache->final_norm, s, F, p->ffn.fc2.b, p->final_norm, &rows, NULL,
                            0);
    }
    cache->nodes += count;
    cache->step++;
    profile_leave(part);
    return s.Y;
}

int cache_tokens(int *id, const Cache *cache, int node)
{
    int count = 0;
    for (int up = cache->parent[node]; up != NO_NODE; up = cache->parent[up]) count++;
    for (int i = count - 1; i >= 0; i--, node = cache->parent[node]) id[i] = cache->token[node];
    return count;
}

void cache_written(int *id, const Cache *cache, int row)
{
    const int *path = cache->path + (size_t)row * (size_t)cache->steps;
    for (int t = 1; t < cache->step; t++) id[t - 1] = cache->token[path[t]];
}
