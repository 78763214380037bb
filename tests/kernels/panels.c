/* panels.c -- where each number of a packed matrix lies, for every awkward size, and the
 * products that read and write panels, against those of matrices in rows. */
#include "kernels/panels.h"
#include "kernels/matrix.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/numbers.h"

static const int SIZES[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 70};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, WIDEST = 4096 };
static int C;  // columns of a panel

/* W [n,k]: row i is column i % C of panel i / C. */
static void check_packing(int n, int k)
{
    size_t size = panels_size(n, k), bytes = (size_t)(n * k) * sizeof(real);
    real *W = numbers(n * k), *panels = numbers(size), *back = numbers(n * k);
    real *row = numbers((size_t)k);
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
    memset(panels, 0, size * sizeof *panels);  // in parts, which begin and end anywhere
    for (int first = 0, rows = 1; first < n; first += rows, rows = 2 * rows + 1) {
        if (rows > n - first) rows = n - first;
        panels_put(panels, first, W + first * k, rows, k);
    }
    panels_unpack(back, panels, n, k);
    assert_memory_equal(back, W, bytes);
    if (n % C == 0) {
        matrix_pack(MATRIX_PACKED, back, n, k);
        assert_memory_equal(back, panels, bytes);
        matrix_unpack(MATRIX_PACKED, back, n, k);
        assert_memory_equal(back, W, bytes);
    }
    numbers_free();
}

TEST(test_packing)
{
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++) check_packing(SIZES[a], SIZES[b]);
    check_packing(2 * C, WIDEST);
}

/* The copy of a block of W is the same whether W is packed or stored by rows. */
TEST(test_transposing)
{
    int ROWS = 3 * C, COLUMNS = 2 * C + C / 2;
    real *W = numbers(ROWS * COLUMNS), *panels = numbers(ROWS * COLUMNS);
    real *got = numbers(panels_size(COLUMNS, ROWS)),
         *expected = numbers(panels_size(COLUMNS, ROWS));
    panels_pack(panels, W, ROWS, COLUMNS);
    for (int row = 0; row < ROWS; row += C)
        for (int column = 0; column < COLUMNS; column += C / 2) {
            int k = ROWS - row, n = COLUMNS - column;
            const real *at = W + row * COLUMNS + column;
            memset(got, 0, panels_size(n, k) * sizeof *got);
            panels_transpose(got, panels + row * COLUMNS + column * C, COLUMNS, n, k);
            panels_copy(expected, (Strided){at, COLUMNS, 1}, n, k);
            assert_memory_equal(got, expected, panels_size(n, k) * sizeof *got);
        }
    numbers_free();
}

/* dX = dY W and dW += dYᵀ X with W [out,in] and dW in panels, the same bits as with both in
 * rows. */
static void check_products(int rows, int out, int in)
{
    size_t size = (size_t)(out * in), inputs = (size_t)(rows * in);
    real *W = numbers(size), *panels = numbers(size), *X = numbers(inputs);
    real *dY = numbers(rows * out), *dX = numbers(inputs), *dX0 = copy_of(dX, inputs);
    real *dW = numbers(size), *dW0 = copy_of(dW, size), *back = numbers(size);
    panels_pack(panels, W, out, in);
    matrix_pack(MATRIX_PACKED, dW, out, in);
    for (GemmMode mode = SET; mode <= ADD; mode++) {
        gemm_nn(mode, dX0, dY, W, rows, in, out);
        gemm_nn_panels(mode, dX, dY, panels, rows, in, out);
        assert_memory_equal(dX, dX0, inputs * sizeof *dX);
        gemm_tn(mode, dW0, dY, X, out, in, rows);
        gemm_tn_panels(mode, dW, dY, X, out, in, rows);
        panels_unpack(back, dW, out, in);
        assert_memory_equal(back, dW0, size * sizeof *W);
    }
    numbers_free();
}

TEST(test_products)
{
    const int sizes[][3] = {{28, C, C},       {29, C, 3 * C},  {61, 5 * C, 2 * C},
                            {530, 2 * C, C},  {40, 512, 544},  {33, 1024, 512},
                            {300, 512, 2048}, {270, 1536, 512}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_products(sizes[s][0], sizes[s][1], sizes[s][2]);
}

/* Only large matrices are packed in training, and only those that fill whole panels. */
TEST(test_layout_trained)
{
    assert_int_equal(matrix_layout_trained(512, 512), MATRIX_PACKED);
    assert_int_equal(matrix_layout_trained(2048, 512), MATRIX_PACKED);
    assert_int_equal(matrix_layout_trained(512, WIDEST), MATRIX_PACKED);
    assert_int_equal(MATRIX_ROWS, matrix_layout_trained(512, WIDEST + C));
    assert_int_equal(MATRIX_ROWS, matrix_layout_trained(480, 512));
    assert_int_equal(MATRIX_ROWS, matrix_layout_trained(512, 480));
    assert_int_equal(MATRIX_ROWS, matrix_layout_trained(513, 512));
    assert_int_equal(MATRIX_ROWS, matrix_layout_trained(512, 512 + C / 2));
}

static int setup(void **state __attribute__((unused)))
{
    C = panels_columns();
    return 0;
}

KINDS_MAIN("panels", setup, NULL)
