/* int8-kernels.c -- the sum of a tile, Σ_k a q, once for each kind of processor; see int8.h.
 *
 * All are exact, so they agree in every bit (tests/kernels/int8.c). What each does with
 * four bytes of a row of X and of 16 or 8 rows of W:
 *
 *   AMX            TDPBUSD: as VPDPBUSD, for 16 rows of X together (amx.h)
 *   AVX-512 VNNI   VPDPBUSD: Σ of four u q into 32 bits, u unsigned, started from -128 Σ q
 *   AVX2           VPMADDUBSW adds two products into 16 bits and saturates at 32,767, which twice
 *                  255 · 127 exceeds; so it gets |a| and q with a's sign: 127 · 127 · 2 fits
 *   WebAssembly    i32x4.dot_i16x8_s: Σ of two u q, in 16 bits each, started from -128 Σ q
 *   plain C        u q, started from -128 Σ q
 *
 * The tile of VNNI is 14 rows and two vectors, 28 sums in registers, as in tile.h. */

#include "kernels/amx.h"
#include "kernels/int8.h"
#include "kernels/kind.h"

#if defined __x86_64__
#include <immintrin.h>

static void amx(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                const int32_t *offset, int rows, int groups)
{
    amx_multiply(AMX_INT8, C, INT8_PANEL * sizeof *C, offset, 0, u, stride, panel, rows,
                 groups);
}

enum { VNNI_ROWS = 14 };

/* Four bytes as one number. */
static inline int32_t four(const uint8_t *u)
{
    int32_t bits;
    memcpy(&bits, u, sizeof bits);
    return bits;
}

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

VNNI INLINED void vnni_body(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                            const int32_t *offset, int groups, const int rows)
{
    __m512i sum[VNNI_ROWS][2];
    __m512i start0 = _mm512_loadu_si512(offset), start1 = _mm512_loadu_si512(offset + 16);
#pragma GCC unroll 14
    for (int r = 0; r < rows; r++) sum[r][0] = start0, sum[r][1] = start1;
    for (int g = 0; g < groups; g++, u += INT8_GROUP, panel += INT8_PANEL * INT8_GROUP) {
        __m512i q0 = _mm512_loadu_si512(panel), q1 = _mm512_loadu_si512(panel + 64);
#pragma GCC unroll 14
        for (int r = 0; r < rows; r++) {
            __m512i a = _mm512_set1_epi32(four(u + (size_t)r * stride));
            sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], a, q0);
            sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], a, q1);
        }
    }
#pragma GCC unroll 14
    for (int r = 0; r < rows; r++) {
        _mm512_storeu_si512(C + r * INT8_PANEL, sum[r][0]);
        _mm512_storeu_si512(C + r * INT8_PANEL + 16, sum[r][1]);
    }
}

VNNI static void vnni(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                      const int32_t *offset, int rows, int groups)
{
// clang-format off
#define CASE(n) case n: vnni_body(C, u, stride, panel, offset, groups, n); break;
    switch (rows) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
        CASE(8) CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14)
    }
#undef CASE
    // clang-format on
}

#define AVX2 __attribute__((target("avx2")))

/* At most two rows: their eight sums and the temporaries take 16 registers. */
AVX2 INLINED void avx2_body(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                            int groups, const int rows)
{
    const __m256i ones = _mm256_set1_epi16(1), flip = _mm256_set1_epi8(-128);
    __m256i sum[2][4] = {0};
    for (int g = 0; g < groups; g++, u += INT8_GROUP, panel += INT8_PANEL * INT8_GROUP)
        for (int r = 0; r < rows; r++) {
            __m256i a = _mm256_xor_si256(_mm256_set1_epi32(four(u + (size_t)r * stride)), flip);
            __m256i size = _mm256_abs_epi8(a);
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++) {
                __m256i q = _mm256_loadu_si256((const __m256i *)(panel + v * 32));
                __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(q, a));
                sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(pairs, ones));
            }
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 4; v++)
            _mm256_storeu_si256((__m256i *)(C + r * INT8_PANEL + v * 8), sum[r][v]);
}

AVX2 static void avx2(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                      const int32_t *offset, int rows, int groups)
{
    (void)offset;
    for (; rows > 1; rows -= 2, u += 2 * stride, C += 2 * INT8_PANEL)
        avx2_body(C, u, stride, panel, groups, 2);
    if (rows) avx2_body(C, u, stride, panel, groups, 1);
}

#elif defined __wasm_simd128__
#include <wasm_simd128.h>

/* 16 columns of a row of X: two sums of each are in registers. */
static void half_row(int32_t *C, const uint8_t *u, const int8_t *panel, const int32_t *offset,
                     int groups)
{
    v128_t sum[8] = {0};
    for (int g = 0; g < groups; g++, u += INT8_GROUP, panel += INT8_PANEL * INT8_GROUP) {
        v128_t a = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_splat(u));
        for (int v = 0; v < 8; v++)
            sum[v] = wasm_i32x4_add(sum[v],
                                    wasm_i32x4_dot_i16x8(a, wasm_i16x8_load8x8(panel + 8 * v)));
    }
    for (int v = 0; v < 8; v += 2, C += 4, offset += 4) {
        v128_t first = wasm_i32x4_shuffle(sum[v], sum[v + 1], 0, 2, 4, 6);
        v128_t second = wasm_i32x4_shuffle(sum[v], sum[v + 1], 1, 3, 5, 7);
        wasm_v128_store(C,
                        wasm_i32x4_add(wasm_v128_load(offset), wasm_i32x4_add(first, second)));
    }
}

static void simd128(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                    const int32_t *offset, int rows, int groups)
{
    for (int r = 0; r < rows; r++, u += stride, C += INT8_PANEL) {
        half_row(C, u, panel, offset, groups);
        half_row(C + 16, u, panel + 16 * INT8_GROUP, offset + 16, groups);
    }
}

#endif

static void plain(int32_t *C, const uint8_t *u, size_t stride, const int8_t *panel,
                  const int32_t *offset, int rows, int groups)
{
    for (int r = 0; r < rows; r++, u += stride, C += INT8_PANEL) {
        memcpy(C, offset, INT8_PANEL * sizeof *C);
        const int8_t *q = panel;
        for (int g = 0; g < groups; g++, q += INT8_PANEL * INT8_GROUP)
            for (int j = 0; j < INT8_PANEL; j++)
                for (int k = 0; k < INT8_GROUP; k++)
                    C[j] += u[g * INT8_GROUP + k] * q[j * INT8_GROUP + k];
    }
}

const Int8Kernels int8_kernels[] = {
#if defined __x86_64__
    {"AMX", amx, AMX_ROWS, true},
    {"AVX-512 VNNI", vnni, VNNI_ROWS, false},
    {"AVX2", avx2, VNNI_ROWS, false},
#elif defined __wasm_simd128__
    {"SIMD of WebAssembly", simd128, 14, false},
#endif
    {"plain C", plain, 14, false},
};
const int int8_kernel_count = sizeof int8_kernels / sizeof *int8_kernels;

bool int8_runs(const Int8Kernels *kernel, int rows, int groups)
{
    if (kernel->amx)
        return kind_has_amx() && rows >= INT8_AMX_ROWS && groups % AMX_UNITS == 0 &&
               groups <= INT8_AMX_GROUPS;
#if defined __x86_64__
    if (kernel->multiply == avx2) return __builtin_cpu_supports("avx2");
    if (kernel->multiply == vnni)
        return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return true;
}
