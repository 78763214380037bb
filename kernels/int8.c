/* int8.c -- weights and activations quantised to eight bits, and their products; see int8.h.
 *
 * A product multiplies some rows of X by one panel of W after the other:
 *
 *   (1)  quantise X's rows: u = a + 128, since the processor's instruction wants one unsigned
 *        factor (VPDPBUSD: four unsigned times four signed bytes, summed into 32 bits)
 *   (2)  a kernel sums a tile of up to 14 rows, or 32, and 32 columns:  offset + Σ u q = Σ a q
 *   (3)  convert the tile to floats:  y = t s Σ a q + b
 *
 * Only (2) differs between processors, and it is exact. So the choice of the kernel does not
 * change a bit of the result. */
#include "kernels/int8.h"

#include <float.h>

#include "kernels/amx.h"
#include "kernels/scratch.h"

/* Quantised rows of X: of the widest matrix, 14 fit. A kernel may read 15 rows more, but AMX, which
 * does, leaves the wide ones to others. */
enum {
    QUANTISED = 14 * INT8_MOST_COLUMNS,
    QUANTISED_ROWS = 512,
    BEHIND = 15 * INT8_AMX_GROUPS * INT8_GROUP
};
typedef struct Quantised {
    uint8_t u[QUANTISED + BEHIND];
    float scale[QUANTISED_ROWS];
} Quantised;
_Static_assert(sizeof(Quantised) <= SCRATCH_BYTES, "quantised rows need more scratch memory");

static int groups_of(int columns)
{
    return (columns + INT8_GROUP - 1) / INT8_GROUP;
}

static size_t panel_size(int columns)
{
    return (size_t)groups_of(columns) * INT8_PANEL * INT8_GROUP;
}

/* Where a row begins, and the offset of its number k: its groups are INT8_PANEL groups
 * apart. */
static int8_t *row_of(const Int8Matrix *matrix, int row)
{
    return matrix->q + (size_t)(row / INT8_PANEL) * panel_size(matrix->columns) +
           row % INT8_PANEL * INT8_GROUP;
}

static inline int place_of(int k)
{
    return k / INT8_GROUP * INT8_PANEL * INT8_GROUP + k % INT8_GROUP;
}

const Int8Matrix *int8_take(Arena *arena, int rows, int columns)
{
    assert(columns <= INT8_MOST_COLUMNS);
    size_t count = (size_t)((rows + INT8_PANEL - 1) / INT8_PANEL), width = count * INT8_PANEL;
    size_t panel = panel_size(columns);
    Int8Matrix *matrix = ARENA_TAKE(arena, Int8Matrix, 1);
    Int8Matrix taken = {rows, columns, ARENA_TAKE(arena, int8_t, count * panel),
                        ARENA_TAKE(arena, float, width), ARENA_TAKE(arena, int32_t, width)};
    if (!matrix) return NULL;
    *matrix = taken;
    memset(matrix->q + (count - 1) * panel, 0, panel);
    return matrix;
}

/* max |x|; NaN or infinity if a number is. The bits of numbers without sign are in their order. */
static float largest(const real *x, int count)
{
    typedef union Bits {
        float number;
        int32_t bits;
    } Bits;
    int32_t most = 0;
    for (int k = 0; k < count; k++) {
        int32_t bits = (Bits){.number = (float)x[k]}.bits & 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return (Bits){.bits = most}.number;
}

/* The factor that brings numbers of at most `most` into -127 .. 127. It is 0, and so are the
 * integers, if `most` is not finite or so small that the factor would overflow. */
static float to_integers(float most)
{
    return most > 1e-35f && most <= FLT_MAX ? 127 / most : 0;
}

float int8_quantise_row(int8_t *q, const real *w, int count)
{
    float most = largest(w, count), inverse = to_integers(most);
    for (int k = 0; k < count; k++)
        q[k] = inverse > 0 ? (int8_t)(int)rintf((float)w[k] * inverse) : 0;
    return most / 127;
}

void int8_put(const Int8Matrix *matrix, int row, const int8_t *q, float scale)
{
    int8_t *to = row_of(matrix, row), last[INT8_GROUP] = {0};
    int32_t sum = 0;
    int k = 0, count = matrix->columns;
    for (; k + INT8_GROUP <= count; k += INT8_GROUP)
        memcpy(to + place_of(k), q + k, INT8_GROUP);
    memcpy(last, q + k, (size_t)(count - k));
    if (k < count) memcpy(to + place_of(k), last, INT8_GROUP);
    for (k = 0; k < count; k++) sum += q[k];
    matrix->scale[row] = scale;
    matrix->offset[row] = -128 * sum;
}

void int8_get(int8_t *q, const Int8Matrix *matrix, int row)
{
    const int8_t *from = row_of(matrix, row);
    for (int k = 0; k < matrix->columns; k++) q[k] = from[place_of(k)];
}

void int8_quantise(const Int8Matrix *matrix, int first, const real *W, int rows)
{
    int8_t *q = scratch_take();
    for (int row = first; row < first + rows; row++, W += matrix->columns) {
        float scale = int8_quantise_row(q, W, matrix->columns);
        int8_put(matrix, row, q, scale);
    }
    scratch_give(q);
}

void int8_gather(const Int8Matrix *to, const Int8Matrix *from, const int *row, int count)
{
    size_t panel = panel_size(from->columns);
    for (int i = 0; i < count; i++) {
        const int8_t *q = row_of(from, row[i]);
        int8_t *p = row_of(to, i);
        for (size_t k = 0; k < panel; k += INT8_PANEL * INT8_GROUP)
            memcpy(p + k, q + k, INT8_GROUP);
        to->scale[i] = from->scale[row[i]];
        to->offset[i] = from->offset[row[i]];
    }
}

void int8_dequantise(real *x, const Int8Matrix *matrix, int row)
{
    const int8_t *from = row_of(matrix, row);
    real scale = matrix->scale[row];
    for (int k = 0; k < matrix->columns; k++) x[k] = scale * from[place_of(k)];
}

/* (1)  u [stride] (=) x [count] / t + 128, rounded; returns t. */
static float quantise_activations(uint8_t *u, const real *x, int count, int stride)
{
    float most = largest(x, count), inverse = to_integers(most);
    if (inverse > 0) {
#pragma omp simd
        for (int k = 0; k < count; k++) u[k] = (uint8_t)(int)((float)x[k] * inverse + 128.5f);
        memset(u + count, 128, (size_t)(stride - count));
    } else {
        memset(u, 128, (size_t)stride);
    }
    return most / 127;
}

/* (3)  Y, rows ldy apart, (=) t s C + b   C [rows,INT8_PANEL]   t [rows]   s, b [columns] */
static inline void to_floats(real *Y, size_t ldy, const int32_t *C, const float *t,
                             const float *s, const real *b, int rows, int columns)
{
    for (int r = 0; r < rows; r++, Y += ldy, C += INT8_PANEL) {
#pragma omp simd simdlen(16)
        for (int j = 0; j < columns; j++) Y[j] = (real)(t[r] * s[j] * (float)C[j]) + b[j];
    }
}

/* Columns first .. of Y [rows,..]: one panel, tile by tile. */
static void panel_multiply(const Int8Kernels *kernel, const Quantised *quantised, real *Y,
                           size_t ldy, const Int8Matrix *matrix, int first, const real *b,
                           int rows, int columns)
{
    static const real none[INT8_PANEL];
    int32_t C[INT8_ROWS * INT8_PANEL];
    const int8_t *panel = row_of(matrix, first);
    const float *scale = matrix->scale + first;
    int groups = groups_of(matrix->columns), tiles = (rows + kernel->rows - 1) / kernel->rows;
    size_t stride = (size_t)groups * INT8_GROUP;
    if (!b) b = none;
    for (int r = 0, height; r < rows; r += height, tiles--) {
        height = kernel->amx ? at_most(rows - r, AMX_ROWS) : (rows - r + tiles - 1) / tiles;
        kernel->multiply(C, quantised->u + (size_t)r * stride, stride, panel,
                         matrix->offset + first, height, groups);
        real *y = Y + (size_t)r * ldy;
        if (columns >= INT8_PANEL)
            to_floats(y, ldy, C, quantised->scale + r, scale, b, height, INT8_PANEL);
        else to_floats(y, ldy, C, quantised->scale + r, scale, b, height, columns);
    }
}

void int8_multiply(real *Y, const real *X, const Int8Matrix *matrix, const real *b, int N,
                   int count)
{
    int columns = matrix->columns, stride = groups_of(columns) * INT8_GROUP;
    int most = at_most(QUANTISED / stride, QUANTISED_ROWS);
    const Int8Kernels *kernel = int8_kernels;
    while (!int8_runs(kernel, N, stride / INT8_GROUP)) kernel++;
    Quantised *quantised = scratch_take();
    if (kernel->amx) amx_begin();
    for (int n = 0, rows; n < N; n += rows) {
        rows = at_most(N - n, most);
        for (int r = 0; r < rows; r++)
            quantised->scale[r] =
                quantise_activations(quantised->u + (size_t)r * (size_t)stride,
                                     X + (size_t)(n + r) * (size_t)columns, columns, stride);
        for (int j = 0; j < count; j += INT8_PANEL)
            panel_multiply(kernel, quantised, Y + (size_t)n * (size_t)count + (size_t)j,
                           (size_t)count, matrix, j, b ? b + j : NULL, rows, count - j);
    }
    if (kernel->amx) amx_end();
    scratch_give(quantised);
}
