/* jsonwriter.h -- writing JSON to a stream.
 *
 * The writer prints every number as the shortest text that reads back to the same double
 * ("0.1", not "0.10000000000000001"), and NaN and infinity as null.
 *
 *     JsonWriter json = {.out = file};
 *     json_open(&json, NULL);                        {
 *     json_put_text(&json, "type", "train");         "type": "train",
 *     json_put_real(&json, "loss", 2.5);             "loss": 2.5
 *     json_close(&json);                             }
 *
 * `key` is NULL for the outermost value and inside an array. Check ferror(out) at the end. At
 * most 64 objects and arrays are open at a time. */
#pragma once

#include "base/c.h"

typedef struct JsonWriter {
    FILE *out;
    int indent;       // spaces a level; 0: everything on one line, without spaces
    int depth;        // open objects and arrays
    bool filled;      // the open one has a member already
    uint64_t arrays;  // whether each open one is an array; the innermost is bit 0
    bool lines;       // a newline follows the outermost value
    bool bytes;       // bytes that are no UTF-8 can be read again: 0xE9 is U+10FFE9
    bool names;       // texts are written from behind their last / on: files without folders
    bool html;        // <, > and & become \u003c, …: for a text inside a page
} JsonWriter;

void json_open(JsonWriter *json, const char *key);
void json_open_array(JsonWriter *json, const char *key);
void json_close(JsonWriter *json);  // the innermost object or array
/* NaN and infinity are null, -0 is 0. */
void json_put_real(JsonWriter *json, const char *key, double value);
void json_put_digits(JsonWriter *json, const char *key, double value, int digits);  // rounded
void json_put_integer(JsonWriter *json, const char *key, int64_t value);
void json_put_bool(JsonWriter *json, const char *key, bool value);
void json_put_text(JsonWriter *json, const char *key, const char *text);  // NULL: null
void json_put_texts(JsonWriter *json, const char *key, char *const *text, int count);
void json_put_reals(JsonWriter *json, const char *key, const double *value, int count);

/* The shortest decimal text that strtod reads back to the same number: "0.1", "4000",
 * "1e-08". */
enum { REAL_TEXT = 32 };
const char *real_text(char text[REAL_TEXT], double value);
