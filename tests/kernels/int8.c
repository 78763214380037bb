/* int8.c -- every kernel against a sum in 64 bits, exactly; the errors of rounding and of
 * products within their bounds; NaN and infinity. */
#include "kernels/int8.h"
#include "kernels/amx.h"
#include "tests/fixtures/numbers.h"

static Rng rng;

static const Int8Matrix *int8_create(Arena *arena, int rows, int columns)
{
    *arena = (Arena){0};
    int8_take(arena, rows, columns);
    assert_true(arena_reserve(arena, NULL));
    memset(arena->base, 0x7f, arena->size);  // no code may rely on zeros
    return int8_take(arena, rows, columns);
}

/* The extremes, or anything between. */
static int draw(int extreme)
{
    if (extreme) return rng_below(&rng, 2) ? 127 : -127;
    return (int)rng_below(&rng, 255) - 127;
}

/* One tile, by every kernel that runs here. */
static void check_tile(int rows, int columns, int extreme, int sign)
{
    int groups = (columns + INT8_GROUP - 1) / INT8_GROUP, width = groups * INT8_GROUP;
    Arena arena;
    const Int8Matrix *matrix = int8_create(&arena, INT8_PANEL, columns);
    int8_t *q = malloc((size_t)columns * INT8_PANEL), *a = calloc((size_t)rows, (size_t)width);
    uint8_t *u = calloc((size_t)rows + AMX_ROWS, (size_t)width);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) a[i * width + k] = (int8_t)draw(extreme);
    for (int i = 0; i < columns * INT8_PANEL; i++) q[i] = (int8_t)draw(extreme);
    if (sign)  // all products of one sign: the sums are as large as they can be
        memset(a, sign * 127, (size_t)(rows * width)),
            memset(q, 127, (size_t)columns * INT8_PANEL);
    for (int i = 0; i < rows * width; i++) u[i] = (uint8_t)(a[i] + 128);
    for (int j = 0; j < INT8_PANEL; j++) int8_put(matrix, j, q + j * columns, 1);

    for (int kind = 0; kind < int8_kernel_count; kind++) {
        const Int8Kernels *kernel = &int8_kernels[kind];
        if (rows > kernel->rows || !int8_runs(kernel, rows, groups)) continue;
        int32_t C[INT8_ROWS * INT8_PANEL];
        memset(C, 0x55, sizeof C);
        if (kernel->amx) amx_begin();
        kernel->multiply(C, u, (size_t)width, matrix->q, matrix->offset, rows, groups);
        if (kernel->amx) amx_end();
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < INT8_PANEL; j++) {
                long long sum = 0;
                for (int k = 0; k < columns; k++)
                    sum += (long long)a[i * width + k] * q[j * columns + k];
                if (C[i * INT8_PANEL + j] != sum)
                    fail_msg("%s: %d is not %lld", kernel->name, C[i * INT8_PANEL + j], sum);
            }
        int written = kernel->amx ? (rows + 15) / 16 * 16 : rows;
        for (int i = written * INT8_PANEL; i < INT8_ROWS * INT8_PANEL; i++)
            assert_int_equal(C[i], 0x55555555);
    }
    free(q), free(a), free(u);
    arena_free(&arena);
}

TEST(kernels_are_exact)
{
    for (int kind = 0; kind < int8_kernel_count; kind++)
        print_message("%s: %s\n", int8_kernels[kind].name,
                      int8_runs(&int8_kernels[kind], 16, 16) ? "checked"
                                                             : "not on this processor");
    assert_true(int8_runs(&int8_kernels[int8_kernel_count - 1], 1, 1));
    static const int columns[] = {1, 2, 3, 4, 5, 7, 8, 31, 64, 127, 130, 512};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (int rows = 1; rows <= INT8_ROWS; rows++)
            for (int extreme = 0; extreme < 2; extreme++)
                check_tile(rows, columns[c], extreme, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        check_tile(INT8_ROWS, 512, 1, sign);
        check_tile(3, INT8_MOST_COLUMNS, 1, sign);
    }
}

/* q s is within s / 2 of w, the largest number is ±127, and a row comes back as it was put. */
TEST(rows_are_rounded)
{
    static const int columns[] = {1, 3, 4, 30, 129};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        enum { ROWS = 70 };
        int n = columns[c];
        real *W = numbers((size_t)(ROWS * n)), *x = numbers((size_t)n);
        for (int k = 0; k < n; k++) W[5 * n + k] = 0;
        Arena arena;
        const Int8Matrix *matrix = int8_create(&arena, ROWS, n);
        int8_quantise(matrix, 0, W, matrix->rows);
        int8_t *q = malloc((size_t)n), *again = malloc((size_t)n);
        for (int row = 0; row < ROWS; row++) {
            float scale = matrix->scale[row];
            int most = 0;
            int8_get(q, matrix, row);
            int8_dequantise(x, matrix, row);
            assert_true(int8_quantise_row(again, W + row * n, n) == scale);
            assert_memory_equal(q, again, (size_t)n);
            for (int k = 0; k < n; k++) {
                real w = W[row * n + k];
                assert_true(fabs((double)w - (double)scale * q[k]) <= scale * 0.500001);
                assert_true(x[k] == scale * (real)q[k]);
                if (abs(q[k]) > most) most = abs(q[k]);
            }
            assert_int_equal(most, row == 5 ? 0 : 127);
            if (row == 5) assert_true(scale == 0);
            int8_put(matrix, row, q, scale);
            int8_get(again, matrix, row);
            assert_memory_equal(q, again, (size_t)n);
            assert_true(matrix->scale[row] == scale);
        }
        free(q), free(again);
        numbers_free();
        arena_free(&arena);
    }
}

static double largest(const real *x, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++)
        if (fabs((double)x[k]) > most) most = fabs((double)x[k]);
    return most;
}

/* Within the bound of int8.h of the product in double; and each row the same bits alone. */
static void check_product(int N, int rows, int count, int columns)
{
    real *X = numbers((size_t)(N * columns)), *W = numbers((size_t)(rows * columns));
    real *b = numbers((size_t)count), *Y = numbers((size_t)(N * count));
    real *alone = numbers((size_t)count);
    Arena arena;
    const Int8Matrix *matrix = int8_create(&arena, rows, columns);
    int8_quantise(matrix, 0, W, matrix->rows);
    for (int with = 0; with < 2; with++) {
        int8_multiply(Y, X, matrix, with ? b : NULL, N, count);
        for (int i = 0; i < N; i++) {
            const real *x = X + i * columns;
            double t = largest(x, columns) / 127;
            for (int j = 0; j < count; j++) {
                const real *w = W + j * columns;
                double s = largest(w, columns) / 127, sum = with ? (double)b[j] : 0, bound = 0;
                for (int k = 0; k < columns; k++) {
                    sum += (double)x[k] * (double)w[k];
                    bound += (fabs((double)x[k]) * s + fabs((double)w[k]) * t + s * t / 2) / 2;
                }
                assert_true(fabs((double)Y[i * count + j] - sum) <= bound * 1.00001 + 1e-6);
            }
            int8_multiply(alone, x, matrix, with ? b : NULL, 1, count);
            assert_memory_equal(alone, Y + i * count, (size_t)count * sizeof *alone);
        }
    }
    numbers_free();
    arena_free(&arena);
}

TEST(products_are_within_bounds)
{
    static const int sizes[] = {1, 2, 3, 13, 15, 30, 33};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int a = 0; a < SIZES; a++)
        for (int b = 0; b < SIZES; b++)
            for (int c = 0; c < SIZES; c++)
                check_product(sizes[a], sizes[b] + c % 2, sizes[b], sizes[c]);
    check_product(530, 40, 39, 20);
    check_product(20, 9, 9, 60000);
}

/* NaN and infinity in a row of X make that row NaN, and no other; numbers too small are 0. */
TEST(nan_stays_in_its_row)
{
    enum { N = 5, ROWS = 40, COLUMNS = 21 };
    real *X = numbers(N * COLUMNS), *W = numbers(ROWS * COLUMNS);
    real *Y = numbers(N * ROWS), *before = numbers(N * ROWS);
    Arena arena;
    const Int8Matrix *matrix = int8_create(&arena, ROWS, COLUMNS);
    int8_quantise(matrix, 0, W, matrix->rows);
    int8_multiply(before, X, matrix, NULL, N, ROWS);
    X[0 * COLUMNS + 20] = (real)NAN;
    X[2 * COLUMNS + 3] = (real)INFINITY;
    X[4 * COLUMNS + 0] = (real)-INFINITY;
    for (int k = 0; k < COLUMNS; k++) X[3 * COLUMNS + k] = (real)1e-40;
    int8_multiply(Y, X, matrix, NULL, N, ROWS);
    for (int j = 0; j < ROWS; j++) {
        assert_true(isnan(Y[0 * ROWS + j]) && isnan(Y[2 * ROWS + j]) && isnan(Y[4 * ROWS + j]));
        assert_true(Y[1 * ROWS + j] == before[1 * ROWS + j]);
        assert_true(Y[3 * ROWS + j] == 0);
    }
    numbers_free();
    arena_free(&arena);
}

int main(void)
{
    rng = rng_stream(8, RNG_TEST, 0);
    return run_all_tests("int8", NULL, NULL);
}
