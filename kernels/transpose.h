/* transpose.h -- the transpose of a square that fits the registers. */
#pragma once

#include "kernels/tile.h"

#if defined __AVX__ && !defined REAL_IS_DOUBLE
#include <immintrin.h>
#endif

/* T [LANES,LANES], rows ldt apart, (=) the transpose of X [rows,LANES], rows ldx apart, padded
 * with zeros to LANES rows. rows <= LANES */
static inline void transpose_square(real *T, size_t ldt, const real *X, size_t ldx, int rows)
{
#if defined __AVX512F__ && !defined REAL_IS_DOUBLE
    __m512 a[16], b[16];  // pairs of rows, then of pairs, then of quarters are interleaved
    for (int i = 0; i < 16; i++)
        a[i] = i < rows ? _mm512_loadu_ps(X + (size_t)i * ldx) : _mm512_setzero_ps();
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int h = 0; h < 2; h++) {
            __m512d low = _mm512_castps_pd(b[i + h]), high = _mm512_castps_pd(b[i + 2 + h]);
            a[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
            a[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
        }
    for (size_t i = 0; i < 4; i++) {
        __m512 even0 = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
        __m512 odd0 = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd);
        __m512 even1 = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
        __m512 odd1 = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xdd);
        _mm512_storeu_ps(T + (i + 0) * ldt, _mm512_shuffle_f32x4(even0, even1, 0x88));
        _mm512_storeu_ps(T + (i + 4) * ldt, _mm512_shuffle_f32x4(odd0, odd1, 0x88));
        _mm512_storeu_ps(T + (i + 8) * ldt, _mm512_shuffle_f32x4(even0, even1, 0xdd));
        _mm512_storeu_ps(T + (i + 12) * ldt, _mm512_shuffle_f32x4(odd0, odd1, 0xdd));
    }
#elif defined __AVX__ && !defined REAL_IS_DOUBLE && !defined WIDE
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = i < rows ? _mm256_loadu_ps(X + (size_t)i * ldx) : _mm256_setzero_ps();
    for (int i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int h = 0; h < 2; h++) {
            __m256d low = _mm256_castps_pd(b[i + h]), high = _mm256_castps_pd(b[i + 2 + h]);
            a[i + 2 * h] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, high));
            a[i + 2 * h + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, high));
        }
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_ps(T + i * ldt, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
        _mm256_storeu_ps(T + (i + 4) * ldt, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
    }
#else
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++)
            T[(size_t)j * ldt + (size_t)i] = i < rows ? X[(size_t)i * ldx + (size_t)j] : 0;
#endif
}
