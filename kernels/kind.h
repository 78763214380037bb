/* kind.h -- the kind of processor whose code runs.
 *
 * The files that compute (VECTORS in the Makefile) are compiled once for each kind: function f
 * of them becomes f.plain, f.avx2, f.avx512. A table has a row a kind and a column a function;
 * f itself jumps to its entry in the row that was copied to kind_chosen at start-up. So a
 * caller sees one f, and the bits of its results depend on the kind alone.
 *
 *   kind     instructions                  vector   tile of a product (tile.h)
 *   plain    all of x86-64: SSE2           16 B     6 x 8 numbers   (any other processor, too)
 *   avx2     AVX2 and FMA                  32 B     6 x 16
 *   avx512   AVX-512 F, BW, DQ and VL      64 B     14 x 32
 *   amx      avx512's, with products of bf16 and int8 by AMX (amx.h)
 *
 * The last one that this processor has is chosen, or the one that QKV_KERNEL names.
 *
 * QKV_KERNEL=openblas is that last one, with the large products in float by OpenBLAS
 * (openblas.h). It is the default where plain is the only kind, if it
 * can be loaded. */
#pragma once

#include "base/error.h"

int kind_count(void);  // of this program

/* Whether this processor has the kind's instructions. */
bool kind_runs(int kind);

/* Chooses another one, for tests: of panels that are packed already it reads nonsense. */
void kind_use(int kind);

/* Whether amx is chosen, and the system lets this process use it. */
bool kind_has_amx(void);

/* Whether OpenBLAS multiplies now. */
bool kind_has_openblas(void);

/* Makes it multiply, or not, whatever QKV_KERNEL says. False, with an error, if it cannot be
 * loaded. */
bool kind_use_openblas(bool on, Error *error);

/* False, with an error, if QKV_KERNEL names no kind, or one that this processor does not have.
 * Loads OpenBLAS if it is chosen: before that, it does not multiply. */
bool kind_check(Error *error);

/* name (=) the kind and what else decides the last digits of products of floats: "avx512", for amx,
 * too, or "avx512-openblas-0.3.21-skylakex". */
enum { KIND_NAME = 80 };
void kind_describe(char name[KIND_NAME]);
