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
static inline json_t *json_parse(const char *bytes, size_t length, const char *source,
                                 Error *error)
{
    json_error_t wrong;
    json_t *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!json) error_set(error, "%s:%d:%d: %s", source, wrong.line, wrong.column, wrong.text);
    return json;
}
