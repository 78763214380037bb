/* options-json.c -- the saved configuration; see options.h.
 *
 *     {
 *       "model": {
 *         "d_model": 256,          an option's name with _ for -
 *         "score": "scaled-dot"    a choice by its word, so that its number may change
 *       },
 *       "training": {
 *         "train_source": ["a.de", "b.de"],
 *         "preset": null           a text that is not set
 *       }
 *     } */
#include "base/file.h"
#include "base/json.h"
#include "base/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    char key[KEY_LIMIT];
    key_of(key, option);
    switch (option->kind) {
    case OPTION_FLAG: json_put_bool(json, key, *(const bool *)field); return;
    case OPTION_INT: json_put_integer(json, key, *(const int *)field); return;
    case OPTION_UINT64: json_put_integer(json, key, *(const int64_t *)field); return;
    case OPTION_REAL: json_put_real(json, key, *(const double *)field); return;
    case OPTION_TEXT: json_put_text(json, key, *(char *const *)field); return;
    case OPTION_CHOICE: json_put_text(json, key, option->choices[*(const int *)field]); return;
    case OPTION_LIST: {
        const StringList *list = field;
        json_open_array(json, key);
        for (int i = 0; i < list->count; i++) json_put_text(json, NULL, list->item[i]);
        json_close_array(json);
    }
    }
}

char *options_to_json(const OptionGroup *groups, int count)
{
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream), .indent = 2};
    if (!json.out) return NULL;
    json_open(&json, NULL);
    for (int g = 0; g < count; g++) {
        if (!groups[g].key) continue;
        json_open(&json, groups[g].key);
        for (int i = 0; i < groups[g].count; i++)
            if (!groups[g].options[i].unsaved)
                put_option(&json, &groups[g].options[i], groups[g].values);
        json_close(&json);
    }
    json_close(&json);
    fputc('\n', json.out);
    return textstream_close(&stream);
}

/* ---- from JSON ---- */

#define KIND(kind) (1u << JSON_##kind)

/* What each kind of option takes, and which values of JSON; option_store checks the range. */
static const struct {
    const char *name;
    unsigned kinds;
} WANTED[] = {
    [OPTION_FLAG] = {"true or false", KIND(BOOL)},
    [OPTION_INT] = {"a whole number", KIND(WHOLE)},
    [OPTION_UINT64] = {"a whole number", KIND(WHOLE)},
    [OPTION_REAL] = {"a number", KIND(WHOLE) | KIND(NUMBER)},
    [OPTION_TEXT] = {"a text or null", KIND(TEXT) | KIND(NONE)},
    [OPTION_LIST] = {"a list of texts", KIND(LIST)},
    [OPTION_CHOICE] = {"a text", KIND(TEXT)},
};

static bool wrong_kind(const Option *option, const char *label, const Json *value, Error *error)
{
    static const char *const found[] = {"nothing",  "null",   "true or false", "a whole number",
                                        "a number", "a text", "a list",        "an object"};
    return error_set(error, "%s takes %s, not %s", label, WANTED[option->kind].name,
                     found[json_kind(value)]);
}

static bool store_list(const Option *option, void *values, const char *label, const Json *list,
                       Error *error)
{
    if (!option_store(option, values, label, NULL, error)) return false;
    for (int i = 0; i < json_count(list); i++) {
        const char *item = json_text(json_item(list, i));
        if (!item) return wrong_kind(option, label, json_item(list, i), error);
        if (!option_store(option, values, label, item, error)) return false;
    }
    return true;
}

/* Every value passes through option_store as a text, so that there is one range check. */
static bool store(const Option *option, void *values, const char *label, const Json *value,
                  Error *error)
{
    char number[REAL_TEXT];
    const char *text = NULL;
    if (!(WANTED[option->kind].kinds & 1u << json_kind(value)))
        return wrong_kind(option, label, value, error);
    switch (json_kind(value)) {
    case JSON_LIST: return store_list(option, values, label, value, error);
    case JSON_BOOL: text = json_bool(value) ? "true" : "false"; break;
    case JSON_NUMBER: text = real_text(number, json_number(value)); break;
    case JSON_TEXT: text = json_text(value); break;
    case JSON_WHOLE:
        snprintf(number, sizeof number, "%" PRId64, json_whole(value));
        text = number;
        break;
    default: break;
    }
    return option_store(option, values, label, text, error);
}

/* The option of a group that a key of JSON means, or NULL; `key` is for its name there. */
static const Option *option_of_key(char key[KEY_LIMIT], const OptionGroup *group,
                                   const char *name)
{
    for (int i = 0; i < group->count; i++)
        if (!group->options[i].unsaved && !strcmp(key_of(key, &group->options[i]), name))
            return &group->options[i];
    return NULL;
}

/* Of several groups with one key, each option is in one. */
static bool store_group(const OptionGroup *groups, int count, const char *group,
                        const Json *map, const char *source, Error *error)
{
    if (json_kind(map) != JSON_MAP)
        return error_set(error, "%s: '%s' is no object of options", source, group);
    for (JsonMember m = json_first(map); m.key; m = json_next(map, m)) {
        const Option *option = NULL;
        void *values = NULL;
        char key[KEY_LIMIT], label[2 * KEY_LIMIT];
        for (int g = 0; !option && g < count; g++) {
            if (!groups[g].key || strcmp(groups[g].key, group)) continue;
            option = option_of_key(key, &groups[g], m.key);
            values = groups[g].values;
        }
        snprintf(label, sizeof label, "%s.%s", group, option ? key : "");
        if (!option) return error_set(error, "%s: unknown key '%s%s'", source, label, m.key);
        if (!store(option, values, label, m.value, error))
            return error_prefix(error, "%s", source);
    }
    return true;
}

static bool store_groups(const OptionGroup *groups, int count, const Json *root,
                         const char *source, bool partly, Error *error)
{
    if (json_kind(root) != JSON_MAP)
        return error_set(error, "%s: the outermost value must be an object", source);
    for (JsonMember m = json_first(root); m.key; m = json_next(root, m)) {
        bool known = false;
        for (int g = 0; g < count; g++)
            known = known || (groups[g].key && !strcmp(groups[g].key, m.key));
        if (!known && partly) continue;
        if (!known) return error_set(error, "%s: unknown key '%s'", source, m.key);
        if (!store_group(groups, count, m.key, m.value, source, error)) return false;
    }
    return true;
}

bool options_from_json(const OptionGroup *groups, int count, const char *text,
                       const char *source, bool partly, Error *error)
{
    Json *root = json_parse(text, strlen(text), source, error);
    if (!root) return false;
    bool good = store_groups(groups, count, root, source, partly, error);
    json_free(root);
    return good;
}
