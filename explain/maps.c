/* maps.c -- combined attention maps and their measures; see maps.h. */
#include "explain/maps.h"

#include "inference/align.h"

void map_free(Map *map)
{
    free(map->at);
    *map = (Map){0};
}

bool map_head(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer, int head,
              Error *error)
{
    SnapshotRows shape = snapshot_map(snapshot, kind, layer, 0);
    int rows = shape.rows, columns = shape.columns;
    *map = (Map){malloc((size_t)rows * (size_t)columns * sizeof *map->at), rows, columns};
    if (!map->at) return error_memory(error, "for attention of %d x %d words", rows, columns);
    snapshot_weights(map->at, snapshot, kind, layer, head);
    return true;
}

/* In place: no weight moves to the right. A row sums to 1, so a row of several divided by its sum is
 * their average. */
void map_join(Map *map, const int *row_word, const int *column_word)
{
    int m = map->columns, n = map->rows;
    map->rows = row_word[n - 1] + 1;
    map->columns = column_word[m - 1] + 1;
    for (int k = 0; k < n * m; k++) {
        float value = map->at[k];
        map->at[k] = 0;
        map->at[row_word[k / m] * map->columns + column_word[k % m]] += value;
    }
    if (map->rows < n) rows_normalise(map->at, map->rows, map->columns);
}

/* R (=) (A + I) / 2 · R for each layer, column by column. */
static bool rollout(Map *R, const Snapshot *snapshot, AttentionKind kind, int layer,
                    Error *error)
{
    if (!map_head(R, snapshot, kind, 0, CHOICE_MEAN, error)) return false;
    int n = R->rows;
    float *column = malloc((size_t)n * sizeof *column);
    bool good = column || error_memory(error, "for %d words", n);
    for (int i = 0; i < n * n; i++) R->at[i] = i % (n + 1) == 0;
    for (int l = 0; good && l <= layer; l++) {
        Map A;
        good = map_head(&A, snapshot, kind, l, CHOICE_MEAN, error);
        for (int j = 0; good && j < n; j++) {
            for (int i = 0; i < n; i++) {
                column[i] = R->at[i * n + j];
                for (int k = 0; k < n; k++) column[i] += A.at[i * n + k] * R->at[k * n + j];
            }
            for (int i = 0; i < n; i++) R->at[i * n + j] = column[i] / 2;
        }
        map_free(&A);
    }
    free(column);
    if (!good) map_free(R);
    return good;
}

bool map_chosen(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer, int head,
                const int *row_word, const int *column_word, Error *error)
{
    bool good = head == CHOICE_ROLLOUT ? rollout(map, snapshot, kind, layer, error)
                                       : map_head(map, snapshot, kind, layer, head, error);
    if (good && row_word) map_join(map, row_word, column_word);
    for (int h = 0; good && head == CHOICE_MAX && h < snapshot->model->config.heads; h++) {
        Map one;  // no weight is below the mean of all
        good = map_chosen(&one, snapshot, kind, layer, h, row_word, column_word, error);
        for (int i = 0; good && i < map->rows * map->columns; i++)
            map->at[i] = fmaxf(map->at[i], one.at[i]);
        map_free(good ? &one : map);
    }
    return good;
}

/* ---- measures ---- */

void map_crop(Map *map, int row, int rows, int column, int columns)
{
    for (int i = 0; i < rows; i++)
        memmove(map->at + (size_t)i * (size_t)columns,
                map->at + (size_t)(row + i) * (size_t)map->columns + column,
                (size_t)columns * sizeof *map->at);
    map->rows = rows, map->columns = columns;
}

double map_entropy(const Map *map)
{
    double sum = 0, rows = 0;  // a row sums to 1, or is 0
    size_t count = (size_t)map->rows * (size_t)map->columns;
    for (size_t i = 0; i < count; i++)
        if (map->at[i] > 0) rows += map->at[i], sum -= map->at[i] * log2((double)map->at[i]);
    return rows > 0 ? fmax(sum / rows, 0) : 0;
}

static double largest(SnapshotRows map, int row, int columns)
{
    const real *weight = snapshot_row(map, row);
    return (double)weight[row_most(weight, columns)];
}

/* The row of a map, given or found, that follows best, and how well it does. */
static double follow_row(int *row, SnapshotRows map, bool causal)
{
    double sharpness = 0, best = -1;
    for (int i = 0; i < map.rows; i++)
        sharpness += largest(map, i, map.columns - !causal) / map.rows;
    if (*row >= 0) return sharpness;
    for (int i = 0; i < map.rows - (map.rows > 1); i++) {
        double near = 1 - fabs(largest(map, i, map.columns) - 0.6);
        if (near > best) best = near, *row = i;
    }
    return sharpness + best;
}

void maps_follow(int *layer, int *head, int *row, const Snapshot *snapshot,
                 const Choice *choice)
{
    double best = -1;
    int heads = snapshot->model->config.heads, given = *row,
        count = snapshot_layers(snapshot, choice->kind) * heads;
    for (int k = 0; k < count; k++) {
        int l = k / heads, h = k % heads, found = given;
        if ((choice->layer >= 0 && choice->layer != l) ||
            (choice->head >= 0 && choice->head != h))
            continue;
        SnapshotRows map = snapshot_map(snapshot, choice->kind, l, h);
        double good = follow_row(&found, map, choice->kind == ATTENTION_DECODER);
        if (good > best) best = good, *layer = l, *head = h, *row = found;
    }
}

double map_share(const Map *map, const bool *row_special, const bool *column_special, int first)
{
    double sum = 0;
    int rows = 0;
    for (int i = first; i < map->rows; i++) {
        if (row_special[i]) continue;
        rows++;
        for (int j = 0; j < map->columns; j++)
            if (column_special[j]) sum += map->at[i * map->columns + j];
    }
    return rows ? sum / rows : NAN;
}

/* The mean of the largest weight of each of `rows` rows on a word; special rows are left out.
 * stride, step: from one row and from one column to the next */
static double mean_largest(const float *at, int rows, int stride, const bool *row_special,
                           int columns, int step, const bool *column_special)
{
    double sum = 0;
    int words = 0;
    for (int i = 0; i < rows; i++) {
        if (row_special[i]) continue;
        float most = 0;
        for (int j = 0; j < columns; j++)
            if (!column_special[j]) most = fmaxf(most, at[i * stride + j * step]);
        sum += most;
        words++;
    }
    return words ? sum / words : 0;
}

double map_alignment(const Map *map, const bool *row_special, const bool *column_special)
{
    int n = map->rows, m = map->columns;
    return (mean_largest(map->at, n, m, row_special, m, 1, column_special) +
            mean_largest(map->at, m, 1, column_special, n, m, row_special)) /
           2;
}

bool maps_agree(double *agree, const Snapshot *snapshot, Error *error)
{
    SnapshotRows map = snapshot_map(snapshot, ATTENTION_CROSS, 0, 0);
    int heads = snapshot->model->config.heads, rows = map.rows - 1, n = map.columns - 1,
        count = snapshot_layers(snapshot, ATTENTION_CROSS) * heads;
    float *share = align_shares(snapshot, ALIGN_LAYERS, ALIGN_NORM, error);
    if (!share) return false;
    for (int k = 0; k < count; k++) {
        SnapshotRows head = snapshot_map(snapshot, ATTENTION_CROSS, k / heads, k % heads);
        agree[k] = 0;
        for (int i = 0; i < rows; i++) {
            int most = row_most(share + (size_t)i * (size_t)map.columns, n);
            agree[k] += (double)(row_most(snapshot_row(head, i), n) == most) / rows;
        }
    }
    free(share);
    return true;
}
