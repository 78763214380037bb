/* options-json.c -- the saved configuration; see options.h.
 *
 *     {
 *       "model": {
 *         "d_model": 256,         an option's name with _ for -
 *         "activation": "relu"    a choice by its word, so that its number may change
 *       },
 *       "training": {
 *         "train_source": ["a.de", "b.de"],
 *         "preset": null          a text that is not set
 *       }
 *     } */
#include "base/json.h"
#include "base/options.h"
#include "base/textstream.h"
#include "base/utf8.h"

enum { KEY_LIMIT = 64 };

static const char *key_of(char key[KEY_LIMIT], const Option *option)
{
    snprintf(key, KEY_LIMIT, "%s", option->name);
    for (char *s = key; *s; s++)
        if (*s == '-') *s = '_';
    return key;
}

/* ---- to JSON ---- */

static void put_option(JsonWriter *json, const Option *option, const void *values)
{
    const void *field = (const char *)values + option->offset;
    const StringList *list = field;  // if it is one
    char key[KEY_LIMIT];
    key_of(key, option);
    switch (option->kind) {
    case OPTION_FLAG: json_put_bool(json, key, *(const bool *)field); return;
    case OPTION_INT: json_put_integer(json, key, *(const int *)field); return;
    case OPTION_UINT64: json_put_integer(json, key, *(const int64_t *)field); return;
    case OPTION_REAL: json_put_real(json, key, *(const double *)field); return;
    case OPTION_TEXT: json_put_text(json, key, *(char *const *)field); return;
    case OPTION_CHOICE: json_put_text(json, key, option->choices[*(const int *)field]); return;
    case OPTION_LIST: json_put_texts(json, key, list->item, list->count); return;
    }
}

char *options_to_json(const OptionGroup *groups, int count, bool shared)
{
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream),
                       .indent = 2,
                       .lines = true,
                       .bytes = true,
                       .names = shared};
    if (!json.out) return NULL;
    json_open(&json, NULL);
    for (int g = 0; g < count; g++) {
        if (!groups[g].key) continue;
        json_open(&json, groups[g].key);
        for (int i = 0; i < groups[g].count; i++)
            if (!(groups[g].options[i].flags & OPTION_REMOVED))
                put_option(&json, &groups[g].options[i], groups[g].values);
        json_close(&json);
    }
    json_close(&json);
    return textstream_close(&stream);
}

/* ---- from JSON ---- */

#define KIND(kind) (1u << JSON_##kind)

/* What each kind of option takes, and which values of JSON; option_store checks the range. */
static const struct {
    const char *name;
    unsigned kinds;
} WANTED[] = {
    [OPTION_FLAG] = {"true or false", KIND(TRUE) | KIND(FALSE)},
    [OPTION_INT] = {"a whole number", KIND(INTEGER)},
    [OPTION_UINT64] = {"a whole number", KIND(INTEGER)},
    [OPTION_REAL] = {"a number", KIND(INTEGER) | KIND(REAL)},
    [OPTION_TEXT] = {"a text or null", KIND(STRING) | KIND(NULL)},
    [OPTION_LIST] = {"a list of texts", KIND(ARRAY)},
    [OPTION_CHOICE] = {"a text", KIND(STRING)},
};

static bool wrong_kind(const Option *option, const char *label, const json_t *value,
                       Error *error)
{
    static const char *const found[] = {
        [JSON_OBJECT] = "an object",    [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a text",       [JSON_INTEGER] = "a whole number",
        [JSON_REAL] = "a number",       [JSON_TRUE] = "true or false",
        [JSON_FALSE] = "true or false", [JSON_NULL] = "null"};
    return error_set(error, "%s takes %s, not %s", label, WANTED[option->kind].name,
                     found[json_typeof(value)]);
}

/* Stores what was written with JsonWriter.bytes: U+10FFE9 is the byte 0xE9. */
static bool store_text(const Option *option, void *values, const char *label, const char *json,
                       Error *error)
{
    char *text = strdup(json), *end = text;
    if (!text) return error_memory(error, "for %s", label);
    for (unsigned code, length; *json; json += length) {
        length = (unsigned)utf8_next(json, &code);
        if (code >= 0x10FF80) *end++ = (char)code;
        else end = mempcpy(end, json, length);
    }
    *end = 0;
    bool good = option_store(option, values, label, text, error);
    free(text);
    return good;
}

static bool store_list(const Option *option, void *values, const char *label,
                       const json_t *list, Error *error)
{
    if (!option_store(option, values, label, NULL, error)) return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));
        if (!item) return wrong_kind(option, label, json_array_get(list, i), error);
        if (!store_text(option, values, label, item, error)) return false;
    }
    return true;
}

/* Every value passes through option_store as a text, so that there is one range check. */
static bool store(const Option *option, void *values, const char *label, const json_t *value,
                  Error *error)
{
    char number[REAL_TEXT];
    const char *text = NULL;
    if (!(WANTED[option->kind].kinds & 1u << json_typeof(value)))
        return wrong_kind(option, label, value, error);
    switch (json_typeof(value)) {
    case JSON_ARRAY: return store_list(option, values, label, value, error);
    case JSON_TRUE: text = "true"; break;
    case JSON_FALSE: text = "false"; break;
    case JSON_REAL: text = real_text(number, json_number_value(value)); break;
    case JSON_STRING: return store_text(option, values, label, json_string_value(value), error);
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        text = number;
        break;
    default: break;
    }
    return option_store(option, values, label, text, error);
}

/* Whether the program does now what the value of a removed option says. */
static bool is_removed(const Option *option, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    bool same = !option->help || (text && !strcmp(text, option->help));
    free(text);
    return same;
}

static bool store_group(const OptionGroup *group, json_t *map, const char *source, Error *error)
{
    const char *key;
    json_t *value;
    char label[2 * KEY_LIMIT], name[KEY_LIMIT];
    if (!json_is_object(map))
        return error_set(error, "%s: '%s' is no object of options", source, group->key);
    json_object_foreach(map, key, value)
    {
        const Option *option = group->options, *end = option + group->count;
        while (option < end && strcmp(key_of(name, option), key)) option++;
        if (option == end)
            return error_set(error, "%s: unknown key '%s.%s'", source, group->key, key);
        snprintf(label, sizeof label, "%s.%s", group->key, key);
        if (!(option->flags & OPTION_REMOVED)) {
            if (!store(option, group->values, label, value, error))
                return error_prefix(error, "%s", source);
        } else if (!is_removed(option, value))
            return error_set(error, "%s: '%s' is no longer supported: only %s goes on", source,
                             label, option->help);
    }
    return true;
}

static bool store_groups(const OptionGroup *groups, int count, json_t *root, const char *source,
                         bool partly, Error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return error_set(error, "%s: the outermost value must be an object", source);
    json_object_foreach(root, key, value)
    {
        int g = 0;
        while (g < count && (!groups[g].key || strcmp(groups[g].key, key))) g++;
        if (g == count && !partly) return error_set(error, "%s: unknown key '%s'", source, key);
        if (g < count && !store_group(&groups[g], value, source, error)) return false;
    }
    return true;
}

bool options_from_json(const OptionGroup *groups, int count, const char *text,
                       const char *source, bool partly, Error *error)
{
    json_t *root = json_parse(text, strlen(text), source, error);
    if (!root) return false;
    bool good = store_groups(groups, count, root, source, partly, error);
    json_decref(root);
    return good;
}
