/* sentencepiece.h -- the bytes of a SentencePiece model, read without trusting them.
 *
 * The library believes what a model says of its own normalisation tables: a table with offsets
 * that lead outside of it makes it read foreign memory. So every model is checked here before the
 * library sees it. Byte layout: sentencepiece.c. */
#ifndef DATA_SENTENCEPIECE_H
#define DATA_SENTENCEPIECE_H

#include "base/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the library can be given these bytes: they are a model, its pieces are text and of a
 * kind that we make, and its normalisation tables lead nowhere outside of themselves. */
bool sentencepiece_check(const void *model, size_t size, Error *error);

/* Calls rule(context, from, to) for every rule of the normalisation table of a model that
 * sentencepiece_check accepts, in the order of from; both are UTF-8 ended by NUL. */
bool sentencepiece_rules(const void *model, size_t size, void *context,
                         void (*rule)(void *context, const char *from, const char *to),
                         Error *error);

#ifdef __cplusplus
}
#endif

#endif
