/* bf16.c -- rounding to bfloat16, and pairs of it; see bf16.h. */
#include "kernels/bf16.h"

#include "kernels/amx.h"
#include "kernels/kind.h"
#include "kernels/transpose.h"

#if TILE_OF_PAIRS
#include <immintrin.h>
#endif

/* A float plus half of the upper half's last bit; a tie is rounded up only if that bit is 1. */
void bf16_round(real *x, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        float number = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        memcpy(&number, &bits, sizeof bits);
        x[i] = isnan(x[i]) ? x[i] : (real)number;
    }
}

bool bf16_is_faster(void)
{
    return bf16_pairs() && (kind_has_amx() || !amx_exists());
}

#if TILE_OF_PAIRS
enum { SQUARE = 16 };  // pairs in a vector

bool bf16_pairs(void)
{
    return __builtin_cpu_supports("avx512bf16");
}

/* The lowest `count` lanes. */
static __mmask16 lanes(int count)
{
    return (__mmask16)(count >= SQUARE ? 0xffff : count > 0 ? (1 << count) - 1 : 0);
}

/* low and high, rounded: the lower and the upper half. */
static inline __m512i round_two(__m512 low, __m512 high)
{
    __m512i both;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(low), "v"(high));
    return both;
}

/* T [16,16] (=) the pairs of X [n,k], row by row. In memory k is in order, and the next block
 * is `next` further on. */
INLINED void rows_square(real *T, size_t ldt, Strided X, int n, int k, size_t next)
{
    __mmask16 low = lanes(k), high = lanes(k - SQUARE);
    for (int j = 0; j < SQUARE; j++) {
        const real *x = X.at + (size_t)at_most(j, n - 1) * X.row;
        __builtin_prefetch(x + next, 0, 3);
        __builtin_prefetch(x + next + SQUARE, 0, 3);
        __m512 first = _mm512_maskz_loadu_ps(low, x);
        _mm512_storeu_si512(T + (size_t)j * ldt,
                            round_two(first, _mm512_maskz_loadu_ps(high, x + SQUARE)));
    }
}

/* T [16,16] (=) the pairs of X [n,k], a row for each pair of k. In memory n is in order. */
INLINED void columns_square(real *T, size_t ldt, Strided X, int n, int k, size_t next)
{
    static const uint16_t order[] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                     21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                     11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i interleave = _mm512_loadu_si512(order);
    __mmask16 row = lanes(n);
    for (int q = 0; q < SQUARE; q++) {
        const real *x = X.at + 2 * (size_t)q * X.column;
        __builtin_prefetch(x + next, 0, 3);
        __builtin_prefetch(x + next + X.column, 0, 3);
        __m512 first = _mm512_maskz_loadu_ps(2 * q < k ? row : 0, x);
        __m512 second = _mm512_maskz_loadu_ps(2 * q + 1 < k ? row : 0, x + X.column);
        _mm512_storeu_si512(T + (size_t)q * ldt,
                            _mm512_permutexvar_epi16(interleave, round_two(first, second)));
    }
}

static void square(real *T, size_t ldt, Strided X, int n, int k, size_t next)
{
    bool in_rows = X.column == 1, whole = n >= SQUARE && k >= 2 * SQUARE;
    if (in_rows && whole) rows_square(T, ldt, X, SQUARE, 2 * SQUARE, next);
    else if (in_rows) rows_square(T, ldt, X, n, k, next);
    else if (whole) columns_square(T, ldt, X, SQUARE, 2 * SQUARE, next);
    else columns_square(T, ldt, X, n, k, next);
}

void bf16_copy(real *T, size_t ldt, bool transposed, Strided X, int n, int k)
{
    _Alignas(VECTOR_BYTES) real before[SQUARE * SQUARE];
    bool turned = (X.column == 1) == transposed;
    size_t next = 2 * SQUARE * X.column;
    for (int j = 0; j < n; j += SQUARE)
        for (int p = 0; p < k; p += 2 * SQUARE) {
            Strided x = {X.at + (size_t)j * X.row + (size_t)p * X.column, X.row, X.column};
            real *to = T + (transposed ? (size_t)p / 2 * ldt + (size_t)j
                                       : (size_t)j * ldt + (size_t)p / 2);
            if (turned) {
                square(before, SQUARE, x, n - j, k - p, next);
                transpose_square(to, ldt, before, SQUARE, SQUARE);
            } else square(to, ldt, x, n - j, k - p, next);
        }
}
#else
bool bf16_pairs(void)
{
    return false;
}

void bf16_copy(real *T, size_t ldt, bool transposed, Strided X, int n, int k)
{
    (void)T, (void)ldt, (void)transposed, (void)X, (void)n, (void)k;
}
#endif
