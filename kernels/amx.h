/* amx.h -- products of tiles by AMX, Intel's matrix instructions (Sapphire Rapids and later).
 *
 * A tile is 16 rows of 64 bytes, and there are eight. One instruction adds to a tile of C [16,16]
 * the product of a tile of A [16,16] and a tile of B [16,16] whose numbers are units of four
 * bytes: a pair of bfloat16 (TDPBF16PS), or four integers of eight bits (TDPBUSD). A and B lie as
 * the other kernels read them: A row by row, B in panels [units,32] (bf16.h, int8.h). Four tiles
 * hold C [32,32], two A and two B, so that each tile is used twice once it is loaded.
 *
 *     C 0 1     A 4     B 6 7
 *       2 3       5
 *
 * Linux gives a process AMX if it asks for it. */
#pragma once

#include "base/c.h"

enum { AMX_ROWS = 32, AMX_COLUMNS = 32, AMX_UNITS = 16 };

typedef enum { AMX_BF16, AMX_INT8 } AmxNumbers;

#if defined __x86_64__ && defined __linux__
#define HAS_AMX 1
/* Whether this processor has it. */
bool amx_exists(void);

/* Whether the system lets this process use it. The first call asks. kind_has_amx (kind.h) calls it. */
bool amx_allowed(void);

/* Prepares the tiles of this thread for products, and gives them back. */
void amx_begin(void);
void amx_end(void);
#else
#define HAS_AMX       0
#define amx_exists()  false
#define amx_allowed() false
#define amx_begin()   ((void)0)
#define amx_end()     ((void)0)
#endif

/* C [AMX_ROWS,AMX_COLUMNS] (=) start + A · B, all of it, or its first half if rows <= 16
 * A [AMX_ROWS,units]   B [units,AMX_COLUMNS]   units: a multiple of AMX_UNITS
 * From row to row of C, start and A are ldc, lds and lda bytes. C, start: floats or int32_t */
void amx_multiply(AmxNumbers numbers, void *C, size_t ldc, const void *start, size_t lds,
                  const void *A, size_t lda, const void *B, int rows, int units);
