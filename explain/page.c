/* page.c -- from the network's maps and vectors to the page's JSON; see page.h. */
#include "explain/page.h"

#include "base/json.h"
#include "explain/labels.h"
#include "inference/snapshot.h"
#include "plots/colormap.h"
#include "plots/webpage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLORS = 33 };  // of the 256 of a colour map, evenly

static const struct {
    AttentionKind kind;
    const char *short_title, *rows, *columns, *row_is, *column_is, *caption;
} KIND[] = {
    {ATTENTION_CROSS, "translation → source", "target", "source", "word being written",
     "source word",
     "How much each word being written looks at each source word; a word's lines add up to 1."},
    {ATTENTION_ENCODER, "source → source", "source", "source", "source word",
     "source word it looks at",
     "How much each source word looks at each source word; a word's lines add up to 1."},
    {ATTENTION_DECODER, "translation → itself", "target", "read", "word being written",
     "word written before",
     "How much each word being written looks at the words before it; a word's lines add up to "
     "1."},
};
enum { KINDS = sizeof KIND / sizeof *KIND };

typedef struct Page {
    JsonWriter json;
    const Snapshot *snapshot;
    const Vocabulary *vocabulary;
    const SentencePair *pair;
    bool vectors;
    bool pieces;  // some word is of several
} Page;

/* value with so many digits, so that its shortest text is short. */
static double rounded(double value, int digits)
{
    char text[REAL_TEXT];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL);
}

/* ---- words ---- */

static bool put_side(Page *page, const char *key, CorpusSide side, bool shifted, Error *error)
{
    const Tokenizer *tokenizer = page->vocabulary->tokenizer[side];
    const int *id = side == SOURCE ? page->pair->source : page->pair->target;
    int count = side == SOURCE ? page->pair->source_length : page->pair->target_length;
    Labels token, word = {0};
    bool good = labels_make(&token, tokenizer, id, count, shifted, false, error) &&
                labels_make(&word, tokenizer, id, count, shifted, true, error);
    JsonWriter *json = &page->json;
    if (good) {
        json_open(json, key);
        json_open_array(json, "text");
        for (int i = 0; i < token.count; i++) json_put_text(json, NULL, token.text[i]);
        json_close_array(json);
        json_open_array(json, "mark");
        for (int i = 0; i < token.count; i++) json_put_bool(json, NULL, token.mark[i]);
        json_close_array(json);
        json_open_array(json, "word");
        for (int i = 0; i < token.count; i++) json_put_integer(json, NULL, word.word[i]);
        json_close_array(json);
        json_open_array(json, "joined");
        for (int i = 0; i < word.count; i++) json_put_text(json, NULL, word.text[i]);
        json_close_array(json);
        json_close(json);
        page->pieces |= word.count < token.count;
    }
    labels_free(&token);
    labels_free(&word);
    return good;
}

static bool put_text_of(JsonWriter *json, const char *key, const Tokenizer *tokenizer,
                        const int *id, int count, Error *error)
{
    char *text = NULL;
    if (!tokenizer_decode(tokenizer, &text, id, (size_t)count, error)) return false;
    json_put_text(json, key, text);
    free(text);
    return true;
}

/* ---- numbers ---- */

static void put_vectors(JsonWriter *json, const char *key, SnapshotRows rows)
{
    json_open_array(json, key);
    for (int i = 0; i < rows.rows; i++) {
        json_open_array(json, NULL);
        for (int d = 0; d < rows.columns; d++)
            json_put_real(json, NULL,
                          rounded(rows.at[(size_t)i * (size_t)rows.stride + (size_t)d], 5));
        json_close_array(json);
    }
    json_close_array(json);
}

static void put_head(Page *page, AttentionKind kind, int layer, int head)
{
    JsonWriter *json = &page->json;
    AttentionMap map = snapshot_map(page->snapshot, kind, layer, head);
    json_open(json, NULL);
    json_open_array(json, "weights");
    for (int i = 0; i < map.rows; i++) {
        json_open_array(json, NULL);
        for (int j = 0; j < map.columns; j++)
            json_put_real(json, NULL, round(1e4 * map.at[i * map.width + j]) / 1e4);
        json_close_array(json);
    }
    json_close_array(json);
    if (page->vectors) {
        HeadVectors vectors = snapshot_vectors(page->snapshot, kind, layer, head);
        put_vectors(json, "q", vectors.Q);
        put_vectors(json, "k", vectors.K);
    }
    json_close(json);
}

static void put_kind(Page *page, int k)
{
    JsonWriter *json = &page->json;
    AttentionKind kind = KIND[k].kind;
    json_open(json, NULL);
    json_put_text(json, "name", choice_kind_name(kind));
    json_put_text(json, "title", choice_kind_title(kind));
    json_put_text(json, "short", KIND[k].short_title);
    json_put_text(json, "rows", KIND[k].rows);
    json_put_text(json, "columns", KIND[k].columns);
    json_put_text(json, "row_is", KIND[k].row_is);
    json_put_text(json, "column_is", KIND[k].column_is);
    json_put_text(json, "caption", KIND[k].caption);
    json_put_bool(json, "causal", kind == ATTENTION_DECODER);
    json_open_array(json, "layers");
    for (int l = 0; l < snapshot_layers(page->snapshot, kind); l++) {
        json_open_array(json, NULL);
        for (int h = 0; h < snapshot_heads(page->snapshot); h++) put_head(page, kind, l, h);
        json_close_array(json);
    }
    json_close_array(json);
    json_close(json);
}

static void put_colors(JsonWriter *json, const char *key, Theme theme)
{
    Colormap map = colormap_make(theme);
    json_open_array(json, key);
    for (int i = 0; i < COLORS; i++) {
        Color c = map.color[i * (COLORMAP_SIZE - 1) / (COLORS - 1)];
        char text[8];
        snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
        json_put_text(json, NULL, text);
    }
    json_close_array(json);
}

/* ---- what is shown first ---- */

static void put_start(Page *page, const Choice *choice, const PictureConfig *config,
                      int best_layer, int best_head)
{
    JsonWriter *json = &page->json;
    bool best = choice->head == CHOICE_BEST;
    int head = best ? best_head : choice->head;
    json_open(json, "start");
    json_put_text(json, "kind", choice_kind_name(choice->kind));
    json_put_integer(json, "layer", choice->layer >= 0 ? choice->layer : best_layer);
    json_open_array(json, "heads");
    for (int h = 0; h < snapshot_heads(page->snapshot); h++)
        if (choice->head == CHOICE_SOME ? h < CHOICE_HEADS && choice->some >> h & 1
                                        : head < 0 || h == head)
            json_put_integer(json, NULL, h);
    json_close_array(json);
    json_put_bool(json, "words", config->words);
    json_put_bool(json, "hide", config->hide_special);
    json_put_text(json, "theme", config->theme == THEME_DARK ? "dark" : "auto");
    json_close(json);
}

static bool put_page(Page *page, const char *name, const Choice *choice,
                     const PictureConfig *config, Error *error)
{
    JsonWriter *json = &page->json;
    const SentencePair *pair = page->pair;
    const Tokenizer *const *tokenizer = (const Tokenizer *const *)page->vocabulary->tokenizer;
    SnapshotRows keys = snapshot_vectors(page->snapshot, ATTENTION_CROSS, 0, 0).K;
    int layer = 0, head = 0;
    json_open(json, NULL);
    json_put_text(json, "model", name);
    bool good = put_text_of(json, "source", tokenizer[SOURCE], pair->source,
                            pair->source_length, error) &&
                put_text_of(json, "target", tokenizer[TARGET], pair->target,
                            pair->target_length, error);
    json_open(json, "sides");
    good = good && put_side(page, "source", SOURCE, false, error) &&
           put_side(page, "target", TARGET, false, error) &&
           put_side(page, "read", TARGET, true, error) &&
           picture_best(&layer, &head, page->snapshot, pair, page->vocabulary, choice, error);
    json_close(json);
    json_put_bool(json, "given", pair->given);
    json_put_bool(json, "pieces", page->pieces);
    json_put_bool(json, "vectors", page->vectors);
    json_put_integer(json, "heads", snapshot_heads(page->snapshot));
    json_put_integer(json, "size", keys.columns);
    json_put_real(json, "scale", snapshot_vectors(page->snapshot, ATTENTION_CROSS, 0, 0).scale);
    json_open(json, "best");
    json_put_integer(json, "layer", layer);
    json_put_integer(json, "head", head);
    json_close(json);
    put_start(page, choice, config, layer, head);
    json_open(json, "colors");
    put_colors(json, "light", THEME_LIGHT);
    put_colors(json, "dark", THEME_DARK);
    json_close(json);
    json_open_array(json, "kinds");
    for (int k = 0; k < KINDS && good; k++) put_kind(page, k);
    json_close_array(json);
    json_close(json);
    return good;
}

/* ---- the page ---- */

/* Of how many numbers the maps, and the queries and keys, of all kinds are. */
static void count_numbers(double *weights, double *vectors, const Snapshot *snapshot, double D)
{
    *weights = *vectors = 0;
    for (int k = 0; k < KINDS; k++) {
        AttentionMap map = snapshot_map(snapshot, KIND[k].kind, 0, 0);
        double layers = snapshot_layers(snapshot, KIND[k].kind), rows = map.rows,
               columns = map.columns;
        *weights += layers * snapshot_heads(snapshot) * rows * columns;
        *vectors += layers * (rows + columns) * D;
    }
}

static bool save(const char *path, Page *page, const char *name, const Choice *choice,
                 const PictureConfig *config, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    page->json.out = open_memstream(&text, &size);
    if (!page->json.out) return error_set(error, "not enough memory for the page '%s'", path);
    bool good = put_page(page, name, choice, config, error), full = ferror(page->json.out);
    full = fclose(page->json.out) != 0 || full;
    if (good && full) good = error_set(error, "not enough memory for the page '%s'", path);
    good = good && webpage_save(path, text, size, error);
    free(text);
    return good;
}

bool page_attention(const char *path, const Transformer *model, const Vocabulary *vocabulary,
                    const char *name, const SentencePair *pair, const Choice *choice,
                    const PictureConfig *config, Error *error)
{
    Snapshot *snapshot = snapshot_open(model, pair->source, pair->source_length, pair->target,
                                       pair->target_length, error);
    if (!snapshot) return false;
    double weights, vectors;
    count_numbers(&weights, &vectors, snapshot, model->config.d_model);
    Page page = {.snapshot = snapshot,
                 .vocabulary = vocabulary,
                 .pair = pair,
                 .vectors = vectors <= PAGE_VECTORS};
    bool good = weights <= PAGE_WEIGHTS ||
                error_set(error,
                          "the attention of %d and %d tokens is %.0f numbers, too many for "
                          "a page: ask for a picture, --attention OUT.png",
                          pair->source_length, pair->target_length, weights);
    good = good && save(path, &page, name, choice, config, error);
    snapshot_close(snapshot);
    return good;
}
