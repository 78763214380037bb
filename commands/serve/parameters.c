/* parameters.c -- what a request sets; see parameters.h. */
#include "commands/serve/parameters.h"

#include <stdio.h>
#include <stdlib.h>

bool parameters_read(const OptionGroup *group, const json_t *request, Error *error)
{
    bool good = true;
    for (int i = 0; good && i < group->count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s", group->options[i].name);
        for (char *at = key; *at; at++) *at = *at == '-' ? '_' : *at;
        const json_t *value = json_object_get(request, key);
        if (!value || json_is_null(value)) continue;
        char *other = json_is_string(value)
                          ? NULL
                          : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
        const char *text = other ? other : json_string_value(value);
        good = text ? options_set(group, 1, group->options[i].name, text, error)
                    : error_memory(error, "for a request");
        free(other);
    }
    return good;
}
