/* panels.c -- where each number of a packed matrix lies, for every awkward size. */
#include "kernels/panels.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/numbers.h"

static const int SIZES[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 70};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* W [n,k]: row i is column i % C of panel i / C. */
static void check_packing(int n, int k)
{
    int C = (int)panels_size(1, 1);  // columns of a panel
    size_t size = panels_size(n, k);
    real *W = numbers(n * k), *panels = numbers(size), *row = numbers((size_t)k);
    real *parts = numbers(size);
    memset(panels, 0, size * sizeof *panels);
    panels_put(panels, 0, W, n, k);
    for (int i = 0; i < (n + C - 1) / C * C; i++)
        for (int p = 0; p < k; p++)
            assert_true(panels[i / C * C * k + p * C + i % C] == (i < n ? W[i * k + p] : 0));
    for (int i = 0; i < n; i++) {
        panels_row(row, panels, i, k);
        assert_memory_equal(row, W + i * k, (size_t)k * sizeof *row);
    }
    memset(parts, 0, size * sizeof *parts);  // in parts, which begin and end anywhere
    for (int first = 0, rows = 1; first < n; first += rows, rows = 2 * rows + 1) {
        if (rows > n - first) rows = n - first;
        panels_put(parts, first, W + first * k, rows, k);
    }
    assert_memory_equal(parts, panels, size * sizeof *parts);
    numbers_free();
}

TEST(test_packing)
{
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++) check_packing(SIZES[a], SIZES[b]);
    check_packing(64, 4096);
}

KINDS_MAIN("panels", NULL, NULL)
