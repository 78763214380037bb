/* tile.c -- one tile of a matrix product; see tile.h.
 *
 * The body is written once. Called with constants for rows and vectors, it is unrolled by the
 * compiler into a function for each size. */
#include "kernels/tile.h"

#include <stdbool.h>

typedef real Vector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

static inline __attribute__((always_inline)) void body(const Tile *tile, const int rows,
                                                       const int vectors)
{
    static const real zeros[TILE_COLUMNS];
    const real *A = tile->A.at, *B = tile->B, *start = tile->start ? tile->start : zeros;
    const size_t row = tile->A.row, column = tile->A.column, ldb = tile->ldb, ldc = tile->ldc;
    const size_t prefetch = tile->prefetch;
    const real scale = tile->scale;
    real *C = tile->C;
    Vector sum[TILE_ROWS][2];
    Vector s0 = *(const Vector *)start,
           s1 = vectors > 1 ? *(const Vector *)(start + LANES) : s0;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) sum[i][0] = s0, sum[i][1] = s1;
    const real *next =
        C;  // only into the second-level cache, so that A and B need not wait for C
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++, next += ldc)
        for (int v = 0; v < vectors; v++) __builtin_prefetch(next + v * LANES, 0, 2);
    for (int p = tile->k; p > 0; p--, A += column, B += ldb) {
        __builtin_prefetch(B + prefetch, 0, 2);
        Vector b0 = *(const Vector *)B, b1 = vectors > 1 ? *(const Vector *)(B + LANES) : b0;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            real a = A[(size_t)i * row];
            sum[i][0] += a * b0;
            if (vectors > 1) sum[i][1] += a * b1;
        }
    }
    const bool add = tile->mode == ADD;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++, C += ldc)
        for (int v = 0; v < vectors; v++) {
            Vector *to = (Vector *)(C + v * LANES);
            *to = add ? *to + scale * sum[i][v] : scale * sum[i][v];
        }
}

#define KERNEL(rows, vectors)                                                                  \
    static void kernel_##rows##_##vectors(const Tile *tile)                                    \
    {                                                                                          \
        body(tile, rows, vectors);                                                             \
    }
// clang-format off
#define PAIR(rows) KERNEL(rows, 1) KERNEL(rows, 2)
PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6)
#if defined __AVX512F__
PAIR(7) PAIR(8) PAIR(9) PAIR(10) PAIR(11) PAIR(12) PAIR(13) PAIR(14)
#endif

#define ROW(rows) {kernel_##rows##_1, kernel_##rows##_2}
static void (*const kernels[TILE_ROWS][2])(const Tile *) = {
    ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6),
#if defined __AVX512F__
    ROW(7), ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14),
#endif
};
// clang-format on

void tile_multiply(const Tile *tile, int rows, int columns)
{
    kernels[rows - 1][columns > LANES](tile);
}
