/* snapshot.c -- the attention of one sentence pair; see snapshot.h. */
#include "inference/snapshot.h"

#include "inference/search.h"

const char *const attention_kind_names[] = {"encoder", "decoder", "cross"};

/* A copy of the sentence, as a batch of one.   start [2] */
static void pack(Packed *packed, int start[2], Arena *arena, const int *id, int length)
{
    int *copy = ARENA_TAKE(arena, int, (size_t)length);
    if (copy) memcpy(copy, id, (size_t)length * sizeof *id);
    start[0] = 0, start[1] = length;
    *packed = (Packed){1, length, copy, start};
}

static void layout(Snapshot *snapshot, const Packed *source, const Packed *target, Keep keep)
{
    pack(&snapshot->source, snapshot->source_start, &snapshot->arena, source->id, source->rows);
    pack(&snapshot->target, snapshot->target_start, &snapshot->arena, target->id, target->rows);
    transformer_layout(&snapshot->activations, &snapshot->arena, snapshot->model,
                       &snapshot->source, &snapshot->target, NULL, keep);
}

Snapshot *snapshot_open_for(const Transformer *model, const Packed *source,
                            const Packed *target, Keep keep, Error *error)
{
    if (!sentence_check(source->id, source->rows, &model->config, true, error))
        return error_prefix(error, "source"), NULL;
    if (!sentence_check(target->id, target->rows, &model->config, false, error))
        return error_prefix(error, "target"), NULL;
    Snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (snapshot) {
        snapshot->model = model;
        layout(snapshot, source, target, keep);
    }
    if (!snapshot || !arena_reserve(&snapshot->arena, NULL)) {
        error_memory(error, "for the attention of %d and %d tokens", source->rows,
                     target->rows);
        return snapshot_close(snapshot), NULL;
    }
    layout(snapshot, source, target, keep);
    transformer_forward(&snapshot->activations, model);
    return snapshot;
}

Snapshot *snapshot_open(const Transformer *model, const int *source, int source_length,
                        const int *target, int target_length, Error *error)
{
    return snapshot_open_for(model, &(Packed){1, source_length, source, NULL},
                             &(Packed){1, target_length, target, NULL}, KEEP_ATTENTION, error);
}

void snapshot_close(Snapshot *snapshot)
{
    if (snapshot) arena_free(&snapshot->arena);
    free(snapshot);
}

const Snapshot *snapshot_get(LazySnapshot *lazy, Error *error)
{
    if (!lazy->taken)
        lazy->taken = snapshot_open(lazy->model, lazy->source, lazy->source_length,
                                    lazy->target, lazy->target_length, error);
    if (!lazy->taken) return NULL;
    memcpy(lazy->taken->unknown, lazy->unknown, sizeof lazy->unknown);
    lazy->taken->each = lazy->each;
    return lazy->taken;
}

int snapshot_layers(const Snapshot *snapshot, AttentionKind kind)
{
    return kind == ATTENTION_ENCODER ? snapshot->activations.encoder.layers
                                     : snapshot->activations.decoder.layers;
}

void snapshot_drop(LazySnapshot *lazy)
{
    snapshot_close(lazy->taken);
    lazy->taken = NULL;
}

static const Attention *attention_of(const Snapshot *snapshot, AttentionKind kind, int layer,
                                     int head)
{
    assert(layer >= 0 && layer < snapshot_layers(snapshot, kind) && head >= 0 &&
           head < snapshot->model->config.heads);
    const Activations *a = &snapshot->activations;
    return kind == ATTENTION_ENCODER   ? &a->encoder.layer[layer].self
           : kind == ATTENTION_DECODER ? &a->decoder.layer[layer].self
                                       : &a->decoder.layer[layer].cross;
}

SnapshotRows snapshot_map(const Snapshot *snapshot, AttentionKind kind, int layer, int head)
{
    const Attention *attention = attention_of(snapshot, kind, layer, head);
    int columns = attention->keys->rows;
    return (SnapshotRows){attention->P + attention_map_at(attention, 0, head),
                          attention->queries->rows, columns, head_width(columns)};
}

SnapshotRows snapshot_embedded(const Snapshot *snapshot, bool source)
{
    int D = snapshot->model->config.d_model;
    const Activations *a = &snapshot->activations;
    return source ? (SnapshotRows){a->X_source, snapshot->source.rows, D, D}
                  : (SnapshotRows){a->X_target, snapshot->target.rows, D, D};
}

HeadVectors snapshot_vectors(const Snapshot *snapshot, AttentionKind kind, int layer, int head)
{
    const Attention *a = attention_of(snapshot, kind, layer, head);
    int n = a->queries->rows, m = a->keys->rows, D = a->config->d_model,
        dh = D / a->config->heads, at = head * dh;
    const HeadRows *all = &a->heads;
    const AttentionWeights *w = attention_weights(&snapshot->model->weights, kind, layer);
    return (HeadVectors){.Xq = {a->Xq, n, D, D},
                         .Xkv = {a->Xkv, m, D, D},
                         .Q = {all->Q.at + at, n, dh, all->Q.stride},
                         .K = {all->K.at + at, m, dh, all->K.stride},
                         .V = {all->V.at + at, m, dh, all->V.stride},
                         .O = {all->O.at + at, n, dh, all->O.stride},
                         .scale = (double)attention_scale(&snapshot->model->config, w, head)};
}

HeadGradients snapshot_gradients(const Snapshot *snapshot, AttentionKind kind, int layer,
                                 int head)
{
    const Attention *a = attention_of(snapshot, kind, layer, head);
    HeadGradients d = {snapshot_vectors(snapshot, kind, layer, head),
                       snapshot_map(snapshot, kind, layer, head),
                       snapshot_map(snapshot, kind, layer, head)};
    int at = head * (a->config->d_model / a->config->heads);
    size_t map = attention_map_at(a, 0, head);
    d.x.Q.at = a->kept.Q.at + at, d.x.K.at = a->kept.K.at + at;
    d.x.V.at = a->kept.V.at + at, d.x.O.at = a->kept.O.at + at;
    d.P.at = a->kept_dP + map, d.S.at = a->kept_dS + map;
    return d;
}

void snapshot_weights(float *out, const Snapshot *snapshot, AttentionKind kind, int layer,
                      int head)
{
    int first = head < 0 ? 0 : head, end = head < 0 ? snapshot->model->config.heads : head + 1;
    SnapshotRows map = snapshot_map(snapshot, kind, layer, first);
    size_t count = (size_t)map.rows * (size_t)map.columns;
    memset(out, 0, count * sizeof *out);
    for (int h = first; h < end; h++) {
        map = snapshot_map(snapshot, kind, layer, h);
        for (int i = 0; i < map.rows; i++)
            for (int j = 0; j < map.columns; j++)
                out[i * map.columns + j] += (float)map.at[i * map.stride + j];
    }
    for (size_t i = 0; i < count; i++) out[i] /= (float)(end - first);
}

void rows_normalise(float *weight, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        float *row = weight + (size_t)i * (size_t)columns;
        double sum = 0;
        for (int j = 0; j < columns; j++) sum += (double)row[j];
        for (int j = 0; j < columns && sum > 0; j++) row[j] = (float)(row[j] / sum);
    }
}

bool snapshot_norms(float *out, const Snapshot *snapshot, int layer, Error *error)
{
    const Attention *a = attention_of(snapshot, ATTENTION_CROSS, layer, 0);
    const Matrix *W = &snapshot->model->weights.decoder[layer].cross.out.W;
    const Rows V = a->heads.V;  // of all heads
    int H = a->config->heads, D = a->config->d_model, dh = D / H, m = a->queries->rows,
        n = a->keys->rows;
    size_t d = (size_t)D, all = (size_t)H * d, map = attention_map_at(a, 0, 1);
    real *row = malloc((d + d * d + (size_t)n * all + (size_t)m * d) * sizeof *row);
    if (!row) return error_memory(error, "for the norms of values");
    real *T = row + d, *U = T + d * d, *u = U + (size_t)n * all;
    for (size_t o = 0; o < d; o++) {  // T [D,D] (=) W_Oᵀ
        const real *w = matrix_row(row, W, (int)o, D);
        for (size_t k = 0; k < d; k++) T[k * d + o] = w[k];
    }
    for (int h = 0; h < H; h++)  // U [n,H,D] (=) V_j W_O of each head
        small_gemm(SET, U + h * D, H * D, (Strided){V.at + h * dh, (size_t)V.stride, 1},
                   T + (size_t)(h * dh) * d, D, n, D, dh, 1);
    for (int j = 0; j < n; j++) {  // u [m,D] (=) what column j adds to each row
        small_gemm(SET, u, D, (Strided){a->P + j, (size_t)head_width(n), map},
                   U + (size_t)j * all, D, m, D, H, 1);
        for (int i = 0; i < m; i++) {
            double square = 0;
            for (int o = 0; o < D; o++) square += (double)u[i * D + o] * (double)u[i * D + o];
            out[i * n + j] = (float)sqrt(square);
        }
    }
    free(row);
    return true;
}
