/* progress.c -- how far a run has come; see progress.h. */
#include "training/progress.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Progress progress_start(void)
{
    return (Progress){.best_loss = INFINITY};
}

char *progress_to_json(const Progress *progress)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    JsonWriter json = {.out = out};
    json_open(&json, NULL);
    json_put_integer(&json, "update", progress->update);
    json_put_integer(&json, "epoch", progress->epoch);
    json_put_integer(&json, "update_in_epoch", progress->update_in_epoch);
    json_put_real(&json, "best_loss", progress->best_loss);  // infinity is written as null
    json_put_integer(&json, "best_update", progress->best_update);
    json_put_integer(&json, "validated", progress->validated);
    json_put_integer(&json, "stale", progress->stale);
    json_put_real(&json, "nll", progress->nll);
    json_put_real(&json, "objective", progress->objective);
    json_put_real(&json, "norm", progress->norm);
    json_put_integer(&json, "tokens", progress->tokens);
    json_put_integer(&json, "updates", progress->updates);
    json_close(&json);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool read_count(long long *value, const Json *map, const char *key, const char *source,
                       Error *error)
{
    const Json *member = json_member(map, key);
    *value = json_whole(member);
    if (json_kind(member) == JSON_WHOLE && *value >= 0) return true;
    return error_set(error, "%s: '%s' must be a whole number that is not negative", source, key);
}

static bool read_number(double *value, const Json *map, const char *key, const char *source,
                        Error *error)
{
    const Json *member = json_member(map, key);
    JsonKind kind = json_kind(member);
    *value = kind == JSON_NONE ? INFINITY : json_number(member);
    if (kind == JSON_NONE || kind == JSON_NUMBER || kind == JSON_WHOLE) return true;
    return error_set(error, "%s: '%s' must be a number", source, key);
}

bool progress_from_json(Progress *progress, const char *text, const char *source, Error *error)
{
    Json *json = json_parse(text, strlen(text), source, error);
    if (!json) return false;
    long long stale = 0;
    bool good = read_count(&progress->update, json, "update", source, error) &&
                read_count(&progress->epoch, json, "epoch", source, error) &&
                read_count(&progress->update_in_epoch, json, "update_in_epoch", source, error) &&
                read_number(&progress->best_loss, json, "best_loss", source, error) &&
                read_count(&progress->best_update, json, "best_update", source, error) &&
                read_count(&progress->validated, json, "validated", source, error) &&
                read_count(&stale, json, "stale", source, error) &&
                read_number(&progress->nll, json, "nll", source, error) &&
                read_number(&progress->objective, json, "objective", source, error) &&
                read_number(&progress->norm, json, "norm", source, error) &&
                read_count(&progress->tokens, json, "tokens", source, error) &&
                read_count(&progress->updates, json, "updates", source, error);
    if (good && stale > 1000000000) good = error_set(error, "%s: 'stale' is too large", source);
    progress->stale = (int)stale;
    json_free(json);
    return good;
}
