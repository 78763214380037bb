/* gemm.c -- matrix products, cut into blocks that fit the caches.
 *
 *   for a block of 512 rows of C                  A's block lies in the second-level cache,
 *     for a block of 256 numbers of k             512 · 256 floats
 *       for a block of 512 columns
 *         copy the block of B                     and so does B's: 256 · 512 floats
 *         for a panel of TILE_COLUMNS columns     B's panel comes to lie in the first-level
 *           for a tile of TILE_ROWS rows          cache, and C's tile lies in registers
 *
 * B is copied panel by panel, each with its rows one behind the other, whether B is stored by
 * rows or, in X Wᵀ, by columns. A is read in place, unless it is so wide that a tile's rows fall
 * on each other in the cache; then its block is copied, tile by tile. Blocking as in Goto and van
 * de Geijn 2008, with A and B in each other's place, since here it is A that has few rows.
 *
 * A B that lies in panels, all of k in each, is not copied at all. It comes from far, being read
 * once a step of the decoder or once a micro-batch, so the panel after this one is asked for while
 * this one is multiplied (docs/speed.md). */
#include "kernels/gemm.h"

#include <cblas.h>
#include <string.h>

#include "base/real.h"

#ifdef REAL_IS_DOUBLE
#define CBLAS_GEMM cblas_dgemm
#else
#define CBLAS_GEMM cblas_sgemm
#endif

enum { M_BLOCK = 512, K_BLOCK = 256, N_BLOCK = 512 };
enum { COPY_LIMIT = 2048 };  // bytes from row to row, or column: from here on A is copied
enum { LARGE = 512 };        // rows and columns of a W that is worth panels
enum { LINE = 64 / sizeof(real) };  // lies between copied rows, which would share a cache set
/* What copying dYᵀ moves at a time: whole vectors, as they are faster. */
enum { CHUNK = VECTOR_BYTES / sizeof(real) > TILE_ROWS ? LANES : TILE_ROWS };

/* Each thread's copies. */
static _Thread_local struct {
    _Alignas(VECTOR_BYTES) real B[N_BLOCK * K_BLOCK];  // panels [k,TILE_COLUMNS]
    _Alignas(VECTOR_BYTES) real A[(M_BLOCK + CHUNK) * (K_BLOCK + LINE)];  // tile behind tile
    _Alignas(VECTOR_BYTES) real rest[TILE_ROWS * TILE_COLUMNS];
} copy;

void gemm_setup(void)
{
    openblas_set_num_threads(1);
}

/* Our own kernel pays from a few tiles on, and needs the registers of AVX-512. */
static bool ours(int rows)
{
    return TILE_ROWS == 14 && rows >= 2 * TILE_ROWS;
}

/* copy.A (=) the block [m,k] of A, which becomes the copy: row behind row, or, where A lies by
 * columns, tile behind tile. Returns how far one tile is from the next, or 0: as its rows are. */
static size_t copy_block(Strided *block, int m, int k)
{
    Strided A = *block;
    int tile = TILE_ROWS * k + CHUNK - TILE_ROWS;
    if (A.column == 1) {
        for (int i = 0; i < m; i++)
            memcpy(copy.A + i * (k + LINE), A.at + (size_t)i * A.row, (size_t)k * sizeof(real));
        *block = (Strided){copy.A, (size_t)(k + LINE), 1};
        return 0;
    }
    for (int p = 0; p < k; p++) {
        const real *column = A.at + (size_t)p * A.column;
        real *to = copy.A + p * TILE_ROWS;
        int i = 0;
        for (; i + CHUNK <= m; i += TILE_ROWS, to += tile)
            memcpy(to, column + i, CHUNK * sizeof(real));  // what is too much is overwritten
        for (; i < m; i += TILE_ROWS, to += tile)
            for (int r = 0; r < TILE_ROWS && i + r < m; r++) to[r] = column[i + r];
    }
    *block = (Strided){copy.A, 1, TILE_ROWS};
    return (size_t)tile;
}

/* The size of the pieces when `size` is cut into equal ones of at most `limit`, a multiple of
 * `unit`. */
static int piece(int size, int limit, int unit)
{
    int pieces = (size + limit - 1) / limit;
    int even = (size + pieces - 1) / pieces;
    return (even + unit - 1) / unit * unit;
}

/* A panel of C, m rows and `columns` wide, tile by tile: the next TILE_ROWS rows of A are `tile`
 * further, or 0: A's tiles were not copied one by one. Then all are about as high, since low ones
 * are slow.
 * next: how far behind this panel the one is that comes after it, or 0: need not be asked for. A
 * step reads two cache lines of its panel and asks for one of the next, each tile for the other. */
static void panel_multiply(GemmMode mode, real *C, size_t ldc, Strided A, size_t tile,
                           const real *panel, size_t next, const real *start, int m,
                           int columns, int k)
{
    int height = TILE_ROWS;
    if (!tile) height = piece(m, TILE_ROWS, 1), tile = (size_t)height * A.row;
    for (int i = 0; i < m; i += height, A.at += tile, C += (size_t)height * ldc) {
        int rows = at_most(m - i, height);
        if (columns >= TILE_COLUMNS) {
            tile_multiply(mode, C, ldc, A, panel, TILE_COLUMNS, next, start, rows, TILE_COLUMNS,
                          k, 1);
            if (next) next ^= LANES;
            continue;
        }
        tile_multiply(SET, copy.rest, TILE_COLUMNS, A, panel, TILE_COLUMNS, 0, NULL, rows,
                      TILE_COLUMNS, k, 1);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < columns; j++) {
                real *c = C + (size_t)r * ldc + (size_t)j,
                     sum = copy.rest[r * TILE_COLUMNS + j];
                if (start) sum += start[j];
                *c = mode == ADD ? *c + sum : sum;
            }
    }
}

/* B [k,n] of a product: strided, and copied; or all of it panels, which are multiplied as they lie;
 * or, turned, panels of its transpose, and copied. */
typedef struct Right {
    Strided at;
    const real *panels;  // or NULL
    bool turned;
} Right;

/* C [m,n] of a product: rows `row` apart, and from one TILE_COLUMNS columns to the next `panel`. */
typedef struct Result {
    real *at;
    size_t row, panel;
} Result;

static Result rows_of(real *C, int n)
{
    return (Result){C, (size_t)n, TILE_COLUMNS};
}

/* copy.B (=) panels of B's rows p .. p+depth-1, columns j .. j+columns-1. */
static void copy_panels(Right B, int p, int j, int depth, int columns, int n)
{
    if (B.turned) {
        panels_turn(copy.B, B.panels + (size_t)p * (size_t)n + j * TILE_COLUMNS, n, columns,
                    depth);
        return;
    }
    B.at.at += (size_t)p * B.at.row + (size_t)j * B.at.column;
    panels_copy(copy.B, B.at, columns, depth);
}

/* C [m,n] (mode) = A [m,k] · B [k,n] + bias [n] in every row, or NULL: none. */
static void blocks_multiply(GemmMode mode, Result C, Strided A, Right B, const real *bias,
                            int m, int n, int k)
{
    int m_step = piece(m, M_BLOCK, 1), n_step = piece(n, N_BLOCK, TILE_COLUMNS);
    int k_step = piece(k, K_BLOCK, B.turned ? TILE_COLUMNS : LANES);
    bool in_place = B.panels && !B.turned, one_block = n <= n_step && k <= k_step;
    bool copied = (A.column == 1 ? A.row : A.column) * sizeof(real) >= COPY_LIMIT;
    for (int i = 0; i < m; i += m_step) {
        int rows = at_most(m - i, m_step);
        for (int p = 0; p < k; p += k_step) {
            int depth = at_most(k - p, k_step);
            const real *start = p == 0 ? bias : NULL;
            Strided a = {A.at + (size_t)i * A.row + (size_t)p * A.column, A.row, A.column};
            size_t tile = copied ? copy_block(&a, rows, depth) : 0;
            for (int j = 0; j < n; j += n_step) {
                int columns = at_most(n - j, n_step);
                size_t panel = (size_t)(in_place ? k : depth) * TILE_COLUMNS;
                const real *b = copy.B;
                if (in_place) b = B.panels + (size_t)j * (size_t)k + p * TILE_COLUMNS;
                else if (i == 0 || !one_block) copy_panels(B, p, j, depth, columns, n);
                real *c = C.at + (size_t)i * C.row + (size_t)(j / TILE_COLUMNS) * C.panel;
                for (int q = 0; q < columns; q += TILE_COLUMNS, b += panel, c += C.panel)
                    panel_multiply(p > 0 ? ADD : mode, c, C.row, a, tile, b,
                                   in_place ? panel : 0, start ? start + j + q : NULL, rows,
                                   columns - q, depth);
            }
        }
    }
}

void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, const real *bias, int m,
             int n, int k)
{
    if (ours(m)) {
        blocks_multiply(mode, rows_of(C, n), (Strided){A, (size_t)k, 1},
                        (Right){.at = {B, 1, (size_t)k}}, bias, m, n, k);
        return;
    }
    CBLAS_GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, A, k, B, k, mode == ADD, C,
               n);
    for (int i = 0; bias && i < m; i++) {
        real *row = C + (size_t)i * (size_t)n;
#pragma omp simd
        for (int j = 0; j < n; j++) row[j] += bias[j];
    }
}

void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    if (ours(m))
        blocks_multiply(mode, rows_of(C, n), (Strided){A, (size_t)k, 1},
                        (Right){.at = {B, (size_t)n, 1}}, NULL, m, n, k);
    else
        CBLAS_GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n,
                   mode == ADD, C, n);
}

void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    if (ours(k))
        blocks_multiply(mode, rows_of(C, n), (Strided){A, 1, (size_t)m},
                        (Right){.at = {B, (size_t)n, 1}}, NULL, m, n, k);
    else
        CBLAS_GEMM(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, mode == ADD,
                   C, n);
}

Repeated gemm_repeated(real *room, const real *B, int n, int k)
{
    if (!ours(k)) return (Repeated){B, NULL, n, k};
    panels_copy(room, (Strided){B, (size_t)n, 1}, n, k);
    return (Repeated){B, room, n, k};
}

void gemm_tn_repeated(GemmMode mode, real *C, const real *A, const Repeated *B, int m)
{
    if (B->panels)
        blocks_multiply(mode, rows_of(C, B->n), (Strided){A, 1, (size_t)m},
                        (Right){.panels = B->panels}, NULL, m, B->n, B->k);
    else gemm_tn(mode, C, A, B->B, m, B->n, B->k);
}

bool gemm_packs(void)
{
    return VECTOR_BYTES >= 32;
}

void gemm_nt_panels(real *C, const real *A, const real *B, const real *bias, int m, int n,
                    int k)
{
    blocks_multiply(SET, rows_of(C, n), (Strided){A, (size_t)k, 1}, (Right){.panels = B}, bias,
                    m, n, k);
}

bool gemm_in_panels(int n, int k)
{
    return TILE_ROWS == 14 && sizeof(real) == sizeof(float) && n >= LARGE && k >= LARGE &&
           k <= PANELS_DEPTH && n % TILE_COLUMNS == 0 && k % TILE_COLUMNS == 0;
}

void gemm_nn_panels(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    blocks_multiply(mode, rows_of(C, n), (Strided){A, (size_t)k, 1},
                    (Right){.panels = B, .turned = true}, NULL, m, n, k);
}

/* As Cᵀ = Bᵀ A, whose panels of columns are those of C's rows. */
void gemm_tn_panels(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    blocks_multiply(mode, (Result){C, TILE_COLUMNS, (size_t)n * TILE_COLUMNS},
                    (Strided){B, 1, (size_t)n}, (Right){.at = {A, (size_t)m, 1}}, NULL, n, m,
                    k);
}

void small_gemm(real *C, int ldc, Strided A, const real *B, int ldb, int m, int n, int k,
                real scale)
{
    int height = piece(m, TILE_ROWS, 1);
    for (int i = 0; i < m; i += height) {
        int rows = at_most(m - i, height), j = 0;
        Strided a = {A.at + (size_t)i * A.row, A.row, A.column};
        real *c = C + (size_t)i * (size_t)ldc;
        for (int columns = TILE_COLUMNS; j < n; j += columns) {
            if (n - j < TILE_COLUMNS) columns = LANES;
            if (n - j < LANES) break;
            tile_multiply(SET, c + j, (size_t)ldc, a, B + j, (size_t)ldb, 0, NULL, rows,
                          columns, k, scale);
        }
        for (; j < n; j++)  // fewer columns than a vector has
            for (int r = 0; r < rows; r++) {
                real sum = 0;
                for (int p = 0; p < k; p++)
                    sum += a.at[(size_t)r * a.row + (size_t)p * a.column] * B[p * ldb + j];
                c[r * ldc + j] = scale * sum;
            }
    }
}
