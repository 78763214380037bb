/* int8.h -- products of activations and weights in integers of eight bits.
 *
 *   weights       w ≈ s q,  s = max|w| / 127 of a row of W, once;   q in -127 .. 127
 *   activations   x ≈ t a,  t = max|x| / 127 of a row of X, at every product
 *   product       y_ij = t_i s_j (Σ_k a_ik q_jk) + b_j
 *
 * The sum is an integer, exact for rows of up to 65,536 numbers, so every kernel gets the same
 * one. Only rounding is lost: |w - s q| <= s / 2 and |x - t a| <= t / 2, hence with n numbers a row
 *
 *   |y - x·w - b| <= Σ_k (|x_k| s + |w_k| t + s t / 2) / 2      <= 127.25 n s t
 *
 * but as the errors have either sign, about √n · s t · 127 / 5 for numbers of all sizes, 0.5 to 1 %
 * of a typical |x||w|. Wu et al. 2020 (arXiv 2004.09602), §3: symmetric, a scale a row. */
#ifndef KERNELS_INT8_H
#define KERNELS_INT8_H

#include "base/arena.h"
#include "base/real.h"

#include <stdint.h>

/* W as the kernels read it: 32 rows side by side are a panel, four numbers of each in turn. */
enum { INT8_PANEL = 32, INT8_GROUP = 4, INT8_ROWS = 14, INT8_MOST_COLUMNS = 65536 };

typedef struct Int8Panels {
    int rows, columns;
    int8_t *q;        // [panels][groups][INT8_PANEL][INT8_GROUP], zeros behind rows and columns
    float *scale;     // [panels INT8_PANEL]
    int32_t *offset;  // [panels INT8_PANEL] -128 Σ_k q
} Int8Panels;

void int8_layout(Int8Panels *panels, Arena *arena, int rows, int columns);

/* panels (=) W [rows,columns], quantised. */
void int8_quantise(Int8Panels *panels, const real *W);

/* Row by row, as a file keeps them: q [columns] and its scale, into panels and out again. */
void int8_put(Int8Panels *panels, int row, const int8_t *q, float scale);
void int8_get(int8_t *q, float *scale, const Int8Panels *panels, int row);

/* x [columns] (=) s q of a row. */
void int8_dequantise(real *x, const Int8Panels *panels, int row);

/* q [count], scale (=) of w [count], which must be finite. All zeros have scale 0. */
float int8_quantise_row(int8_t *q, const real *w, int count);

/* Y [N,count] (=) X Wᵀ + b, the first `count` rows of W.   X [N,columns]   b [count] or NULL */
void int8_multiply(real *Y, const real *X, const Int8Panels *panels, const real *b, int N,
                   int count);

/* ---- the kernels ---- */

/* C [rows,INT8_PANEL] (=) offset + Σ_k u q, with u = a + 128 in 1 .. 255: Σ_k a q, exactly.
 * u [rows,4 groups], rows `stride` apart   panel [groups][INT8_PANEL][INT8_GROUP]
 * offset [INT8_PANEL]   rows: 1 .. INT8_ROWS */
typedef void Int8Kernel(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                        const int32_t *offset, int rows, int groups);

typedef struct Int8Kernels {
    const char *name;    // "AVX-512 VNNI"
    bool (*runs)(void);  // on this processor
    Int8Kernel *multiply;
} Int8Kernels;

/* Best first; the last one, plain C, runs everywhere. int8_multiply takes the first that runs. */
extern const Int8Kernels int8_kernels[];
extern const int int8_kernel_count;

#endif
