/* look.c -- the attention of one sentence pair; see look.h. */
#include "inference/look.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inference/search.h"
#include "model/linear.h"

struct Look {
    const Transformer *model;
    Arena arena;
    Packed source, target;
    int source_start[2], target_start[2];
    Pass pass;
};

/* The sentence as a batch of one; takes its copy. */
static void pack(Packed *packed, int start[2], Arena *arena, const int *id, int length)
{
    int *copy = ARENA_TAKE(arena, int, (size_t)length);
    if (copy) memcpy(copy, id, (size_t)length * sizeof *id);
    start[0] = 0, start[1] = length;
    *packed = (Packed){1, length, copy, start};
}

static void layout(Look *look, const int *source, int n, const int *target, int m)
{
    pack(&look->source, look->source_start, &look->arena, source, n);
    pack(&look->target, look->target_start, &look->arena, target, m);
    transformer_layout(&look->pass, &look->arena, look->model, &look->source, &look->target,
                       NULL, PASS_LOOK);
}

Look *look_open(const Transformer *model, const int *source, int source_length,
                const int *target, int target_length, Error *error)
{
    if (!sentence_check(source, source_length, &model->config, true, error)) {
        error_prefix(error, "source");
        return NULL;
    }
    if (!sentence_check(target, target_length, &model->config, false, error)) {
        error_prefix(error, "target");
        return NULL;
    }
    Look *look = calloc(1, sizeof *look);
    if (look) {
        look->model = model;
        layout(look, source, source_length, target, target_length);
    }
    if (!look || !arena_reserve(&look->arena, NULL)) {
        error_set(error, "not enough memory to look at %d and %d tokens", source_length,
                  target_length);
        look_close(look);
        return NULL;
    }
    layout(look, source, source_length, target, target_length);
    transformer_forward(&look->pass, model);
    return look;
}

void look_close(Look *look)
{
    if (look) arena_free(&look->arena);
    free(look);
}

int look_layers(const Look *look, LookKind kind)
{
    return kind == LOOK_ENCODER ? look->pass.encoder.layers : look->pass.decoder.layers;
}

int look_heads(const Look *look)
{
    return look->model->config.heads;
}

static const Attention *attention_of(const Look *look, LookKind kind, int layer, int head)
{
    assert(layer >= 0 && layer < look_layers(look, kind) && head >= 0 &&
           head < look_heads(look));
    switch (kind) {
    case LOOK_ENCODER: return &look->pass.encoder.layer[layer].self;
    case LOOK_DECODER: return &look->pass.decoder.layer[layer].self;
    case LOOK_CROSS: break;
    }
    return &look->pass.decoder.layer[layer].cross;
}

AttentionMap look_map(const Look *look, LookKind kind, int layer, int head)
{
    const Attention *attention = attention_of(look, kind, layer, head);
    int columns = attention->keys->rows;
    return (AttentionMap){attention_map(attention, 0, head), attention->queries->rows, columns,
                          attention_width(columns)};
}

LookRows look_embedded(const Look *look, bool source)
{
    int D = look->model->config.d_model;
    const Pass *pass = &look->pass;
    return source ? (LookRows){pass->X_source, look->source.rows, D, D}
                  : (LookRows){pass->X_target, look->target.rows, D, D};
}

LookVectors look_vectors(const Look *look, LookKind kind, int layer, int head)
{
    const Attention *a = attention_of(look, kind, layer, head);
    const Pass *pass = &look->pass;
    int n = a->queries->rows, m = a->keys->rows, D = a->D, dh = D / a->H, at = head * dh;
    const real *Xq = NULL, *Xkv = NULL;
    switch (kind) {
    case LOOK_ENCODER: Xq = Xkv = pass->encoder.layer[layer].X; break;
    case LOOK_DECODER: Xq = Xkv = pass->decoder.layer[layer].X; break;
    case LOOK_CROSS:
        Xq = pass->decoder.layer[layer].self_norm.Y;
        Xkv = pass->encoded;
        break;
    }
    return (LookVectors){.Xq = {Xq, n, D, D},
                         .Xkv = {Xkv, m, D, D},
                         .Q = {a->Q + at, n, dh, a->q_stride},
                         .K = {a->K + at, m, dh, a->kv_stride},
                         .V = {a->V + at, m, dh, a->kv_stride},
                         .O = {a->O + at, n, dh, D},
                         .scale = 1 / sqrt(dh)};
}

/* out [rows,columns] (+=) map */
static void add_map(float *out, AttentionMap map)
{
    for (int i = 0; i < map.rows; i++)
        for (int j = 0; j < map.columns; j++)
            out[i * map.columns + j] += (float)map.at[i * map.width + j];
}

void look_head(float *out, const Look *look, LookKind kind, int layer, int head)
{
    AttentionMap map = look_map(look, kind, layer, head);
    memset(out, 0, (size_t)map.rows * (size_t)map.columns * sizeof *out);
    add_map(out, map);
}

void look_mean(float *out, const Look *look, LookKind kind, int layer)
{
    int heads = look_heads(look);
    look_head(out, look, kind, layer, 0);
    for (int h = 1; h < heads; h++) add_map(out, look_map(look, kind, layer, h));
    AttentionMap map = look_map(look, kind, layer, 0);
    size_t count = (size_t)map.rows * (size_t)map.columns;
    for (size_t i = 0; i < count; i++) out[i] /= (float)heads;
}

static const AttentionWeights *weights_of(const Look *look, LookKind kind, int layer)
{
    const Weights *w = &look->model->weights;
    return kind == LOOK_ENCODER   ? &w->encoder[layer].self
           : kind == LOOK_DECODER ? &w->decoder[layer].self
                                  : &w->decoder[layer].cross;
}

/* U [H,D] (=) what column j has for each head: its value there, through that head's columns of
 * W_O.   G [H,H] (=) U Uᵀ   row [D] scratch */
static void given_by(double *G, double *U, real *row, const Look *look, LookKind kind,
                     int layer, int j)
{
    int H = look_heads(look), D = look->model->config.d_model, dh = D / H;
    const Linear *out = &weights_of(look, kind, layer)->out;
    LookRows V = look_vectors(look, kind, layer, 0).V;  // head 0, and the others behind it
    const real *v = V.at + (size_t)j * (size_t)V.stride;
    for (int o = 0; o < D; o++) {
        const real *w = linear_row(row, out, o, D);
        for (int h = 0; h < H; h++) {
            double sum = 0;
            for (int k = h * dh; k < (h + 1) * dh; k++) sum += (double)w[k] * (double)v[k];
            U[h * D + o] = sum;
        }
    }
    for (int a = 0; a < H; a++)
        for (int b = 0; b < H; b++) {
            double sum = 0;
            for (int o = 0; o < D; o++) sum += U[a * D + o] * U[b * D + o];
            G[a * H + b] = sum;
        }
}

/* Σ_a Σ_b P_a P_b G_ab is the square of ‖Σ_a P_a U_a‖, and G is needed once a column only. */
bool look_norms(float *out, const Look *look, LookKind kind, int layer, int head, Error *error)
{
    int H = look_heads(look), D = look->model->config.d_model;
    int first = head >= 0 ? head : 0, last = head >= 0 ? head + 1 : H;
    double *G = malloc(((size_t)H * (size_t)H + (size_t)H * (size_t)D) * sizeof *G);
    real *row = malloc((size_t)D * sizeof *row);
    AttentionMap map = look_map(look, kind, layer, 0);
    bool good = (G && row) || error_set(error, "not enough memory for the lengths of values");
    for (int j = 0; good && j < map.columns; j++) {
        given_by(G, G + H * H, row, look, kind, layer, j);
        for (int i = 0; i < map.rows; i++) {
            double square = 0;
            for (int a = first; a < last; a++)
                for (int b = first; b < last; b++)
                    square += (double)look_map(look, kind, layer, a).at[i * map.width + j] *
                              (double)look_map(look, kind, layer, b).at[i * map.width + j] *
                              G[a * H + b];
            out[i * map.columns + j] = (float)sqrt(fmax(square, 0));
        }
    }
    free(G);
    free(row);
    return good;
}
