/* Combined maps: rows still sum to 1, and the numbers are those of the formulas, computed here
 * in another way. */
#include "explain/maps.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/test.h"

static Error error;

enum { V = 40, N = 9, M = 12, HEADS = 3, DECODER = 3 };

static int source[N], target[M];
static Transformer model;
static Snapshot *snapshot;

FIXTURE(setup)
{
    Rng rng = rng_stream(91, RNG_TEST, 0);
    for (int i = 0; i < N - 1; i++) source[i] = 1 + (int)rng_below(&rng, V - 2);
    for (int i = 0; i < M - 1; i++) target[i] = 1 + (int)rng_below(&rng, V - 2);
    model = random_variant(&variants[0], V, M, 92);
    snapshot = snapshot_open(&model, source, N, target, M, &error);
    return snapshot ? 0 : -1;
}

FIXTURE(teardown)
{
    snapshot_close(snapshot);
    transformer_free(&model);
    return 0;
}

static void assert_rows(const Map *map, int rows, int columns)
{
    assert_int_equal(map->rows, rows);
    assert_int_equal(map->columns, columns);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < columns; j++) {
            assert_true(map->at[i * columns + j] >= 0);
            sum += map->at[i * columns + j];
        }
        if (fabs(sum - 1) > 1e-5) fail_msg("row %d sums to %.9g", i, sum);
    }
}

TEST(heads)
{
    Map map;
    float mean[M * N];
    assert_true(map_head(&map, snapshot, ATTENTION_CROSS, 1, -1, &error));
    assert_rows(&map, M, N);
    snapshot_weights(mean, snapshot, ATTENTION_CROSS, 1, -1);
    for (int i = 0; i < M * N; i++) assert_true(fabsf(map.at[i] - mean[i]) < 1e-6f);
    map_free(&map);
    assert_true(map_head(&map, snapshot, ATTENTION_CROSS, 1, 2, &error));
    snapshot_weights(mean, snapshot, ATTENTION_CROSS, 1, 2);
    assert_memory_equal(map.at, mean, sizeof mean);
    map_free(&map);
}

TEST(largest_of_heads)
{
    Map map;
    float head[HEADS][M * N], want[M * N] = {0};
    for (int h = 0; h < HEADS; h++) {
        snapshot_weights(head[h], snapshot, ATTENTION_CROSS, 1, h);
        for (int i = 0; i < M * N; i++) want[i] = fmaxf(want[i], head[h][i]);
    }
    assert_true(map_chosen(&map, snapshot, ATTENTION_CROSS, 1, CHOICE_MAX, NULL, NULL, &error));
    assert_memory_equal(map.at, want, sizeof want);
    map_free(&map);

    // of one word, a row is the mean: 1 in every head
    int row[M] = {0}, column[N] = {0};
    assert_true(
        map_chosen(&map, snapshot, ATTENTION_CROSS, 1, CHOICE_MAX, row, column, &error));
    assert_rows(&map, 1, 1);
    map_free(&map);
}

/* Of a path from row i through k to column j, each layer is passed with A, or in place. */
TEST(rollout)
{
    Map map;
    double A[3][M][M];
    for (int l = 0; l < 3; l++) {
        float mean[M * M];
        snapshot_weights(mean, snapshot, ATTENTION_DECODER, l, CHOICE_MEAN);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++) A[l][i][j] = ((double)mean[i * M + j] + (i == j)) / 2;
    }
    assert_true(
        map_chosen(&map, snapshot, ATTENTION_DECODER, 2, CHOICE_ROLLOUT, NULL, NULL, &error));
    assert_rows(&map, M, M);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double sum = 0;
            for (int k = 0; k < M; k++)
                for (int q = 0; q < M; q++) sum += A[2][i][k] * A[1][k][q] * A[0][q][j];
            assert_true(fabs((double)map.at[i * M + j] - sum) < 1e-6);
        }
    map_free(&map);
}

static Map copy(const float *at, int rows, int columns)
{
    Map map = {malloc((size_t)(rows * columns) * sizeof *at), rows, columns};
    assert_non_null(map.at);
    memcpy(map.at, at, (size_t)(rows * columns) * sizeof *at);
    return map;
}

static void assert_numbers(const Map *map, const float *want)
{
    for (int i = 0; i < map->rows * map->columns; i++)
        if (!(fabsf(map->at[i] - want[i]) < 1e-6f)) fail_msg("%d: %g", i, (double)map->at[i]);
}

TEST(words)
{
    static const float at[] = {.1f, .2f, .3f, .4f, .5f, .1f, .3f, .1f, .7f, .1f, .1f, .1f};
    Map map = copy(at, 3, 4);
    map_join(&map, (int[]){0, 1, 1}, (int[]){0, 0, 1, 2});
    assert_rows(&map, 2, 3);
    assert_numbers(&map, (float[]){.3f, .3f, .4f, .7f, .2f, .1f});
    map_free(&map);
    map = copy(at, 3, 4);
    map_join(&map, (int[]){0, 1, 2}, (int[]){0, 1, 2, 3});
    assert_numbers(&map, at);
    map_join(&map, (int[]){0, 0, 0}, (int[]){0, 0, 0, 0});
    assert_rows(&map, 1, 1);
    map_free(&map);
}

TEST(special_tokens)
{
    static const float at[] = {.5f, .25f, .25f, 0, 0, 1, .1f, .2f, .7f};
    static const bool none[3] = {0}, last[3] = {false, false, true};
    Map map = copy(at, 3, 3);
    assert_true(fabs(map_share(&map, none, last, 0) - 1.95 / 3) < 1e-6);
    assert_true(map_share(&map, none, none, 0) == 0);
    assert_true(isnan(map_share(&map, last, last, 2)));
    map_free(&map);
}

TEST(measures)
{
    static const float at[] = {.25f, .25f, .25f, .25f, 1, 0, 0, 0};
    static const bool row[] = {false, false}, column[] = {false, false, false, true};
    Map map = copy(at, 2, 4);
    assert_true(fabs(map_entropy(&map) - 1) < 1e-9);  // (2 + 0) / 2 bits
    /* rows: (.25 + 1) / 2; columns: (1 + .25 + .25) / 3 */
    assert_true(fabs(map_alignment(&map, row, column) - (0.625 + 0.5) / 2) < 1e-6);
    map_free(&map);

    /* An alignment of words is better than always looking at one word, or at </s>. */
    static const float right[] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                       one[] = {1, 0, 0, 1, 0, 0, 1, 0, 0}, end[] = {0, 0, 1, 0, 0, 1, 0, 0, 1};
    static const bool special[] = {false, false, true};
    double score[3];
    const float *maps[] = {right, one, end};
    for (int i = 0; i < 3; i++) {
        map = copy(maps[i], 3, 3);
        score[i] = map_alignment(&map, special, special);
        map_free(&map);
    }
    assert_true(score[0] == 1 && score[1] == 0.75 && score[2] == 0);
}

TEST_MAIN("maps", setup, teardown)
