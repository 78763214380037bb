/* json.c -- reading strict JSON; see json.h. */
#include "base/json.h"

json_t *json_parse(const char *bytes, size_t length, const char *source, Error *error)
{
    json_error_t wrong;
    json_t *json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!json) error_set(error, "%s:%d:%d: %s", source, wrong.line, wrong.column, wrong.text);
    return json;
}
