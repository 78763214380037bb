/* amx.c -- products of tiles by AMX; see amx.h. */
#include "kernels/amx.h"

#if HAS_AMX
#include <cpuid.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AMX __attribute__((target("amx-tile,amx-bf16,amx-int8")))

bool amx_exists(void)
{
    unsigned a, b, c, d, needed = 1u << 22 | 1u << 24 | 1u << 25;  // BF16, TILE, INT8
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed;
}

static bool granted;

static void request(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    granted = !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}

bool amx_allowed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, request);
    return granted;
}

AMX void amx_begin(void)
{
    struct {  // the operand of LDTILECFG
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];  // of a row of each tile
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) config.rows[tile] = 16, config.bytes[tile] = 64;
    __asm__ volatile("" ::"r"(&config) : "memory");  // gcc 12 believes that 8 bytes are read
    _tile_loadconfig(&config);
}

AMX void amx_end(void)
{
    _tile_release();
}

/* Tile c += tile a · tile b, which the instructions name by constants. */
#define ADD_PRODUCT(c, a, b)                                                                   \
    do {                                                                                       \
        if (numbers == AMX_BF16) _tile_dpbf16ps(c, a, b);                                      \
        else _tile_dpbusd(c, a, b);                                                            \
    } while (0)

AMX void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start, size_t lds,
                      const void *A, size_t lda, const void *B, int rows, int units)
{
    const bool below = rows > 16;
    const char *from = start, *a = A, *b = B;
    char *c = C;
    for (int r = AMX_ROWS; r < 2 * AMX_ROWS; r++) {  // the next tile of C, or what is behind it
        __builtin_prefetch(c + (size_t)r * ldc, 1, 2);
        __builtin_prefetch(c + (size_t)r * ldc + 64, 1, 2);
    }
    _tile_loadd(0, from, lds);
    _tile_loadd(1, from + 64, lds);
    if (below) {
        _tile_loadd(2, from + 16 * lds, lds);
        _tile_loadd(3, from + 16 * lds + 64, lds);
    }
    for (; units > 0; units -= AMX_UNITS, a += 4 * AMX_UNITS, b += 128 * AMX_UNITS) {
        _tile_loadd(6, b, 128);
        _tile_loadd(4, a, lda);
        ADD_PRODUCT(0, 4, 6);
        _tile_loadd(7, b + 64, 128);
        ADD_PRODUCT(1, 4, 7);
        if (!below) continue;
        _tile_loadd(5, a + 16 * lda, lda);
        ADD_PRODUCT(2, 5, 6);
        ADD_PRODUCT(3, 5, 7);
    }
    _tile_stored(0, c, ldc);
    _tile_stored(1, c + 64, ldc);
    if (below) {
        _tile_stored(2, c + 16 * ldc, ldc);
        _tile_stored(3, c + 16 * ldc + 64, ldc);
    }
}

#else

void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start, size_t lds,
                  const void *A, size_t lda, const void *B, int rows, int units)
{
    (void)numbers, (void)C, (void)ldc, (void)start, (void)lds, (void)A, (void)lda, (void)B;
    (void)rows, (void)units;
}

#endif
