/* amx.c -- products of tiles by AMX; see amx.h. */
#include "kernels/amx.h"

#if defined __x86_64__ && !defined REAL_IS_DOUBLE

#include <string.h>

#if defined AMX_EMULATED
#define AMX
#else
#include <cpuid.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AMX __attribute__((target("amx-tile,amx-bf16,amx-int8")))

static bool granted;

static void request(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    unsigned a, b, c, d, needed = 1u << 22 | 1u << 24 | 1u << 25;  // AMX-BF16, -TILE, -INT8
    granted = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed &&
              !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}

bool amx_runs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, request);
    return granted;
}
#endif

/* The operand of LDTILECFG. */
typedef struct TileConfig {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];  // of a row of each tile
    uint8_t rows[16];
} TileConfig;

/* Tiles 0 to 3: C, of rows above and below, left and right; 4, 5: A above and below; 6, 7: B left
 * and right. */
AMX static void configure(int rows, int units)
{
    TileConfig config = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        bool below = tile == 2 || tile == 3 || tile == 5, of_A = tile == 4 || tile == 5;
        int height = tile >= 6 ? units : below ? rows - 16 : rows > 16 ? 16 : rows;
        config.rows[tile] = (uint8_t)(height > 0 ? height : 0);
        config.bytes[tile] = (uint16_t)(height > 0 ? (of_A ? 4 * units : 64) : 0);
    }
    __asm__ volatile("" ::"r"(&config) : "memory");  // gcc 12 believes that 8 bytes are read
    _tile_loadconfig(&config);
}

/* All steps of one configuration: C (=) start + A · B for `units`, steps · `each`. */
AMX static inline __attribute__((always_inline)) void
steps(const AmxNumbers numbers, const bool both, char *C, size_t ldc, const char *start,
      size_t lds, const char *A, size_t lda, const char *B, int units, int each)
{
    _tile_loadd(0, start, lds);
    _tile_loadd(1, start + 64, lds);
    if (both) {
        _tile_loadd(2, start + 16 * lds, lds);
        _tile_loadd(3, start + 16 * lds + 64, lds);
    }
    for (; units > 0; units -= each, A += 4 * each, B += 128 * each) {
        _tile_loadd(4, A, lda);
        _tile_loadd(6, B, 128);
        _tile_loadd(7, B + 64, 128);
        if (numbers == AMX_BF16) {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
        } else {
            _tile_dpbusd(0, 4, 6);
            _tile_dpbusd(1, 4, 7);
        }
        if (!both) continue;
        _tile_loadd(5, A + 16 * lda, lda);
        if (numbers == AMX_BF16) {
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        } else {
            _tile_dpbusd(2, 5, 6);
            _tile_dpbusd(3, 5, 7);
        }
    }
    _tile_stored(0, C, ldc);
    _tile_stored(1, C + 64, ldc);
    if (!both) return;
    _tile_stored(2, C + 16 * ldc, ldc);
    _tile_stored(3, C + 16 * ldc + 64, ldc);
}

AMX void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start, size_t lds,
                      const void *A, size_t lda, const void *B, int rows, int units)
{
    const char *from = start, *a = A, *b = B;
    for (int part, each; units > 0; units -= part, a += 4 * part, b += 128 * part) {
        part = units >= AMX_UNITS ? units / AMX_UNITS * AMX_UNITS : units;
        each = part < AMX_UNITS ? part : AMX_UNITS;
        configure(rows, each);
        if (numbers == AMX_BF16 && rows > 16)
            steps(AMX_BF16, true, C, ldc, from, lds, a, lda, b, part, each);
        else if (numbers == AMX_BF16)
            steps(AMX_BF16, false, C, ldc, from, lds, a, lda, b, part, each);
        else if (rows > 16) steps(AMX_INT8, true, C, ldc, from, lds, a, lda, b, part, each);
        else steps(AMX_INT8, false, C, ldc, from, lds, a, lda, b, part, each);
        from = C, lds = ldc;
    }
    _tile_release();
}

#endif
