/* amx.c -- products of tiles by AMX; see amx.h. */
#include "kernels/amx.h"

#if defined __x86_64__ && !defined REAL_IS_DOUBLE

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

enum { UNITS = 16 };  // of a row of a tile

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

/* Tile c += tile a · tile b, which the instructions name by constants. */
#define ADD_PRODUCT(numbers, c, a, b)                                                          \
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
    while (units > 0) {
        int each = units < UNITS ? units : UNITS;  // in all steps but the last
        configure(rows, each);
        _tile_loadd(0, from, lds);
        _tile_loadd(1, from + 64, lds);
        if (below) {
            _tile_loadd(2, from + 16 * lds, lds);
            _tile_loadd(3, from + 16 * lds + 64, lds);
        }
        for (; units >= each; units -= each, a += 4 * each, b += 128 * each) {
            _tile_loadd(4, a, lda);
            _tile_loadd(6, b, 128);
            _tile_loadd(7, b + 64, 128);
            ADD_PRODUCT(numbers, 0, 4, 6);
            ADD_PRODUCT(numbers, 1, 4, 7);
            if (!below) continue;
            _tile_loadd(5, a + 16 * lda, lda);
            ADD_PRODUCT(numbers, 2, 5, 6);
            ADD_PRODUCT(numbers, 3, 5, 7);
        }
        _tile_stored(0, c, ldc);
        _tile_stored(1, c + 64, ldc);
        if (below) {
            _tile_stored(2, c + 16 * ldc, ldc);
            _tile_stored(3, c + 16 * ldc + 64, ldc);
        }
        from = c, lds = ldc;
    }
    _tile_release();
}

#endif
