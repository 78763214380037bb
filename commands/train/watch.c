/* watch.c -- one sentence watched while a model learns: what is seen, and its file; see watch.h. */
#include "commands/train/watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "data/text.h"
#include "inference/snapshot.h"
#include "inference/translator.h"
#include "training/distributed.h"

enum { EVERY = 10, SHARE_OF_LATER = 4, THOUSAND = 1000 };
static const char BETWEEN[] = "|||";

bool watch_due(long long update)
{
    long long at = 0;
    while (at < update) at += at / SHARE_OF_LATER > EVERY ? at / SHARE_OF_LATER : EVERY;
    return at == update;
}

/* ---- looks ---- */

static void free_words(char **word, int count)
{
    for (int i = 0; word && i < count; i++) free(word[i]);
    free(word);
}

static void free_snapshot(WatchLook *snapshot)
{
    free_words(snapshot->word, snapshot->rows);
    free(snapshot->says);
    free(snapshot->share);
    *snapshot = (WatchLook){0};
}

static bool no_memory(Error *error)
{
    return error_set(error, "not enough memory to watch a sentence");
}

/* The labels of ids; NULL if memory is short. */
static char **labels(const Tokenizer *tokenizer, const int *id, int count)
{
    char **word = calloc((size_t)count + 1, sizeof *word);
    for (int i = 0; word && i < count; i++)
        if (!(word[i] = strdup(tokenizer_label(tokenizer, id[i])))) {
            free_words(word, count);
            return NULL;
        }
    return word;
}

/* Takes over what is in the look. */
static bool keep(Watch *watch, WatchLook *snapshot, Error *error)
{
    WatchLook *grown = realloc(watch->snapshot, ((size_t)watch->count + 1) * sizeof *grown);
    if (!grown) return no_memory(error);
    watch->snapshot = grown;
    watch->snapshot[watch->count++] = *snapshot;
    *snapshot = (WatchLook){0};
    return true;
}

/* ---- watch.jsonl ---- */

static void put_head(FILE *out, const Watch *watch)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL);
    json_put_text(&json, "type", "watch");
    json_open_array(&json, "source");
    for (int j = 0; j < watch->columns; j++) json_put_text(&json, NULL, watch->source_word[j]);
    json_close_array(&json);
    json_put_bool(&json, "given", watch->target != NULL);
    json_put_integer(&json, "layer", watch->layer + 1);
    json_put_integer(&json, "heads", watch->heads);
    json_close(&json);
    fputc('\n', out);
}

static void put_snapshot(FILE *out, const Watch *watch, const WatchLook *snapshot)
{
    JsonWriter json = {.out = out};
    size_t cells = (size_t)snapshot->rows * (size_t)watch->columns;
    json_open(&json, NULL);
    json_put_text(&json, "type", "look");
    json_put_integer(&json, "update", snapshot->update);
    json_put_real(&json, "loss", snapshot->loss);
    json_put_text(&json, "says", snapshot->says);
    json_open_array(&json, "target");
    for (int i = 0; i < snapshot->rows; i++) json_put_text(&json, NULL, snapshot->word[i]);
    json_close_array(&json);
    json_open_array(&json, "share");
    for (int h = 0; h < watch->heads; h++) {
        json_open_array(&json, NULL);
        for (size_t k = 0; k < cells; k++)
            json_put_integer(&json, NULL,
                             lroundf(snapshot->share[(size_t)h * cells + k] * THOUSAND));
        json_close_array(&json);
    }
    json_close_array(&json);
    json_close(&json);
    fputc('\n', out);
}

/* A look out of its line; false, with what there is of it to be freed, if it is none of this watch. */
static bool read_snapshot(WatchLook *snapshot, const Watch *watch, const Json *json)
{
    const Json *target = json_member(json, "target"), *share = json_member(json, "share");
    const Json *loss = json_member(json, "loss");
    const char *type = json_text(json_member(json, "type")),
               *says = json_text(json_member(json, "says"));
    int rows = json_count(target);
    if (!type || strcmp(type, "look") || !says || rows < 1 || rows > WATCH_WORDS ||
        (watch->target && rows != watch->target_rows) || json_count(share) != watch->heads)
        return false;
    size_t cells = (size_t)rows * (size_t)watch->columns;
    *snapshot =
        (WatchLook){.update = json_whole(json_member(json, "update")),
                    .loss = json_kind(loss) == JSON_NONE ? NAN : json_number(loss),
                    .says = strdup(says),
                    .rows = rows,
                    .word = calloc((size_t)rows, sizeof *snapshot->word),
                    .share = malloc((size_t)watch->heads * cells * sizeof *snapshot->share)};
    if (!snapshot->says || !snapshot->word || !snapshot->share) return false;
    for (int i = 0; i < rows; i++) {
        const char *word = json_text(json_item(target, i));
        if (!word || !(snapshot->word[i] = strdup(word))) return false;
    }
    for (int h = 0; h < watch->heads; h++) {
        const Json *head = json_item(share, h);
        if ((size_t)json_count(head) != cells) return false;
        for (size_t k = 0; k < cells; k++)
            snapshot->share[(size_t)h * cells + k] =
                (float)json_whole(json_item(head, (int)k)) / THOUSAND;
    }
    return true;
}

/* Whether a line is the first one of this very watch. */
static bool is_head(const Watch *watch, const char *line, size_t length)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return false;
    put_head(out, watch);
    fclose(out);
    bool same = text && size == length + 1 && !memcmp(text, line, length);
    free(text);
    return same;
}

/* The looks of an interrupted run, up to `update`. A line that is no JSON (the last one of a run
 * that was killed) is dropped, and so is all of another watch. */
static bool take_all(Watch *watch, long long update, Error *error)
{
    TextReader reader;
    const char *line;
    size_t length;
    if (!text_open(&reader, watch->path, NULL)) return true;
    bool good = true, mine = text_next(&reader, &line, &length, NULL) == TEXT_LINE &&
                             is_head(watch, line, length);
    while (mine && good && text_next(&reader, &line, &length, NULL) == TEXT_LINE) {
        Json *json = json_parse(line, length, watch->path, NULL);
        WatchLook snapshot = {0};
        if (json && read_snapshot(&snapshot, watch, json) && snapshot.update <= update &&
            (!watch->count || snapshot.update > watch->snapshot[watch->count - 1].update))
            good = keep(watch, &snapshot, error);
        free_snapshot(&snapshot);
        json_free(json);
    }
    text_close(&reader);
    return good;
}

static bool write_again(const Watch *watch, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return no_memory(error);
    put_head(out, watch);
    for (int i = 0; i < watch->count; i++) put_snapshot(out, watch, &watch->snapshot[i]);
    fclose(out);
    bool good = text ? file_replace(watch->path, text, size, error) : no_memory(error);
    free(text);
    return good;
}

/* ---- the sentence ---- */

/* ids of text and </s>; NULL with a sentence. */
static int *encode(int *count, const Tokenizer *tokenizer, const char *text, size_t length,
                   int most, Error *error)
{
    Ids ids = {0};
    int *id = NULL;
    if (tokenizer_encode(tokenizer, &ids, text, length, error)) {
        if (ids.count == 0 || ids.count + 1 > (size_t)most)
            error_set(error, "--watch: '%.*s' is %zu tokens: 1 to %d can be watched",
                      (int)length, text, ids.count, most - 1);
        else if (!(id = malloc((ids.count + 1) * sizeof *id))) no_memory(error);
    }
    for (size_t i = 0; id && i < ids.count; i++) id[i] = ids.id[i];
    if (id) id[ids.count] = ID_END, *count = (int)ids.count + 1;
    free(ids.id);
    return id;
}

static bool read_sentence(Watch *watch, const Run *run, Error *error)
{
    const char *text = run->settings->run.watch, *bar = strstr(text, BETWEEN);
    const ModelConfig *config = &run->model.config;
    int most = config->max_length < WATCH_WORDS ? config->max_length : WATCH_WORDS;
    size_t length = bar ? (size_t)(bar - text) : strlen(text);
    const Tokenizer *source = run->vocabulary.tokenizer[SOURCE];
    const Tokenizer *target = run->vocabulary.tokenizer[TARGET];
    watch->layer = run_watch_layer(run);
    watch->heads = config->heads;
    watch->source = encode(&watch->columns, source, text, length, most, error);
    if (watch->source && bar)
        watch->target = encode(&watch->target_rows, target, bar + strlen(BETWEEN),
                               strlen(bar + strlen(BETWEEN)), most, error);
    if (!watch->source || (bar && !watch->target)) return false;
    watch->source_word = labels(source, watch->source, watch->columns);
    return watch->source_word || no_memory(error);
}

bool watch_open(Watch *watch, Run *run, Error *error)
{
    *watch = (Watch){0};
    if (!run->settings->run.watch || distributed_rank() > 0) return true;
    bool good = read_sentence(watch, run, error) &&
                (watch->path = run_path(run->settings, "watch.jsonl", error)) &&
                (run->progress.update == 0 || take_all(watch, run->progress.update, error)) &&
                write_again(watch, error);
    if (good && !(watch->file = fopen(watch->path, "a")))
        good = error_set(error, "cannot write '%s': %s", watch->path, strerror(errno));
    if (!good) watch_close(watch);
    return good;
}

void watch_close(Watch *watch)
{
    if (watch->file) fclose(watch->file);
    for (int i = 0; i < watch->count; i++) free_snapshot(&watch->snapshot[i]);
    free_words(watch->source_word, watch->columns);
    free(watch->snapshot);
    free(watch->source);
    free(watch->target);
    free(watch->path);
    *watch = (Watch){0};
}

/* ---- looking ---- */

/* What the model says, greedily; as the rows, if none are given. */
static bool translate(WatchLook *snapshot, int **id, const Watch *watch, Run *run, Error *error)
{
    SearchConfig search = search_default;
    search.beam = 1;
    search.max_tokens = watch->columns + watch->columns / 2 + 3;
    if (search.max_tokens > WATCH_WORDS) search.max_tokens = WATCH_WORDS;
    search.no_scores = true;
    Ensemble alone = ensemble_of(&run->model);
    TranslatorInput input = {
        .source = {1, watch->columns, watch->source, (int[]){0, watch->columns}}};
    Translations out;
    const Tokenizer *tokenizer = run->vocabulary.tokenizer[TARGET];
    if (!translator_run(&out, &alone, &input, &search, run->workers, NULL, error)) return false;
    const Hypothesis *best = out.sentence[0].hypothesis;
    bool good =
        tokenizer_decode(tokenizer, &snapshot->says, best->id, (size_t)best->length, error);
    const int *rows = watch->target ? watch->target : best->id;
    int count = watch->target ? watch->target_rows : best->length;
    if (good && !(*id = malloc((size_t)count * sizeof **id))) good = no_memory(error);
    if (good) {
        memcpy(*id, rows, (size_t)count * sizeof **id);
        if ((snapshot->word = labels(tokenizer, rows, count))) snapshot->rows = count;
        else good = no_memory(error);
    }
    translations_free(&out);
    return good;
}

static bool see(WatchLook *seen, const int *id, const Watch *watch, const Run *run,
                Error *error)
{
    size_t cells = (size_t)seen->rows * (size_t)watch->columns;
    Snapshot *snapshot =
        snapshot_open(&run->model, watch->source, watch->columns, id, seen->rows, error);
    if (!snapshot) return false;
    seen->share = malloc((size_t)watch->heads * cells * sizeof *seen->share);
    for (int h = 0; seen->share && h < watch->heads; h++)
        snapshot_head(seen->share + (size_t)h * cells, snapshot, ATTENTION_CROSS, watch->layer,
                      h);
    snapshot_close(snapshot);
    for (size_t k = 0; seen->share && k < (size_t)watch->heads * cells;
         k++)  // as it will be read
        seen->share[k] = (float)lroundf(seen->share[k] * THOUSAND) / THOUSAND;
    return seen->share || no_memory(error);
}

bool watch_look(Watch *watch, Run *run, double loss, Error *error)
{
    long long update = run->progress.update;
    if (!watch->path || (watch->count && watch->snapshot[watch->count - 1].update >= update))
        return true;
    WatchLook snapshot = {.update = update, .loss = loss};
    int *id = NULL;
    bool good =
        translate(&snapshot, &id, watch, run, error) && see(&snapshot, id, watch, run, error);
    if (good) {
        put_snapshot(watch->file, watch, &snapshot);
        good = fflush(watch->file) == 0 ||
               error_set(error, "cannot write '%s': %s", watch->path, strerror(errno));
    }
    good = good && keep(watch, &snapshot, error);
    free_snapshot(&snapshot);
    free(id);
    return good;
}
