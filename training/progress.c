/* progress.c -- the state of a run; see progress.h. */
#include "training/progress.h"

#include "base/json.h"
#include "base/textstream.h"

Progress progress_start(void)
{
    return (Progress){.best = {INFINITY, NAN, NAN}, .corpus = NAN, .valid = NAN};
}

bool progress_better(const Progress *progress, const Quality *quality, Criterion criterion)
{
    const Quality *best = &progress->best;
    if (criterion == BEST_BLEU) return !(quality->bleu <= best->bleu);  // best->bleu may be NAN
    if (criterion == BEST_CHRF) return !(quality->chrf <= best->chrf);
    return quality->loss < best->loss;
}

/* ---- JSON ---- */

typedef enum {
    COUNT,   // long long, 0 to MOST
    NUMBER,  // double; null, or a missing key, is what progress_start says
    NAME     // char [KERNELS_NAME], of a-z, 0-9, - and .; a missing key is ""
} FieldKind;

static const long long MOST = (1LL << 53) - 1;  // exact in every reader of JSON

/* The members, in their order. */
static const struct {
    const char *key;
    size_t offset;
    FieldKind kind;
} FIELDS[] = {
#define FIELD(name) #name, offsetof(Progress, name)
    {FIELD(update), COUNT},
    {FIELD(epoch), COUNT},
    {FIELD(update_in_epoch), COUNT},
    {"best_loss", offsetof(Progress, best.loss), NUMBER},
    {"best_bleu", offsetof(Progress, best.bleu), NUMBER},
    {"best_chrf", offsetof(Progress, best.chrf), NUMBER},
    {FIELD(best_update), COUNT},
    {FIELD(validated), COUNT},
    {FIELD(stale), COUNT},
    {FIELD(nll), NUMBER},
    {FIELD(objective), NUMBER},
    {FIELD(norm), NUMBER},
    {FIELD(tokens), COUNT},
    {FIELD(updates), COUNT},
    {FIELD(corpus), NUMBER},
    {FIELD(kernels), NAME},
    {FIELD(valid), NUMBER},
    {FIELD(doubtful), NUMBER},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

char *progress_to_json(const Progress *progress)
{
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream)};
    if (!json.out) return NULL;
    json_open(&json, NULL);
    for (int f = 0; f < FIELD_COUNT; f++) {
        const void *field = (const char *)progress + FIELDS[f].offset;
        switch (FIELDS[f].kind) {
        case COUNT:
            json_put_integer(&json, FIELDS[f].key,
                             (int64_t)fmin(*(const long long *)field, MOST));
            break;
        case NUMBER: json_put_real(&json, FIELDS[f].key, *(const double *)field); break;
        case NAME: json_put_text(&json, FIELDS[f].key, field); break;
        }
    }
    json_close(&json);
    return textstream_close(&stream);
}

static bool read_field(void *field, FieldKind kind, const json_t *member)
{
    switch (kind) {
    case COUNT:
        *(long long *)field = json_integer_value(member);
        return json_is_integer(member) &&
               (unsigned long long)json_integer_value(member) <= (unsigned long long)MOST;
    case NUMBER:
        if (json_is_number(member)) *(double *)field = json_number_value(member);
        return !member || json_is_null(member) || json_is_number(member);
    case NAME: {
        const char *name = member ? json_string_value(member) : "";
        bool good = name && strlen(name) < KERNELS_NAME &&
                    !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")];
        snprintf(field, KERNELS_NAME, "%s", good ? name : "");
        return good;
    }
    }
    return false;
}

bool progress_from_json(Progress *progress, const char *text, const char *source, Error *error)
{
    static const char *const wanted[] = {"a whole number, 0 to 2^53 - 1", "a number",
                                         "a short name"};
    json_t *json = json_parse(text, strlen(text), source, error);
    bool good = json;
    *progress = progress_start();
    for (int f = 0; good && f < FIELD_COUNT; f++) {
        good = read_field((char *)progress + FIELDS[f].offset, FIELDS[f].kind,
                          json_object_get(json, FIELDS[f].key));
        if (!good)
            error_set(error, "%s: '%s' must be %s", source, FIELDS[f].key,
                      wanted[FIELDS[f].kind]);
    }
    json_decref(json);
    return good;
}
