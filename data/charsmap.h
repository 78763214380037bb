/* charsmap.h -- SentencePiece's normalisation table, checked before the library may use it.
 *
 * The library believes what a table says of itself: one with offsets that lead outside of it makes
 * it read foreign memory. Byte layout: charsmap.c. */
#ifndef DATA_CHARSMAP_H
#define DATA_CHARSMAP_H

#include "base/error.h"
#include "data/protobuf.h"

/* Whether the table leads nowhere outside of itself; an empty one is good. */
bool charsmap_check(Bytes table, Error *error);

/* Calls rule(context, from, to) for every rule of a table that charsmap_check accepts, in the
 * order of from; both are UTF-8 ended by NUL. */
bool charsmap_rules(Bytes table, void *context,
                    void (*rule)(void *context, const char *from, const char *to),
                    Error *error);

#endif
