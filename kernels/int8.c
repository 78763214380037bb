/* int8.c -- weights and activations rounded to eight bits, and their products; see int8.h.
 *
 * A product of some rows of X goes through W panel by panel:
 *
 *   (1)  X's rows are rounded: u = a + 128, since the processor's instruction wants one factor
 *        without a sign (VPDPBUSD: four unsigned times four signed bytes, summed into 32 bits)
 *   (2)  a kernel sums a tile of up to 14 rows and 32 columns:  offset + Σ u q = Σ a q
 *   (3)  one pass makes floats of the tile:  y = t s Σ a q + b
 *
 * Only (2) differs from processor to processor, and it is exact; (1) and (3) are the same code for
 * all kernels. So which kernel runs changes nothing, not one bit. */
#include "kernels/int8.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/real.h"

/* Each thread's rounded rows; those of the widest matrix fit at least INT8_ROWS at a time. */
enum { ROUNDED = INT8_ROWS * INT8_MOST_COLUMNS, ROUNDED_ROWS = 512 };
static _Thread_local struct {
    _Alignas(ARENA_ALIGNMENT) uint8_t u[ROUNDED];
    float scale[ROUNDED_ROWS];
} rounded;

/* The first that this processor can run. */
static const Int8Kernels *kernel(void)
{
    const Int8Kernels *k = int8_kernels;
    while (!k->runs()) k++;
    return k;
}

static int groups_of(int columns)
{
    return (columns + INT8_GROUP - 1) / INT8_GROUP;
}

/* Numbers of a panel. */
static size_t panel_size(int columns)
{
    return (size_t)groups_of(columns) * INT8_PANEL * INT8_GROUP;
}

/* Where a row's numbers begin, and where number k is from there: each group of four is INT8_PANEL
 * groups behind the one before. */
static int8_t *row_of(const Int8Panels *panels, int row)
{
    return panels->q + (size_t)(row / INT8_PANEL) * panel_size(panels->columns) +
           row % INT8_PANEL * INT8_GROUP;
}

static inline int place_of(int k)
{
    return k / INT8_GROUP * INT8_PANEL * INT8_GROUP + k % INT8_GROUP;
}

void int8_layout(Int8Panels *panels, Arena *arena, int rows, int columns)
{
    assert(columns <= INT8_MOST_COLUMNS);
    size_t count = (size_t)((rows + INT8_PANEL - 1) / INT8_PANEL), width = count * INT8_PANEL;
    size_t panel = panel_size(columns);
    panels->rows = rows;
    panels->columns = columns;
    panels->q = ARENA_TAKE(arena, int8_t, count * panel);
    panels->scale = ARENA_TAKE(arena, float, width);
    panels->offset = ARENA_TAKE(arena, int32_t, width);
    if (arena->base) memset(panels->q + (count - 1) * panel, 0, panel);
}

/* max |x|, or NaN if a number is not finite. */
static float largest(const real *x, int count)
{
    real most = 0, poison = 0;
#pragma omp simd reduction(max : most) reduction(+ : poison)
    for (int k = 0; k < count; k++) {
        real size = x[k] < 0 ? -x[k] : x[k];
        most = size > most ? size : most;
        poison += 0 * x[k];
    }
    return (float)(most + poison);
}

/* What numbers are multiplied by to lie in -127 .. 127. Where they are so small that this is no
 * float, or no numbers at all, it is 0, and what they become is 0. */
static float to_integers(float most)
{
    return most > 1e-35f && most <= FLT_MAX ? 127 / most : 0;
}

float int8_quantise_row(int8_t *q, const real *w, int count)
{
    float most = largest(w, count), inverse = to_integers(most);
    for (int k = 0; k < count; k++)
        q[k] = inverse > 0 ? (int8_t)lrintf((float)w[k] * inverse) : 0;
    return most / 127;
}

void int8_put(Int8Panels *panels, int row, const int8_t *q, float scale)
{
    int8_t *to = row_of(panels, row);
    int32_t sum = 0;
    for (int k = 0; k < groups_of(panels->columns) * INT8_GROUP; k++) {
        int8_t number = k < panels->columns ? q[k] : 0;
        to[place_of(k)] = number;
        sum += number;
    }
    panels->scale[row] = scale;
    panels->offset[row] = -128 * sum;
}

void int8_get(int8_t *q, float *scale, const Int8Panels *panels, int row)
{
    const int8_t *from = row_of(panels, row);
    for (int k = 0; k < panels->columns; k++) q[k] = from[place_of(k)];
    *scale = panels->scale[row];
}

void int8_quantise(Int8Panels *panels, const real *W)
{
    int8_t *q = (int8_t *)rounded.u;
    for (int row = 0; row < panels->rows; row++) {
        const real *w = W + (size_t)row * (size_t)panels->columns;
        float scale = int8_quantise_row(q, w, panels->columns);
        int8_put(panels, row, q, scale);
    }
}

void int8_dequantise(real *x, const Int8Panels *panels, int row)
{
    const int8_t *from = row_of(panels, row);
    real scale = panels->scale[row];
    for (int k = 0; k < panels->columns; k++) x[k] = scale * from[place_of(k)];
}

/* (1)  u [stride] (=) x [count] / t + 128, rounded; returns t. */
static float round_row(uint8_t *u, const real *x, int count, int stride)
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
#pragma omp simd
        for (int j = 0; j < columns; j++) Y[j] = (real)(t[r] * s[j] * (float)C[j]) + b[j];
    }
}

/* Columns first .. of Y [rows,..]: one panel, tile by tile. */
static void panel_multiply(real *Y, size_t ldy, const Int8Panels *panels, int first,
                           const real *b, int rows, int columns)
{
    static const real none[INT8_PANEL];
    int32_t C[INT8_ROWS * INT8_PANEL];
    const int8_t *panel = row_of(panels, first);
    const float *scale = panels->scale + first;
    int groups = groups_of(panels->columns), tiles = (rows + INT8_ROWS - 1) / INT8_ROWS;
    size_t stride = (size_t)groups * INT8_GROUP;
    Int8Kernel *multiply = kernel()->multiply;
    if (!b) b = none;
    for (int r = 0, height; r < rows; r += height, tiles--) {
        height = (rows - r + tiles - 1) / tiles;
        multiply(C, rounded.u + (size_t)r * stride, stride, panel, panels->offset + first,
                 height, groups);
        real *y = Y + (size_t)r * ldy;
        if (columns >= INT8_PANEL)
            to_floats(y, ldy, C, rounded.scale + r, scale, b, height, INT8_PANEL);
        else to_floats(y, ldy, C, rounded.scale + r, scale, b, height, columns);
    }
}

void int8_multiply(real *Y, const real *X, const Int8Panels *panels, const real *b, int N,
                   int count)
{
    int columns = panels->columns, stride = groups_of(columns) * INT8_GROUP;
    int most = at_most(ROUNDED / stride, ROUNDED_ROWS);
    for (int n = 0, rows; n < N; n += rows) {
        rows = at_most(N - n, most);
        for (int r = 0; r < rows; r++)
            rounded.scale[r] =
                round_row(rounded.u + (size_t)r * (size_t)stride,
                          X + (size_t)(n + r) * (size_t)columns, columns, stride);
        for (int j = 0; j < count; j += INT8_PANEL)
            panel_multiply(Y + (size_t)n * (size_t)count + (size_t)j, (size_t)count, panels, j,
                           b ? b + j : NULL, rows, count - j);
    }
}
