/* jsonwriter.c -- writing JSON to a stream; see jsonwriter.h. */
#include "base/jsonwriter.h"

#include "base/utf8.h"

/* A byte that is no UTF-8 (a path may hold any) becomes U+FFFD, or with `bytes` U+10FF00 plus the
 * byte, and so do the bytes of such a character itself: a reader wants valid JSON. */
static void write_text(const JsonWriter *json, const char *text)
{
    FILE *out = json->out;
    fputc('"', out);
    for (const char *s = text; *s;) {
        unsigned code;
        int length = utf8_next(s, &code);
        if (json->bytes && code >= 0x10FF80) length = 1;
        if (*s == '"' || *s == '\\') fprintf(out, "\\%c", *s);
        else if (*s == '\n') fputs("\\n", out);
        else if (*s == '\t') fputs("\\t", out);
        else if (!utf8_is_shown(code) || (json->html && strchr("<>&", *s)))
            fprintf(out, "\\u%04x", code);
        else if (length == 1 && code > 0x7F)
            fprintf(out, json->bytes ? "\\udbff\\udf%02x" : "\xEF\xBF\xBD", (unsigned char)*s);
        else fwrite(s, 1, (size_t)length, out);
        s += length;
    }
    fputc('"', out);
}

static void new_line(JsonWriter *json)
{
    if (json->indent) fprintf(json->out, "\n%*s", json->indent * json->depth, "");
}

/* Writes what precedes a value; returns the stream that the value goes to. */
static FILE *begin_value(JsonWriter *json, const char *key)
{
    if (json->filled) fputc(',', json->out);
    if (json->depth) new_line(json);
    json->filled = true;
    if (!key) return json->out;
    write_text(json, key);
    fputs(json->indent ? ": " : ":", json->out);
    return json->out;
}

static void open_with(JsonWriter *json, const char *key, bool array)
{
    fputc(array ? '[' : '{', begin_value(json, key));
    json->arrays = json->arrays << 1 | array;
    json->depth++;
    json->filled = false;
}

void json_open(JsonWriter *json, const char *key)
{
    open_with(json, key, false);
}

void json_open_array(JsonWriter *json, const char *key)
{
    open_with(json, key, true);
}

void json_close(JsonWriter *json)
{
    json->depth--;
    if (json->filled) new_line(json);
    fputc(json->arrays & 1 ? ']' : '}', json->out);
    if (json->lines && !json->depth) fputc('\n', json->out);
    json->arrays >>= 1;
    json->filled = true;
}

const char *real_text(char text[REAL_TEXT], double value)
{
    if (value == floor(value) && fabs(value) < 1e15) {  // "4000", where %g would say "4e+03"
        snprintf(text, REAL_TEXT, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, REAL_TEXT, "%.*g", digits, value + 0.0);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

void json_put_real(JsonWriter *json, const char *key, double value)
{
    char text[REAL_TEXT];
    fputs(isfinite(value) ? real_text(text, value + 0.0) : "null", begin_value(json, key));
}

void json_put_digits(JsonWriter *json, const char *key, double value, int digits)
{
    if (isfinite(value)) fprintf(begin_value(json, key), "%.*g", digits, value + 0.0);
    else json_put_real(json, key, value);
}

void json_put_integer(JsonWriter *json, const char *key, int64_t value)
{
    fprintf(begin_value(json, key), "%" PRId64, value);
}

void json_put_bool(JsonWriter *json, const char *key, bool value)
{
    fputs(value ? "true" : "false", begin_value(json, key));
}

void json_put_text(JsonWriter *json, const char *key, const char *text)
{
    FILE *out = begin_value(json, key);
    const char *slash = text && json->names ? strrchr(text, '/') : NULL;
    if (slash && slash[1]) text = slash + 1;
    if (text) write_text(json, text);
    else fputs("null", out);
}

void json_put_texts(JsonWriter *json, const char *key, char *const *text, int count)
{
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_put_text(json, NULL, text[i]);
    json_close(json);
}

void json_put_reals(JsonWriter *json, const char *key, const double *value, int count)
{
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_put_real(json, NULL, value[i]);
    json_close(json);
}
