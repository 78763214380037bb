/* int8.h -- products of activations and weights in integers of eight bits.
 *
 *   weights       w ≈ s q,  s = max|w| / 127 of a row of W, once;   q in -127 .. 127
 *   activations   x ≈ t a,  t = max|x| / 127 of a row of X, at every product
 *   product       y_ij = t_i s_j (Σ_k a_ik q_jk) + b_j
 *
 * The sum is an integer, exact for rows of up to 65,536 numbers, so all kernels give the same
 * bits. The only error is that of rounding: |w - s q| <= s / 2 and |x - t a| <= t / 2. With n
 * numbers a row,
 *
 *   |y - x·w - b| <= Σ_k (|x_k| s + |w_k| t + s t / 2) / 2      <= 127.25 n s t
 *
 * Errors of both signs cancel: about √n · s t · 127 / 5 remains, 0.5 to 1 % of a typical
 * |x||w|. Wu et al. 2020 (arXiv 2004.09602), §3: symmetric, a scale a row. */
#pragma once

#include "base/arena.h"
#include "base/real.h"

/* W as the kernels read it: a panel is 32 rows, interleaved by groups of four numbers. */
enum { INT8_PANEL = 32, INT8_GROUP = 4, INT8_ROWS = 32, INT8_MOST_COLUMNS = 65536 };
/* What AMX multiplies: rows of X at least, and groups of a row at most. */
enum { INT8_AMX_ROWS = 12, INT8_AMX_GROUPS = 4096 };

typedef struct Int8Matrix {
    int rows, columns;
    int8_t *q;        // [panels][groups][INT8_PANEL][INT8_GROUP], padded with zeros
    float *scale;     // [panels INT8_PANEL]
    int32_t *offset;  // [panels INT8_PANEL] -128 Σ_k q
} Int8Matrix;

/* A matrix in memory of the arena, to be filled. NULL if the arena is a measuring one. */
const Int8Matrix *int8_take(Arena *arena, int rows, int columns);

/* Rows first .. of the matrix (=) W [rows,columns], quantised. */
void int8_quantise(const Int8Matrix *matrix, int first, const real *W, int rows);

/* Writes one row as a file stores it, q [columns] and its scale, and reads back its q. */
void int8_put(const Int8Matrix *matrix, int row, const int8_t *q, float scale);
void int8_get(int8_t *q, const Int8Matrix *matrix, int row);

/* The first `count` rows of `to` (=) the rows row [count] of `from`, which is as wide. */
void int8_gather(const Int8Matrix *to, const Int8Matrix *from, const int *row, int count);

/* x [columns] (=) s q of a row. */
void int8_dequantise(real *x, const Int8Matrix *matrix, int row);

/* q [count] (=) w [count], quantised; returns the scale, 0 if all numbers are. w must be
 * finite. */
float int8_quantise_row(int8_t *q, const real *w, int count);

/* Y [N,count] (=) X Wᵀ + b, the first `count` rows of W.   X [N,columns]   b [count] or NULL */
void int8_multiply(real *Y, const real *X, const Int8Matrix *matrix, const real *b, int N,
                   int count);

/* ---- the kernels ---- */

/* C [rows,INT8_PANEL] (=) offset + Σ_k u q with u = a + 128 in 1 .. 255: exactly Σ_k a q.
 * u [rows,4 groups], rows `stride` apart   panel [groups][INT8_PANEL][INT8_GROUP]
 * offset [INT8_PANEL]   rows: 1 .. those of the kernel
 * With amx the rows of u and C up to the next multiple of 16 are read and written, too. */
typedef void Int8Kernel(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                        const int32_t *offset, int rows, int groups);

typedef struct Int8Kernels {
    const char *name;  // "AVX-512 VNNI"
    Int8Kernel *multiply;
    int rows;  // the most of a tile
    bool amx;  // needs amx_begin and amx_end (amx.h)
} Int8Kernels;

/* Fastest first; the last one, plain C, runs everywhere. int8_multiply uses the first that
 * runs. */
extern const Int8Kernels int8_kernels[];
extern const int int8_kernel_count;

/* Whether this processor has the instructions, and the kernel takes so many groups and is fast with
 * so many rows of X. */
bool int8_runs(const Int8Kernels *kernel, int rows, int groups);
