/* panels.c -- copying matrices into panels, and out of them; see panels.h. */
#include "kernels/panels.h"

#include "base/real.h"
#include "kernels/transpose.h"

enum { AHEAD = 24 };  // how many rows of B ahead are prefetched

/* Prefetches into the second-level cache, which waits for more lines at a time than the first.
 * The address may lie outside of B. */
static void prefetch(const real *x)
{
    __builtin_prefetch(x, 0, 2);
}

size_t panels_size(int n, int k)
{
    return (size_t)((n + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS) * (size_t)k;
}

void panels_copy(real *panels, Strided B, int n, int k)
{
    bool by_rows = B.column == 1;
    int whole = n / TILE_COLUMNS * TILE_COLUMNS, p = 0;
    if (by_rows) {
        for (; p < k; p++)
            for (int j = 0; j < whole; j += TILE_COLUMNS) {
                const real *from = B.at + (size_t)p * B.row + j;
                prefetch(from + AHEAD * B.row);
                prefetch(from + AHEAD * B.row + LANES);
                memcpy(panels + (size_t)j * (size_t)k + p * TILE_COLUMNS, from,
                       TILE_COLUMNS * sizeof(real));
            }
    } else {
        for (int j = 0; j < whole; j += LANES) {
            real *panel =
                panels + (size_t)(j - j % TILE_COLUMNS) * (size_t)k + j % TILE_COLUMNS;
            const real *rows = B.at + (size_t)j * B.column;
            for (p = 0; p + LANES <= k; p += LANES) {
                for (int l = LANES; l < 2 * LANES; l++)
                    prefetch(rows + p + (size_t)l * B.column);
                transpose_square(panel + p * TILE_COLUMNS, TILE_COLUMNS, rows + p, B.column,
                                 LANES);
            }
            for (; p < k; p++)
                for (int l = 0; l < LANES; l++)
                    panel[p * TILE_COLUMNS + l] = rows[(size_t)l * B.column + (size_t)p];
        }
    }
    for (int j = whole; j < n; j += TILE_COLUMNS)
        for (p = 0; p < k; p++)
            for (int l = 0; l < TILE_COLUMNS; l++)
                panels[(size_t)j * (size_t)k + p * TILE_COLUMNS + l] =
                    j + l < n ? B.at[(size_t)p * B.row + (size_t)(j + l) * B.column] : 0;
}

void panels_put(real *panels, int first, const real *W, int n, int k)
{
    for (int rows; n > 0; n -= rows, first += rows, W += (size_t)rows * (size_t)k) {
        int column = first % TILE_COLUMNS;
        bool whole = !column && n >= TILE_COLUMNS;
        real *to = panels + (size_t)(first - column) * (size_t)k + column;
        rows = whole ? n / TILE_COLUMNS * TILE_COLUMNS : 1;
        if (whole) panels_copy(to, (Strided){W, 1, (size_t)k}, rows, k);
        else
            for (int p = 0; p < k; p++) to[p * TILE_COLUMNS] = W[p];
    }
}

void panels_row(real *x, const real *panels, int row, int k)
{
    panels += (size_t)(row - row % TILE_COLUMNS) * (size_t)k + row % TILE_COLUMNS;
    for (int p = 0; p < k; p++) x[p] = panels[p * TILE_COLUMNS];
}
