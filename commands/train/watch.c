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

#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "inference/idlines.h"
#include "inference/translator.h"
#include "plots/film.h"

enum { EVERY = 10, GROWTH = 4, THOUSAND = 1000, MOST_FRAMES = 100 };
static const char BETWEEN[] = "|||";

typedef struct Watch {
    char path[PATH_MAX];  // of watch.jsonl
    IdLines source,
        target;         // at most FILM_WORDS; {0}: no sentence is watched; target not given
    int rows, columns;  // characters of bytes count once; rows 0: not given
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

static bool add_labels(StringList *words, const Labels *labels, Error *error)
{
    for (int i = 0; i < labels->count; i++)
        if (!strings_add(words, labels->text[i], error)) return false;
    return true;
}

/* A snapshot of the sentence with the ids of a translation, and its labels; NULL on error. labels_free
 * them in either case. */
static Snapshot *take(Labels labels[TOKEN_SIDES], const Run *run, const int *id, int count,
                      Error *error)
{
    const IdLines *from = &watch->source;
    Snapshot *snapshot =
        snapshot_open(&run->model, from->ids.id, from->start[1], id, count, error);
    memset(labels, 0, TOKEN_SIDES * sizeof *labels);
    if (!snapshot) return NULL;
    snapshot->unknown[SOURCE] = (const char *const *)from->unknown;
    snapshot->unknown[TARGET] = (const char *const *)watch->target.unknown;
    if (labels_make(labels, snapshot, &run->vocabulary, LABELS_CHARACTERS, error))
        return snapshot;
    return snapshot_close(snapshot), NULL;
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
    json_put_bool(&json, "given", watch->rows > 0);
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
    if (!says || rows < 1 || rows > FILM_WORDS || (watch->rows && rows != watch->rows) ||
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

static bool encode(IdLines *line, const Tokenizer *tokenizer, const char *text, size_t length,
                   int most, Error *error)
{
    size_t cut;
    line->find_unknown = true;
    if (!idlines_add(line, tokenizer, most, text, length, &cut, error)) return false;
    char begin[41];
    utf8_fit(begin, length < sizeof begin ? length + 1 : sizeof begin, text);
    return (!cut && line->ids.count > 1) ||
           error_set(error, "--watch: '%s%s' is %zu tokens: 1 to %d can be watched", begin,
                     length < sizeof begin ? "" : "…", cut, most - 1);
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
    const int none = ID_END;
    Labels labels[TOKEN_SIDES];
    Snapshot *snapshot = take(labels, run, bar ? watch->target.ids.id : &none,
                              bar ? watch->target.start[1] : 1, error);
    if (bar) watch->rows = labels[TOKENS_TARGET].count;
    watch->columns = labels[TOKENS_SOURCE].count;
    bool good = snapshot && add_labels(&watch->source_word, &labels[TOKENS_SOURCE], error);
    labels_free(labels);
    snapshot_close(snapshot);
    return good;
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
    idlines_free(&watch->source);
    idlines_free(&watch->target);
    *watch = (Watch){0};
}

/* ---- recording ---- */

/* Fills a frame from the model's translation; the rows are those of the given one, if there is
 * one. The attention is rounded as it is in the file. */
static bool fill_frame(FilmFrame *frame, const Run *run, const Hypothesis *best, Error *error)
{
    const Tokenizer *tokenizer = run->vocabulary.tokenizer[TARGET];
    const IdLines *given = watch->rows ? &watch->target : NULL;
    Labels labels[TOKEN_SIDES], *row = &labels[TOKENS_TARGET];
    Snapshot *snapshot = take(labels, run, given ? given->ids.id : best->id,
                              given ? given->start[1] : best->length, error);
    size_t cells = (size_t)row->count * (size_t)watch->columns;
    float *share = frame->share = calloc((size_t)watch->heads * cells + 1, sizeof *share);
    bool good =
        snapshot && (share || no_memory(error)) && add_labels(&frame->word, row, error) &&
        tokenizer_decode(tokenizer, &frame->says, best->id, (size_t)best->length, error);
    for (int h = 0; good && h < watch->heads; h++) {
        Map map;
        good = map_chosen(&map, snapshot, ATTENTION_CROSS, watch->layer, h, row->word,
                          labels[TOKENS_SOURCE].word, error);
        for (size_t k = 0; good && k < cells; k++)
            *share++ = (float)lroundf(map.at[k] * THOUSAND) / THOUSAND;
        if (good) map_free(&map);
    }
    labels_free(labels);
    snapshot_close(snapshot);
    return good;
}

static bool translate(Translations *out, Run *run, Error *error)
{
    int columns = watch->source.start[1];
    SearchConfig search = search_default;
    search.beam = 1;
    search.max_tokens = at_most(columns + columns / 2 + 3, FILM_WORDS);
    search.no_scores = true;
    Ensemble alone = ensemble_of(&run->model);
    TranslatorInput input = translator_input(idlines_packed(&watch->source), &run->vocabulary);
    return translator_run(out, &alone, &input, &search, run->workers, NULL, error);
}

static bool watch_save(Run *run, Error *error)
{
    return !watch->columns || run_replace_text(run, watch->path, to_text(), error);
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
    return good && watch_save(run, error);
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
    bool good = tokenizer_decode_replaced(run->vocabulary.tokenizer[SOURCE], &title,
                                          watch->source.ids.id, watch->source.ids.count,
                                          (const char *const *)watch->source.unknown, error);
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

const Recorder watch_recorder = {.open = watch_open,
                                 .record = watch_record,
                                 .save = watch_save,
                                 .end = watch_end,
                                 .close = watch_close};
