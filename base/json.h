/* json.h -- reading strict JSON into a tree, and writing it (jsonwriter.h).
 *
 * The reader is jansson: strict; errors name line and column; a duplicate key is an error.
 *
 * The functions of jansson.h accept NULL and values of another type, and then return NULL or 0.
 * A value is valid until json_decref() frees the root of its tree. */
#pragma once

#include "base/error.h"
#include "base/jsonwriter.h"

#include <jansson.h>

/* Reads one object or array. `source` is its name in errors:
 * "config.json:3:17: ':' expected near '256'". */
json_t *json_parse(const char *bytes, size_t length, const char *source, Error *error);
