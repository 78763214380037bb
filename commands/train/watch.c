/* watch.c -- ./train --watch: the attention of one sentence, recorded while the model learns.
 *
 *   watch.jsonl   the frames, one a line, written anew with each
 *   watch.png     an animated PNG (plots/png.h) of the frames, drawn at the end
 *
 *   {"type":"watch","source":["jane",…],"given":true,"layer":2,"heads":4}
 *   {"type":"frame","update":25,"loss":5.1,"says":"la la","target":["jane",…],"share":[[…],…]}
 *
 * The first line describes the sentence, the others are frames. share has the encoder-decoder
 * attention of each head of the decoder layer, row by row, in thousandths. loss is the training
 * loss of that update, null at update 0. says is the model's greedy translation.
 *
 * With "SENTENCE ||| TRANSLATION" the rows of every frame are the words of that translation.
 * Otherwise they are the words of the model's own translation at that update.
 *
 * Frames are recorded at updates 0, 10, 20, … 50, then at intervals that grow by a quarter,
 * since most changes come early; and at every validation that is a hundredth of the updates after the
 * last frame, so that a long run has about a thousand frames at most. Recording does not affect the
 * training. A resumed run drops the frames that are later than its checkpoint, as metrics.jsonl
 * drops lines. */
#include "commands/train/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/textstream.h"
#include "inference/snapshot.h"
#include "inference/translator.h"
#include "plots/film.h"

enum { EVERY = 10, GROWTH = 4, THOUSAND = 1000, MOST_FRAMES = 100 };
static const char BETWEEN[] = "|||";

typedef struct Watch {
    char path[PATH_MAX];  // of watch.jsonl
    Ids source, target;   // at most FILM_WORDS; {0}: no sentence is watched; target not given
    int columns;          // tokens of the source
    StringList source_word;  // [columns]
    int layer, heads;
    FilmFrame *frame;  // [count]
    int count;
    size_t capacity;
} Watch;

static Watch state, *const watch = &state;

/* Whether to record a frame after this update, besides those of validations. */
static bool is_due(long long update)
{
    long long at = 0;
    while (at < update) at += at / GROWTH > EVERY ? at / GROWTH : EVERY;
    return at == update;
}

/* ---- frames ---- */

static void free_frame(FilmFrame *frame)
{
    strings_free(&frame->word);
    free(frame->says);
    free(frame->share);
    *frame = (FilmFrame){0};
}

static bool no_memory(Error *error)
{
    return error_memory(error, "to watch a sentence");
}

static bool add_labels(StringList *words, const Tokenizer *tokenizer, const int *id, int count,
                       Error *error)
{
    for (int i = 0; i < count; i++)
        if (!strings_add(words, tokenizer_shown(tokenizer, id[i]), error)) return false;
    return true;
}

/* Appends a frame and takes ownership of it. */
static bool append(FilmFrame *frame, Error *error)
{
    if (!GROW(watch->frame, watch->capacity, (size_t)watch->count + 1)) return no_memory(error);
    watch->frame[watch->count++] = *frame;
    *frame = (FilmFrame){0};
    return true;
}

/* ---- watch.jsonl ---- */

static void put_frame(FILE *out, const FilmFrame *frame)
{
    JsonWriter json = {.out = out, .lines = true};
    size_t cells = (size_t)frame->word.count * (size_t)watch->columns;
    json_open(&json, NULL);
    json_put_text(&json, "type", "frame");
    json_put_integer(&json, "update", frame->update);
    json_put_real(&json, "loss", frame->loss);
    json_put_text(&json, "says", frame->says);
    json_put_texts(&json, "target", frame->word.item, frame->word.count);
    json_open_array(&json, "share");
    for (int h = 0; h < watch->heads; h++) {
        json_open_array(&json, NULL);
        for (size_t k = 0; k < cells; k++)
            json_put_integer(&json, NULL,
                             lroundf(frame->share[(size_t)h * cells + k] * THOUSAND));
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
}

/* The whole file, for free(). NULL: not enough memory. */
static char *to_text(void)
{
    TextStream stream;
    JsonWriter json = {.out = textstream_open(&stream), .lines = true};
    if (!json.out) return NULL;
    json_open(&json, NULL);
    json_put_text(&json, "type", "watch");
    json_put_texts(&json, "source", watch->source_word.item, watch->columns);
    json_put_bool(&json, "given", watch->target.count > 0);
    json_put_integer(&json, "layer", watch->layer + 1);
    json_put_integer(&json, "heads", watch->heads);
    json_close(&json);
    for (int i = 0; i < watch->count; i++) put_frame(json.out, &watch->frame[i]);
    return textstream_close(&stream);
}

/* frame (=) a frame of watch.jsonl. False if the line is no frame of this watch; free_frame() it
 * in either case. */
static bool read_frame(FilmFrame *frame, const json_t *json)
{
    const json_t *target = json_object_get(json, "target"),
                 *share = json_object_get(json, "share");
    const json_t *loss = json_object_get(json, "loss");
    const char *says = json_string_value(json_object_get(json, "says"));
    int rows = (int)json_array_size(target);
    if (!says || rows < 1 || rows > FILM_WORDS ||
        (watch->target.count && (size_t)rows != watch->target.count) ||
        (int)json_array_size(share) != watch->heads)
        return false;
    size_t cells = (size_t)rows * (size_t)watch->columns;
    *frame = (FilmFrame){.update = json_integer_value(json_object_get(json, "update")),
                         .loss = json_is_null(loss) ? NAN : json_number_value(loss),
                         .says = strdup(says),
                         .share = malloc((size_t)watch->heads * cells * sizeof *frame->share)};
    if (!frame->says || !frame->share) return false;
    for (int i = 0; i < rows; i++) {
        const char *word = json_string_value(json_array_get(target, (size_t)i));
        if (!word || !strings_add(&frame->word, word, NULL)) return false;
    }
    for (int h = 0; h < watch->heads; h++) {
        const json_t *head = json_array_get(share, (size_t)h);
        if (json_array_size(head) != cells) return false;
        for (size_t k = 0; k < cells; k++)
            frame->share[(size_t)h * cells + k] =
                (float)json_integer_value(json_array_get(head, k)) / THOUSAND;
    }
    return true;
}

/* Reads the frames of an interrupted run up to `update`, if the file begins as that of this run
 * does. */
static bool read_frames(long long update, Error *error)
{
    char *head = to_text(),
         *text = file_read_or_empty(watch->path, (size_t)1 << 30, NULL, error);
    bool good = text && (head || no_memory(error));
    size_t skip = good && !strncmp(text, head, strlen(head)) ? strlen(head) : 0;
    char *end;
    for (char *line = skip ? text + skip : ""; good && *line; line = end + !!*end) {
        end = strchrnul(line, '\n');
        json_t *json = json_parse(line, (size_t)(end - line), watch->path, NULL);
        FilmFrame frame = {0};
        if (json && read_frame(&frame, json) && frame.update <= update &&
            (!watch->count || frame.update > watch->frame[watch->count - 1].update))
            good = append(&frame, error);
        free_frame(&frame);
        json_decref(json);
    }
    free(head);
    free(text);
    return good;
}

/* ---- the sentence ---- */

/* ids (=) those of a text, with </s>. */
static bool encode(Ids *ids, const Tokenizer *tokenizer, const char *text, size_t length,
                   int most, Error *error)
{
    if (!tokenizer_encode(tokenizer, ids, text, length, error)) return false;
    if (ids->count == 0 || ids->count + 1 > (size_t)most)
        return error_set(error, "--watch: '%.*s' is %zu tokens: 1 to %d can be watched",
                         (int)length, text, ids->count, most - 1);
    return ids_push(ids, NULL, ID_END, 0) || no_memory(error);
}

static bool read_sentence(const Run *run, Error *error)
{
    const char *text = run->settings->run.watch, *bar = strstr(text, BETWEEN);
    const ModelConfig *config = &run->model.config;
    int most = at_most(config->max_length, FILM_WORDS);
    size_t length = bar ? (size_t)(bar - text) : strlen(text);
    const Tokenizer *source = run->vocabulary.tokenizer[SOURCE];
    const Tokenizer *target = run->vocabulary.tokenizer[TARGET];
    watch->layer = config->decoder_layers - 1;
    watch->heads = config->heads;
    if (!encode(&watch->source, source, text, length, most, error) ||
        (bar && !encode(&watch->target, target, bar + strlen(BETWEEN),
                        strlen(bar + strlen(BETWEEN)), most, error)))
        return false;
    watch->columns = (int)watch->source.count;
    return add_labels(&watch->source_word, source, watch->source.id, watch->columns, error);
}

static bool watch_open(Run *run, Error *error)
{
    if (!run->settings->run.watch) return true;
    run_file(watch->path, run, "watch.jsonl");
    return read_sentence(run, error) &&
           (run->progress.update == 0 || read_frames(run->progress.update, error));
}

static void watch_close(void)
{
    for (int i = 0; i < watch->count; i++) free_frame(&watch->frame[i]);
    strings_free(&watch->source_word);
    free(watch->frame);
    free(watch->source.id);
    free(watch->target.id);
    *watch = (Watch){0};
}

/* ---- recording ---- */

/* Fills a frame from the model's translation; the rows are those of the given one, if there is
 * one. The attention is rounded as it is in the file. */
static bool fill_frame(FilmFrame *frame, const Run *run, const Hypothesis *best, Error *error)
{
    const Tokenizer *tokenizer = run->vocabulary.tokenizer[TARGET];
    const int *row = watch->target.count ? watch->target.id : best->id;
    int rows = watch->target.count ? (int)watch->target.count : best->length;
    size_t cells = (size_t)rows * (size_t)watch->columns;
    size_t count = (size_t)watch->heads * cells;
    float *share = frame->share = malloc(count * sizeof *share);
    if (!share) return no_memory(error);
    if (!add_labels(&frame->word, tokenizer, row, rows, error) ||
        !tokenizer_decode(tokenizer, &frame->says, best->id, (size_t)best->length, error))
        return false;
    Snapshot *snapshot =
        snapshot_open(&run->model, watch->source.id, watch->columns, row, rows, error);
    if (!snapshot) return false;
    for (int h = 0; h < watch->heads; h++)
        snapshot_weights(share + (size_t)h * cells, snapshot, ATTENTION_CROSS, watch->layer, h);
    snapshot_close(snapshot);
    for (size_t k = 0; k < count; k++)
        share[k] = (float)lroundf(share[k] * THOUSAND) / THOUSAND;
    return true;
}

static bool translate(Translations *out, Run *run, Error *error)
{
    int columns = watch->columns;
    SearchConfig search = search_default;
    search.beam = 1;
    search.max_tokens = at_most(columns + columns / 2 + 3, FILM_WORDS);
    search.no_scores = true;
    Ensemble alone = ensemble_of(&run->model);
    TranslatorInput input = {.source = {1, columns, watch->source.id, (int[]){0, columns}},
                             .placeholder = vocabulary_placeholder(&run->vocabulary),
                             .first_byte =
                                 tokenizer_first_byte(run->vocabulary.tokenizer[TARGET])};
    return translator_run(out, &alone, &input, &search, run->workers, NULL, error);
}

static bool watch_record(Run *run, double loss, bool validates, Error *error)
{
    long long update = run->progress.update, since = is_due(update) ? 0 : update / 100;
    if (!watch->columns || !(is_due(update) || validates) ||
        (watch->count && watch->frame[watch->count - 1].update >= update - since))
        return true;
    FilmFrame frame = {.update = update, .loss = loss};
    Translations out;
    if (!translate(&out, run, error)) return false;
    bool good = fill_frame(&frame, run, out.sentence[0].hypothesis, error);
    translations_free(&out);
    good = good && append(&frame, error);
    free_frame(&frame);
    return good && run_replace_text(run, watch->path, to_text(), error);
}

/* ---- watch.png ---- */

static bool draw(const Run *run, const char *path, Error *error)
{
    const Metrics *metrics = &run->metrics;
    FilmFrame frame[MOST_FRAMES];
    int n = watch->count, count = at_most(n, MOST_FRAMES);
    int v = metrics_column(NULL, metrics, METRICS_VALID, "loss");
    for (int f = 0; f < count; f++)
        frame[f] = watch->frame[(long long)f * (n - 1) / (count - 1)];
    double *x = malloc(2 * (size_t)(n + v) * sizeof *x), *y = x + n, *vx = y + n, *vy = vx + v;
    if (!x) return no_memory(error);
    for (int i = 0; i < n; i++) {
        x[i] = (double)watch->frame[i].update;
        y[i] = watch->frame[i].loss;
    }
    metrics_column(vx, metrics, METRICS_VALID, "update");
    metrics_column(vy, metrics, METRICS_VALID, "loss");
    char *title = NULL;
    bool good = tokenizer_decode(run->vocabulary.tokenizer[SOURCE], &title, watch->source.id,
                                 (size_t)watch->columns, error);
    const PngText texts[] = {
        {"Software", "qkv"}, {"Model", run->settings->run.output}, {"Source", title}, {0}};
    const Film film = {.title = title,
                       .frame = frame,
                       .count = count,
                       .heads = watch->heads,
                       .columns = watch->columns,
                       .column = watch->source_word.item,
                       .missing = run->missing,
                       .loss = {{"training loss", x, y, n, 0, false},
                                {"validation loss", vx, vy, v, 1, true}}};
    good = good && film_save(path, &film, texts, error);
    free(title);
    free(x);
    return good;
}

/* Needs two frames. */
static bool watch_end(Run *run, Error *error)
{
    return watch->count < 2 || pictures_draw(draw, "watch.png", run, error);
}

const Recorder watch_recorder = {
    .open = watch_open, .record = watch_record, .end = watch_end, .close = watch_close};
