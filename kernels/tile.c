/* tile.c -- one tile of a matrix product; see tile.h.
 *
 * The body is written once. Called with constants for rows and vectors, it is unrolled by the
 * compiler into a function for each size. */
#include "kernels/tile.h"

#if TILE_OF_PAIRS
#include <immintrin.h>
#endif

static const real zeros[TILE_COLUMNS];

/* sum + a b, of numbers or of pairs */
INLINED Vector add_product(Vector sum, real a, Vector b, const bool pairs)
{
#if TILE_OF_PAIRS
    if (pairs) {
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(_mm512_set1_ps(a)), "v"(b));
        return sum;
    }
#endif
    (void)pairs;
    return sum + a * b;
}

INLINED void body(const Tile *tile, const int rows, const int vectors, const bool pairs)
{
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
    const real *next = C;  // for the second-level cache alone: A and B need not wait for it
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++, next += ldc)
        for (int v = 0; v < vectors; v++) __builtin_prefetch(next + v * LANES, 0, 2);
    for (int p = tile->k; p > 0; p--, A += column, B += ldb) {
        __builtin_prefetch(B + prefetch, 0, 2);
        Vector b0 = *(const Vector *)B, b1 = vectors > 1 ? *(const Vector *)(B + LANES) : b0;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            real a = A[(size_t)i * row];
            sum[i][0] = add_product(sum[i][0], a, b0, pairs);
            if (vectors > 1) sum[i][1] = add_product(sum[i][1], a, b1, pairs);
        }
    }
    const bool add = tile->mode & ADD;
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++, C += ldc)
        for (int v = 0; v < vectors; v++) {
            Vector *to = (Vector *)(C + v * LANES);
            *to = add ? *to + scale * sum[i][v] : scale * sum[i][v];
        }
}

// clang-format off
#if defined __AVX512F__ || defined WIDE
#define ALL(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14)
#else
#define ALL(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6)
#endif
#define KERNELS(rows)                                                           \
    static void narrow_##rows(const Tile *tile) { body(tile, rows, 1, false); } \
    static void wide_##rows(const Tile *tile) { body(tile, rows, 2, false); }   \
    static void pairs_##rows(const Tile *tile) { body(tile, rows, 2, true); }
#define NAMES(rows) {narrow_##rows, wide_##rows, pairs_##rows},

ALL(KERNELS)
static void (*const kernels[TILE_ROWS][3])(const Tile *) = {ALL(NAMES)};
// clang-format on

void tile_multiply(const Tile *tile, int rows, int columns)
{
    kernels[rows - 1][tile->mode & BF16 ? 2 : columns > LANES](tile);
}
