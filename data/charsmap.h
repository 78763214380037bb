/* charsmap.h -- SentencePiece's normalisation table, checked before the library may use it.
 *
 * The library trusts the offsets in a table: with an offset beyond its end it reads out of
 * bounds. Byte layout: charsmap.c. */
#ifndef DATA_CHARSMAP_H
#define DATA_CHARSMAP_H

#include "base/error.h"
#include "data/protobuf.h"

typedef void CharsmapRule(void *context, const char *from, const char *to);

/* Fails if an offset leads outside of the table; an empty table is valid. Then, unless rule is
 * NULL, calls rule(context, from, to) for every rule, in the order of from; both are UTF-8
 * ended by NUL. */
bool charsmap_read(Bytes table, void *context, CharsmapRule *rule, Error *error);

#endif
