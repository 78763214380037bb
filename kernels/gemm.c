/* gemm.c -- matrix products, cut into blocks that fit the caches.
 *
 *   for a block of 512 rows of C                  A's block fits the second-level cache,
 *     for a block of 256 numbers of k             512 · 256 floats
 *       for a block of 512 columns
 *         copy the block of B                     and so does B's: 256 · 512 floats
 *         for a panel of TILE_COLUMNS columns     B's panel comes to lie in the first-level
 *           for a tile of TILE_ROWS rows          cache, and C's tile is in registers
 *
 * B is copied panel by panel, each with its rows consecutive in memory, whether B is stored by
 * rows or, in X Wᵀ, by columns. A is read in place, unless its rows are so long that those of a
 * tile share cache sets; then its block is copied, tile by tile. The blocking is that of Goto
 * and van de Geijn 2008 with A and B exchanged, since here A has few rows.
 *
 * A B in panels, each with all of k, is not copied. Its numbers come from memory, since it is
 * read once a decoding step or once a micro-batch; so while a panel is multiplied, the next one
 * is prefetched (docs/speed.md). */
#include "kernels/gemm.h"

#include "kernels/amx.h"
#include "kernels/bf16.h"
#include "kernels/kind.h"
#include "kernels/openblas.h"
#include "kernels/panels.h"
#include "kernels/scratch.h"

enum { OPENBLAS_LEAST = 64 * 64 * 64 };  // multiplications: smaller products are faster here
enum { M_BLOCK = 512, K_BLOCK = 256, N_BLOCK = 512 };
enum { COPY_LIMIT = 2048 };  // A is copied if its rows, or columns, are this many bytes apart

typedef struct Copies {
    _Alignas(VECTOR_BYTES) real B[N_BLOCK * K_BLOCK];                // panels [k,TILE_COLUMNS]
    _Alignas(VECTOR_BYTES) real A[(M_BLOCK + TILE_ROWS) * K_BLOCK];  // tile by tile
    _Alignas(VECTOR_BYTES) real rest[AMX_ROWS * TILE_COLUMNS];
} Copies;
_Static_assert(sizeof(Copies) <= SCRATCH_BYTES, "the copies need more scratch memory");

/* copy->A (=) the block [m,k] of A, and *block (=) where the copy is: row by row, or, if A is
 * stored by columns, tile by tile. Returns the offset from tile to tile, or 0 if it follows
 * from the rows. */
static size_t copy_floats(Copies *copy, Strided *block, int m, int k)
{
    Strided A = *block;
    int tile = TILE_ROWS * k;
    if (A.column == 1) {
        for (int i = 0; i < m; i++)
            memcpy(copy->A + i * k, A.at + (size_t)i * A.row, (size_t)k * sizeof(real));
        *block = (Strided){copy->A, (size_t)k, 1};
        return 0;
    }
    for (int p = 0; p < k; p++) {
        const real *column = A.at + (size_t)p * A.column;
        real *to = copy->A + p * TILE_ROWS;
        int i = 0;
        for (; i + TILE_ROWS <= m; i += TILE_ROWS, to += tile)
            memcpy(to, column + i, TILE_ROWS * sizeof(real));
        for (int r = 0; i + r < m; r++) to[r] = column[i + r];
    }
    *block = (Strided){copy->A, 1, TILE_ROWS};
    return (size_t)tile;
}

/* The same for a product of a mode. Pairs are copied row by row. */
static size_t copy_block(Copies *copy, Strided *block, GemmMode mode, int m, int k)
{
    if (!(mode & BF16)) return copy_floats(copy, block, m, k);
    if (!bf16_pairs()) {
        size_t tile = copy_floats(copy, block, m, k);
        bf16_round(copy->A, tile ? tile * (size_t)((m + TILE_ROWS - 1) / TILE_ROWS)
                                 : (size_t)m * block->row);
        return tile;
    }
    size_t row = bf16_row(k);
    bf16_copy(copy->A, row, false, *block, m, k);
    *block = (Strided){copy->A, row, 1};
    return 0;
}

/* The size of the pieces when `size` is cut into equal ones of at most `limit`, a multiple of
 * `unit`. */
static int piece(int size, int limit, int unit)
{
    int pieces = (size + limit - 1) / limit;
    int even = (size + pieces - 1) / pieces;
    return (even + unit - 1) / unit * unit;
}

/* A panel of C [m,columns], tile by tile. tile: the first one, for any number of rows; step:
 * the offset in A from tile to tile, or 0 if A was not copied tile by tile. Without a step all
 * tiles get about the same height, since low ones are slow. A row of B in a panel is two cache
 * lines, of which each tile prefetches one. */
static void panel_multiply(Copies *copy, Tile tile, size_t step, int m, int columns)
{
    int height = TILE_ROWS;
    if (!step) {
        height = piece(m, TILE_ROWS, 1);
        step = (size_t)height * tile.A.row;
    }
    for (; m > 0; m -= height, tile.A.at += step, tile.C += (size_t)height * tile.ldc) {
        int rows = at_most(m, height);
        if (columns >= TILE_COLUMNS) {
            tile_multiply(&tile, rows, TILE_COLUMNS);
            if (tile.prefetch) tile.prefetch ^= LANES;
            continue;
        }
        Tile whole = tile;
        whole.mode = tile.mode & BF16, whole.C = copy->rest, whole.ldc = TILE_COLUMNS;
        whole.prefetch = 0, whole.start = NULL;
        tile_multiply(&whole, rows, TILE_COLUMNS);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < columns; j++) {
                real *c = tile.C + (size_t)r * tile.ldc + (size_t)j,
                     sum = copy->rest[r * TILE_COLUMNS + j];
                if (tile.start) sum += tile.start[j];
                *c = tile.mode & ADD ? *c + sum : sum;
            }
    }
}

/* The same of pairs by AMX, whose tiles are multiplied whole. */
static void amx_panel_multiply(Copies *copy, const Tile *tile, int m, int columns)
{
    static const real zeros[AMX_COLUMNS];
    enum { ROW = AMX_COLUMNS * sizeof(real) };
    const real *start = tile->start ? tile->start : zeros, *a = tile->A.at;
    const size_t lda = tile->A.row * sizeof(real), ldc = tile->ldc * sizeof(real);
    const bool add = tile->mode & ADD;
    real *C = tile->C;
    for (; m > 0; m -= AMX_ROWS, a += AMX_ROWS * tile->A.row, C += AMX_ROWS * tile->ldc) {
        int rows = at_most(m, AMX_ROWS);
        if (rows == AMX_ROWS && columns >= AMX_COLUMNS) {
            amx_multiply(AMX_BF16, C, ldc, add ? C : start, add ? ldc : 0, a, lda, tile->B,
                         rows, tile->k);
            continue;
        }
        size_t width = (size_t)at_most(columns, AMX_COLUMNS) * sizeof(real);
        real *rest = copy->rest;
        for (int r = 0; r < rows; r++)
            memcpy(rest + r * AMX_COLUMNS, add ? C + (size_t)r * tile->ldc : start, width);
        amx_multiply(AMX_BF16, rest, ROW, rest, ROW, a, lda, tile->B, rows, tile->k);
        for (int r = 0; r < rows; r++)
            memcpy(C + (size_t)r * tile->ldc, rest + r * AMX_COLUMNS, width);
    }
}

static Strided by_rows(const real *A, int columns)
{
    return (Strided){A, (size_t)columns, 1};
}

static Strided by_columns(const real *A, int columns)
{
    return (Strided){A, 1, (size_t)columns};
}

/* panels (=) B [k,n], rounded. */
static void copy_rounded(real *panels, Strided B, int n, int k)
{
    if (!bf16_pairs()) {
        panels_copy(panels, B, n, k);
        bf16_round(panels, panels_size(n, k));
        return;
    }
    for (int j = 0; j < n; j += TILE_COLUMNS, B.at += TILE_COLUMNS * B.column) {
        Strided columns = {B.at, B.column, B.row};
        bf16_copy(panels, TILE_COLUMNS, true, columns, at_most(n - j, TILE_COLUMNS), k);
        panels += bf16_row(k) * TILE_COLUMNS;
    }
}

/* C [m,n] (mode) = scale · A [m,k] · B [k,n] + bias [n] in every row, or NULL: none; with a bias
 * scale is 1. */
static void blocks_multiply(GemmMode mode, real *C, size_t ldc, Strided A, Strided B,
                            const real *bias, int m, int n, int k, real scale)
{
    if (kind_has_openblas() && !(mode & (BF16 | PANELS)) && m > 1 && n > 1 && k > 1 &&
        (double)m * n * k >= OPENBLAS_LEAST) {
        openblas_multiply(mode, C, ldc, A, B, bias, m, n, k, scale);
        return;
    }
    int m_step = piece(m, M_BLOCK, 1), n_step = piece(n, N_BLOCK, TILE_COLUMNS);
    bool packed = mode & PANELS, pairs = mode & BF16 && bf16_pairs();
    bool amx = pairs && kind_has_amx();
    int per = pairs ? 2 : 1;  // numbers of k in a real of a copy
    int k_step = piece(k, K_BLOCK * per, TILE_COLUMNS);
    bool one_block = n <= n_step && k <= k_step;
    bool copied =
        mode & BF16 || (A.column == 1 ? A.row : A.column) * sizeof(real) >= COPY_LIMIT;
    Copies *copy = scratch_take();
    if (amx) amx_begin();
    for (int i = 0; i < m; i += m_step) {
        int rows = at_most(m - i, m_step);
        for (int p = 0; p < k; p += k_step) {
            int depth = at_most(k - p, k_step);
            const real *start = p == 0 ? bias : NULL;
            Strided a = {A.at + (size_t)i * A.row + (size_t)p * A.column, A.row, A.column};
            size_t tile = copied ? copy_block(copy, &a, mode, rows, depth) : 0;
            for (int j = 0; j < n; j += n_step) {
                int columns = at_most(n - j, n_step);
                size_t units = pairs ? bf16_row(depth) : (size_t)(packed ? k : depth);
                size_t panel = units * TILE_COLUMNS;
                const real *b = copy->B;
                if (packed) {
                    b = B.at + (size_t)j * (size_t)k + p * TILE_COLUMNS;
                } else if (i == 0 || !one_block) {
                    Strided block = B;
                    block.at += (size_t)p * block.row + (size_t)j * block.column;
                    (mode & BF16 ? copy_rounded : panels_copy)(copy->B, block, columns, depth);
                }
                Tile t = {.ldc = ldc, .A = a, .ldb = TILE_COLUMNS, .scale = scale};
                t.k = amx ? (int)units : (depth + per - 1) / per;
                t.mode = (p > 0 ? ADD : mode & ADD) | (pairs ? BF16 : 0);
                t.prefetch = packed ? panel : 0;
                t.C = C + (size_t)i * ldc + (size_t)j;
                for (int q = 0; q < columns;
                     q += TILE_COLUMNS, b += panel, t.C += TILE_COLUMNS) {
                    t.B = b, t.start = start ? start + j + q : NULL;
                    if (amx) amx_panel_multiply(copy, &t, rows, columns - q);
                    else panel_multiply(copy, t, tile, rows, columns - q);
                }
            }
        }
    }
    if (amx) amx_end();
    scratch_give(copy);
}

void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, const real *bias, int m,
             int n, int k)
{
    blocks_multiply(mode, C, (size_t)n, by_rows(A, k), by_columns(B, k), bias, m, n, k, 1);
}

void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    blocks_multiply(mode, C, (size_t)n, by_rows(A, k), by_rows(B, n), NULL, m, n, k, 1);
}

void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    blocks_multiply(mode, C, (size_t)n, by_columns(A, m), by_rows(B, n), NULL, m, n, k, 1);
}

void gemm_strided(GemmMode mode, real *C, int ldc, Strided A, const real *B, int ldb, int m,
                  int n, int k, real scale)
{
    blocks_multiply(mode, C, (size_t)ldc, A, by_rows(B, ldb), NULL, m, n, k, scale);
}

void small_gemm(GemmMode mode, real *C, int ldc, Strided A, const real *B, int ldb, int m,
                int n, int k, real scale)
{
    int height = piece(m, TILE_ROWS, 1);
    for (int i = 0; i < m; i += height) {
        int rows = at_most(m - i, height), j = 0;
        Strided a = {A.at + (size_t)i * A.row, A.row, A.column};
        real *c = C + (size_t)i * (size_t)ldc;
        Tile t = {mode, c, (size_t)ldc, a, B, (size_t)ldb, 0, NULL, k, scale};
        for (int columns = TILE_COLUMNS; n - j >= LANES; j += columns) {
            if (n - j < TILE_COLUMNS) columns = LANES;
            t.C = c + j, t.B = B + j;
            tile_multiply(&t, rows, columns);
        }
        for (; j < n; j++)  // fewer columns than a vector has
            for (int r = 0; r < rows; r++) {
                real sum = 0;
                for (int p = 0; p < k; p++)
                    sum += a.at[(size_t)r * a.row + (size_t)p * a.column] * B[p * ldb + j];
                c[r * ldc + j] = scale * sum + (mode == ADD ? c[r * ldc + j] : 0);
            }
    }
}
