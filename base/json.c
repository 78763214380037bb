/* json.c -- writing JSON to a stream, and reading strict JSON; see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- writing ---- */

/* A byte that is no UTF-8 (a path may hold any) becomes U+FFFD: a reader wants valid JSON. */
static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *s = text; *s;) {
        unsigned code;
        int length = utf8_next(s, &code);
        if (*s == '"' || *s == '\\') fprintf(out, "\\%c", *s);
        else if (*s == '\n') fputs("\\n", out);
        else if (*s == '\t') fputs("\\t", out);
        else if (code < 0x20 || code == 0x7F) fprintf(out, "\\u%04x", code);
        else if (length == 1 && code > 0x7F) fputs("\xEF\xBF\xBD", out);
        else fwrite(s, 1, (size_t)length, out);
        s += length;
    }
    fputc('"', out);
}

static void new_line(JsonWriter *json)
{
    if (json->indent) fprintf(json->out, "\n%*s", json->indent * json->depth, "");
}

static void begin_value(JsonWriter *json, const char *key)
{
    if (json->filled) fputc(',', json->out);
    if (json->depth) new_line(json);
    json->filled = true;
    if (!key) return;
    write_text(json->out, key);
    fputs(json->indent ? ": " : ":", json->out);
}

static void open_with(JsonWriter *json, const char *key, char bracket)
{
    begin_value(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->filled = false;
}

static void close_with(JsonWriter *json, char bracket)
{
    json->depth--;
    if (json->filled) new_line(json);
    fputc(bracket, json->out);
    json->filled = true;
}

void json_open(JsonWriter *json, const char *key)
{
    open_with(json, key, '{');
}

void json_close(JsonWriter *json)
{
    close_with(json, '}');
}

void json_open_array(JsonWriter *json, const char *key)
{
    open_with(json, key, '[');
}

void json_close_array(JsonWriter *json)
{
    close_with(json, ']');
}

const char *real_text(char text[REAL_TEXT], double value)
{
    if (value == floor(value) && fabs(value) < 1e15) {  // "4000", where %g would say "4e+03"
        snprintf(text, REAL_TEXT, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, REAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

void json_put_real(JsonWriter *json, const char *key, double value)
{
    char text[REAL_TEXT];
    begin_value(json, key);
    fputs(isfinite(value) ? real_text(text, value) : "null", json->out);
}

void json_put_integer(JsonWriter *json, const char *key, int64_t value)
{
    begin_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_put_bool(JsonWriter *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_put_text(JsonWriter *json, const char *key, const char *text)
{
    begin_value(json, key);
    if (text) write_text(json->out, text);
    else fputs("null", json->out);
}

/* ---- reading ---- */

Json *json_parse(const char *bytes, size_t length, const char *source, Error *error)
{
    json_error_t wrong;
    Json *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!json) error_set(error, "%s:%d:%d: %s", source, wrong.line, wrong.column, wrong.text);
    return json;
}

void json_free(Json *json)
{
    json_decref(json);
}

JsonKind json_kind(const Json *json)
{
    if (!json) return JSON_NOTHING;
    switch (json_typeof(json)) {
    case JSON_OBJECT: return JSON_MAP;
    case JSON_ARRAY: return JSON_LIST;
    case JSON_STRING: return JSON_TEXT;
    case JSON_INTEGER: return JSON_WHOLE;
    case JSON_REAL: return JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE: return JSON_BOOL;
    default: return JSON_NONE;
    }
}

const Json *json_member(const Json *map, const char *key)
{
    return json_object_get(map, key);
}

int json_count(const Json *json)
{
    return (int)(json_kind(json) == JSON_MAP ? json_object_size(json) : json_array_size(json));
}

const Json *json_item(const Json *list, int i)
{
    return json_array_get(list, (size_t)i);
}

const char *json_text(const Json *json)
{
    return json_string_value(json);
}

int64_t json_whole(const Json *json)
{
    return json_integer_value(json);
}

double json_number(const Json *json)
{
    return json_number_value(json);
}

bool json_bool(const Json *json)
{
    return json && json_is_true(json);
}

static JsonMember member_at(void *place)
{
    if (!place) return (JsonMember){0};
    return (JsonMember){.key = json_object_iter_key(place),
                        .value = json_object_iter_value(place),
                        .place = place};
}

JsonMember json_first(const Json *map)
{
    return member_at(json_object_iter((Json *)map));
}

JsonMember json_next(const Json *map, JsonMember member)
{
    return member_at(json_object_iter_next((Json *)map, member.place));
}
