/* progress.c -- how far a run has come; see progress.h. */
#include "training/progress.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Progress progress_start(void)
{
    return (Progress){.best = {INFINITY, NAN, NAN}};
}

bool progress_better(const Progress *progress, const Quality *quality, Criterion criterion)
{
    const Quality *best = &progress->best;
    switch (criterion) {
    case BEST_BLEU: return !(quality->bleu <= best->bleu);  // best may have none: NAN
    case BEST_CHRF: return !(quality->chrf <= best->chrf);
    case BEST_LOSS: break;
    }
    return quality->loss < best->loss;
}

void progress_keep(Progress *progress, long long update, int most)
{
    UpdateList *kept = &progress->kept, *dropped = &progress->dropped;
    dropped->count = 0;
    if (most == 0) {
        kept->count = 0;
        return;
    }
    while (kept->count >= most) {
        dropped->update[dropped->count++] = kept->update[0];
        memmove(kept->update, kept->update + 1, (size_t)--kept->count * sizeof *kept->update);
    }
    kept->update[kept->count++] = update;
}

static void put_list(JsonWriter *json, const char *key, const UpdateList *list)
{
    json_open_array(json, key);
    for (int i = 0; i < list->count; i++) json_put_integer(json, NULL, list->update[i]);
    json_close_array(json);
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
    json_put_real(&json, "best_loss", progress->best.loss);  // NAN and infinity become null
    json_put_real(&json, "best_bleu", progress->best.bleu);
    json_put_real(&json, "best_chrf", progress->best.chrf);
    json_put_integer(&json, "best_update", progress->best_update);
    json_put_integer(&json, "validated", progress->validated);
    json_put_integer(&json, "stale", progress->stale);
    put_list(&json, "kept", &progress->kept);
    put_list(&json, "dropped", &progress->dropped);
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
    return error_set(error, "%s: '%s' must be a whole number that is not negative", source,
                     key);
}

static bool read_number(double *value, const Json *map, const char *key, double none,
                        const char *source, Error *error)
{
    const Json *member = json_member(map, key);
    JsonKind kind = json_kind(member);
    *value = kind == JSON_NONE ? none : json_number(member);
    if (kind == JSON_NONE || kind == JSON_NUMBER || kind == JSON_WHOLE) return true;
    return error_set(error, "%s: '%s' must be a number", source, key);
}

/* A score that not every validation has; a missing key is none. */
static bool read_score(double *value, const Json *map, const char *key, const char *source,
                       Error *error)
{
    *value = NAN;
    return !json_member(map, key) || read_number(value, map, key, NAN, source, error);
}

/* Updates in order, up to `last`; a missing key is an empty list. */
static bool read_list(UpdateList *list, const Json *map, const char *key, long long last,
                      const char *source, Error *error)
{
    const Json *array = json_member(map, key);
    int count = json_count(array);
    bool good = (!array || json_kind(array) == JSON_LIST) && count <= MAX_SNAPSHOTS;
    list->count = 0;
    for (int i = 0; i < count && good; i++) {
        const Json *item = json_item(array, i);
        long long before = i ? list->update[i - 1] : 0, update = json_whole(item);
        good = json_kind(item) == JSON_WHOLE && update > before && update <= last;
        list->update[list->count++] = update;
    }
    if (good) return true;
    return error_set(error,
                     "%s: '%s' must be a list of at most %d updates from 1 to %lld, in "
                     "order",
                     source, key, MAX_SNAPSHOTS, last);
}

bool progress_from_json(Progress *progress, const char *text, const char *source, Error *error)
{
    Json *json = json_parse(text, strlen(text), source, error);
    if (!json) return false;
    long long stale = 0;
    bool good =
        read_count(&progress->update, json, "update", source, error) &&
        read_count(&progress->epoch, json, "epoch", source, error) &&
        read_count(&progress->update_in_epoch, json, "update_in_epoch", source, error) &&
        read_number(&progress->best.loss, json, "best_loss", INFINITY, source, error) &&
        read_score(&progress->best.bleu, json, "best_bleu", source, error) &&
        read_score(&progress->best.chrf, json, "best_chrf", source, error) &&
        read_count(&progress->best_update, json, "best_update", source, error) &&
        read_count(&progress->validated, json, "validated", source, error) &&
        read_count(&stale, json, "stale", source, error) &&
        read_list(&progress->kept, json, "kept", progress->update, source, error) &&
        read_list(&progress->dropped, json, "dropped", progress->update, source, error) &&
        read_number(&progress->nll, json, "nll", INFINITY, source, error) &&
        read_number(&progress->objective, json, "objective", INFINITY, source, error) &&
        read_number(&progress->norm, json, "norm", INFINITY, source, error) &&
        read_count(&progress->tokens, json, "tokens", source, error) &&
        read_count(&progress->updates, json, "updates", source, error);
    if (good && stale > 1000000000) good = error_set(error, "%s: 'stale' is too large", source);
    progress->stale = (int)stale;
    json_free(json);
    return good;
}
