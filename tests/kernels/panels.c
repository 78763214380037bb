/* panels.c -- where each number of a matrix lies in panels, for every awkward size, and the products
 * that read and write them, against those of matrices in rows. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "kernels/matrix.h"
#include "kernels/panels.h"
#include "tests/fixtures/test.h"

static const int SIZES[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 70};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, C = TILE_COLUMNS, WIDEST = 4096 };

/* Aligned as an arena aligns; free() it. */
static real *room(size_t count)
{
    real *x = aligned_alloc(64, (count * sizeof *x + 63) / 64 * 64);
    assert_non_null(x);
    return x;
}

static real *numbers(int count, uint64_t index)
{
    real *x = room((size_t)count);
    Rng rng = rng_stream(1, RNG_TEST, index);
    for (int i = 0; i < count; i++) x[i] = (real)(2 * rng_uniform(&rng) - 1);
    return x;
}

/* W [n,k]: row i is column i % C of panel i / C. */
static void check_packing(int n, int k)
{
    size_t size = panels_size(n, k), bytes = (size_t)(n * k) * sizeof(real);
    real *W = numbers(n * k, 1), *panels = room(size), *back = numbers(n * k, 2);
    real *row = room((size_t)k);
    memset(panels, 0xff, size * sizeof *panels);
    panels_pack(panels, W, n, k);
    for (int i = 0; i < (n + C - 1) / C * C; i++)
        for (int p = 0; p < k; p++)
            assert_true(panels[i / C * C * k + p * C + i % C] == (i < n ? W[i * k + p] : 0));
    panels_unpack(back, panels, n, k);
    assert_memory_equal(back, W, bytes);
    for (int i = 0; i < n; i++) {
        panels_row(row, panels, i, k);
        assert_memory_equal(row, W + i * k, (size_t)k * sizeof *row);
    }
    if (n % C == 0) {
        matrix_pack(MATRIX_PACKED, back, n, k);
        assert_memory_equal(back, panels, bytes);
        matrix_unpack(MATRIX_PACKED, back, n, k);
        assert_memory_equal(back, W, bytes);
    }
    free(W), free(panels), free(back), free(row);
}

static void test_packing(void **state)
{
    (void)state;
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++) check_packing(SIZES[a], SIZES[b]);
    check_packing(2 * C, WIDEST);
}

/* A block of W is the same copy whether W lies in panels or in rows. */
static void test_turning(void **state)
{
    (void)state;
    enum { ROWS = 3 * C, COLUMNS = 2 * C + LANES };
    real *W = numbers(ROWS * COLUMNS, 1), *panels = room(ROWS * COLUMNS);
    real *got = room(panels_size(COLUMNS, ROWS)), *expected = room(panels_size(COLUMNS, ROWS));
    panels_pack(panels, W, ROWS, COLUMNS);
    for (int row = 0; row < ROWS; row += C)
        for (int column = 0; column < COLUMNS; column += LANES) {
            int k = ROWS - row, n = COLUMNS - column;
            const real *at = W + row * COLUMNS + column;
            memset(got, 0, panels_size(n, k) * sizeof *got);
            panels_transpose(got, panels + row * COLUMNS + column * C, COLUMNS, n, k);
            panels_copy(expected, (Strided){at, COLUMNS, 1}, n, k);
            assert_memory_equal(got, expected, panels_size(n, k) * sizeof *got);
        }
    free(W), free(panels), free(got), free(expected);
}

/* dX = dY W and dW += dYᵀ X with W [out,in] and dW in panels, the same bits as with both in rows. */
static void check_products(int rows, int out, int in)
{
    real *W = numbers(out * in, 1), *panels = room((size_t)(out * in)),
         *X = numbers(rows * in, 2);
    real *dY = numbers(rows * out, 3), *dX = numbers(rows * in, 4),
         *dX0 = numbers(rows * in, 4);
    real *dW = numbers(out * in, 5), *dW0 = numbers(out * in, 5),
         *back = room((size_t)(out * in));
    panels_pack(panels, W, out, in);
    matrix_pack(MATRIX_PACKED, dW, out, in);
    for (GemmMode mode = SET; mode <= ADD; mode++) {
        gemm_nn(mode, dX0, dY, W, rows, in, out);
        gemm_nn_panels(mode, dX, dY, panels, rows, in, out);
        assert_memory_equal(dX, dX0, (size_t)(rows * in) * sizeof *dX);
        gemm_tn(mode, dW0, dY, X, out, in, rows);
        gemm_tn_panels(mode, dW, dY, X, out, in, rows);
        panels_unpack(back, dW, out, in);
        assert_memory_equal(back, dW0, (size_t)(out * in) * sizeof *W);
    }
    free(W), free(panels), free(X), free(dY), free(dX), free(dX0), free(dW), free(dW0),
        free(back);
}

static void test_products(void **state)
{
    (void)state;
    if (TILE_ROWS != 14) {
        print_message("this build multiplies by OpenBLAS\n");
        skip();
    }
    const int sizes[][3] = {{28, C, C},       {29, C, 3 * C},  {61, 5 * C, 2 * C},
                            {530, 2 * C, C},  {40, 512, 544},  {33, 1024, 512},
                            {300, 512, 2048}, {270, 1536, 512}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_products(sizes[s][0], sizes[s][1], sizes[s][2]);
}

/* What only large matrices are worth, and only whole panels can. */
static void test_which(void **state)
{
    (void)state;
    bool tile = TILE_ROWS == 14 && sizeof(real) == sizeof(float);
    assert_int_equal(matrix_layout_trained(512, 512), tile);
    assert_int_equal(matrix_layout_trained(2048, 512), tile);
    assert_int_equal(matrix_layout_trained(512, WIDEST), tile);
    assert_false(matrix_layout_trained(512, WIDEST + C));
    assert_false(matrix_layout_trained(480, 512));
    assert_false(matrix_layout_trained(512, 480));
    assert_false(matrix_layout_trained(513, 512));
    assert_false(matrix_layout_trained(512, 520));
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_turning),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_which),
    };
    return cmocka_run_group_tests_name("panels", tests, NULL, NULL);
}
