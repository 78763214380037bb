/* tile.h -- the innermost product: one tile of C, held in registers while k runs.
 *
 *   C [rows,columns] = scale · A [rows,k] · B [k,columns], set or added
 *
 * Each step of k reads one row of B (two vectors) and one number of A a row, and does rows · 2
 * multiply-adds on vectors. With 14 rows that is 28 of the 32 registers of AVX-512, 28
 * multiply-adds for 16 loads: two of each can start every cycle, so the loads hide (Goto and
 * van de Geijn 2008 give the reasoning). The sum over k runs in order in one register an
 * element, so a number does not depend on which rows or columns are computed with it. */
#pragma once

#include "base/real.h"

/* ADD adds to C, else C is overwritten. Added to either: BF16 rounds A and B (bf16.h), PANELS says
 * that B is packed (panels.h). */
typedef enum { SET = 0, ADD = 1, BF16 = 2, PANELS = 4 } GemmMode;

/* A matrix whose element [i,p] is at[i * row + p * column]: a transpose is a swap. */
typedef struct Strided {
    const real *at;
    size_t row, column;
} Strided;

#if defined __AVX512F__ || defined WIDE  // WIDE: a test without AVX-512
enum { VECTOR_BYTES = 64, TILE_ROWS = 14 };
#elif defined __AVX__
enum { VECTOR_BYTES = 32, TILE_ROWS = 6 };
#else
enum { VECTOR_BYTES = 16, TILE_ROWS = 6 };
#endif
/* Whether this code has a tile of pairs. */
#if defined __AVX512F__ && !defined REAL_IS_DOUBLE
#define TILE_OF_PAIRS 1
#else
#define TILE_OF_PAIRS 0
#endif
enum { LANES = VECTOR_BYTES / sizeof(real), TILE_COLUMNS = 2 * LANES };
typedef real Vector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* One product: C (mode) = scale · (start + A · B) */
typedef struct Tile {
    GemmMode mode;  // with BF16 A and B are pairs, and k, row and column count pairs
    real *C;
    size_t ldc;  // from row to row of C
    Strided A;
    const real *B;
    size_t ldb;         // from row to row of B
    size_t prefetch;    // reals from a row of B to the cache line to prefetch with it; 0: none
    const real *start;  // [columns] what the sums of every row start from; NULL: 0
    int k;
    real scale;
} Tile;

/* rows: 1 .. TILE_ROWS; columns: LANES or TILE_COLUMNS. Reads `columns` numbers of each row of
 * B. */
void tile_multiply(const Tile *tile, int rows, int columns);
