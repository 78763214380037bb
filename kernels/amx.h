/* amx.h -- products of tiles by AMX, Intel's matrix instructions (Sapphire Rapids and later).
 *
 * A tile is 16 rows of 64 bytes. One instruction adds to a tile of C [16,16] a tile of A [16,16]
 * times a tile of B [16,16] whose numbers are units of four bytes: a pair of bfloat16
 * (TDPBF16PS), or four integers of eight bits (TDPBUSD). A and B lie as the other kernels read
 * them: A row by row, B in panels [units,32] (bf16.h, int8.h). Of the eight tiles, four hold
 * C [32,32], two A and two B, so that each loaded tile is used twice.
 *
 * Linux gives a process AMX if it asks for it. AMX_EMULATED is for a test on other processors,
 * which defines the instructions as functions in C (tests/kernels/amx.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AMX_ROWS = 32, AMX_COLUMNS = 32 };

typedef enum { AMX_BF16, AMX_INT8 } AmxNumbers;

#if defined __x86_64__ && !defined REAL_IS_DOUBLE

/* Whether this processor and this system have it. */
bool amx_runs(void);

/* C [rows,AMX_COLUMNS] (=) start + A · B   rows: 1 .. AMX_ROWS; from row to row of C, start and A are
 * ldc, lds and lda bytes   A [rows,units]   B [units,AMX_COLUMNS]   C, start: floats or int32_t */
void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start, size_t lds,
                  const void *A, size_t lda, const void *B, int rows, int units);

#else

static inline bool amx_runs(void)
{
    return false;
}

static inline void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start,
                                size_t lds, const void *A, size_t lda, const void *B, int rows,
                                int units)
{
    (void)numbers, (void)C, (void)ldc, (void)start, (void)lds, (void)A, (void)lda, (void)B;
    (void)rows, (void)units;
}

#endif
