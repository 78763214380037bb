/* page.c -- the page with its data: attention weights and vectors to JSON; see page.h. */
#include "explain/page.h"

#include "base/file.h"
#include "base/textstream.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "plots/colormap.h"

static const char *const SIDE[] = {
    [TOKENS_SOURCE] = "source", [TOKENS_TARGET] = "target", [TOKENS_READ] = "read"};

/* ---- words ---- */

static void put_bools(JsonWriter *json, const char *key, const bool *value, int count)
{
    json_open_array(json, key);
    for (int i = 0; i < count; i++) json_put_bool(json, NULL, value[i]);
    json_close(json);
}

static void put_side(JsonWriter *json, const char *name, const Labels *token,
                     const Labels *word)
{
    json_open(json, name);
    json_put_texts(json, "text", token->text, token->count);
    put_bools(json, "special", token->special, token->count);
    put_bools(json, "unknown", token->unknown, token->count);
    json_open_array(json, "probability");
    for (int i = 0; i < token->count; i++)
        json_put_digits(json, NULL, token->probability[i], 5);
    json_close(json);
    json_open_array(json, "word");
    for (int i = 0; i < token->count; i++) json_put_integer(json, NULL, word->word[i]);
    json_close(json);
    json_put_texts(json, "joined", word->text, word->count);
    json_close(json);
}

static bool put_sides(JsonWriter *json, const PictureInput *input, Error *error)
{
    Labels token[TOKEN_SIDES], word[TOKEN_SIDES] = {0};
    bool good = labels_make(token, input->snapshot, input->vocabulary, LABELS_TOKENS, error) &&
                labels_make(word, input->snapshot, input->vocabulary, LABELS_WORDS, error);
    bool pieces = false;  // some word consists of several tokens
    json_put_text(json, "source", token[TOKENS_SOURCE].sentence);
    json_put_text(json, "target", token[TOKENS_TARGET].sentence);
    json_open(json, "sides");
    for (TokenSide side = TOKENS_SOURCE; good && side < TOKEN_SIDES; side++) {
        put_side(json, SIDE[side], &token[side], &word[side]);
        pieces |= word[side].count < token[side].count;
    }
    json_close(json);
    json_put_bool(json, "pieces", pieces);
    labels_free(token);
    labels_free(word);
    return good;
}

/* ---- numbers ---- */

void page_put_matrix(JsonWriter *json, const char *key, SnapshotRows rows, bool decimals)
{
    json_open_array(json, key);
    for (int i = 0; i < rows.rows; i++) {
        const real *x = snapshot_row(rows, i);
        json_open_array(json, NULL);
        for (int j = 0; j < rows.columns; j++)
            json_put_digits(json, NULL, decimals ? round(1e4 * x[j]) / 1e4 : x[j], 5);
        json_close(json);
    }
    json_close(json);
}

void page_put_head(JsonWriter *json, SnapshotRows weights, const HeadVectors *x,
                   const HeadGradients *d)
{
    json_open(json, NULL);
    page_put_matrix(json, "weights", weights, true);
    if (x) {
        json_put_real(json, "scale", x->scale);
        page_put_matrix(json, "q", x->Q, false);
        page_put_matrix(json, "k", x->K, false);
        page_put_matrix(json, "v", x->V, false);
    }
    if (d) {
        page_put_matrix(json, "do", d->x.O, false);
        page_put_matrix(json, "dq", d->x.Q, false);
        page_put_matrix(json, "dk", d->x.K, false);
        page_put_matrix(json, "dv", d->x.V, false);
        page_put_matrix(json, "dP", d->P, false);
        page_put_matrix(json, "dS", d->S, false);
    }
    json_close(json);
}

static void put_heads(JsonWriter *json, const PictureInput *input, AttentionKind kind,
                      int layer, bool vectors)
{
    bool backward = vectors && input->gradients;
    json_open_array(json, NULL);
    for (int h = 0; h < input->snapshot->model->config.heads; h++) {
        const HeadVectors x = snapshot_vectors(input->snapshot, kind, layer, h);
        HeadGradients d;
        if (backward) d = snapshot_gradients(input->gradients, kind, layer, h);
        page_put_head(json, snapshot_map(input->snapshot, kind, layer, h), vectors ? &x : NULL,
                      backward ? &d : NULL);
    }
    json_close(json);
}

static void put_kind(JsonWriter *json, const PictureInput *input, AttentionKind kind,
                     bool vectors)
{
    json_open(json, NULL);
    json_put_text(json, "name", attention_kind_names[kind]);
    json_put_text(json, "title", choice_kind_titles[kind]);
    json_put_text(json, "rows", SIDE[labels_rows(kind)]);
    json_put_text(json, "columns", SIDE[labels_columns(kind)]);
    json_put_bool(json, "causal", kind == ATTENTION_DECODER);
    json_put_digits(json, "high", picture_high(input, kind), 5);
    json_open_array(json, "layers");
    for (int l = 0; l < snapshot_layers(input->snapshot, kind); l++)
        put_heads(json, input, kind, l, vectors);
    json_close(json);
    json_close(json);
}

/* As RRGGBB, one behind the other. */
static void put_colors(JsonWriter *json, const char *key, Theme theme)
{
    char text[6 * COLORMAP_SIZE + 1];
    for (int i = 0; i < COLORMAP_SIZE; i++) {
        Color c = colormap_color(theme, (float)i / (COLORMAP_SIZE - 1), false);
        snprintf(text + 6 * (size_t)i, 7, "%02x%02x%02x", c.r, c.g, c.b);
    }
    json_put_text(json, key, text);
}

void page_put_colors(JsonWriter *json)
{
    json_open(json, "colors");
    put_colors(json, "light", THEME_LIGHT);
    put_colors(json, "dark", THEME_DARK);
    json_close(json);
}

/* ---- all data ---- */

bool page_data(JsonWriter *json, const PictureInput *input, bool vectors, Error *error)
{
    Choice first = *input->choice;
    if (first.head <= CHOICE_MAX)
        return error_set(error, "a page shows the heads one by one: `head` %s is for pictures",
                         choice_head_name(first.head));
    PictureBest best, own;  // of cross-attention; of what is shown first
    if (!picture_best(&best, input, ATTENTION_CROSS, error)) return false;
    own = best;
    if (first.kind != ATTENTION_CROSS && !picture_best(&own, input, first.kind, error))
        return false;
    if (first.layer < 0) first.layer = first.head == CHOICE_BEST ? own.layer : own.shown;
    if (first.head == CHOICE_BEST) first.head = own.head;
    int layer, head, row = -1;
    maps_follow(&layer, &head, &row, input->snapshot, &first);
    const ModelConfig *config = &input->snapshot->model->config;
    const ScoreFunction *score = &score_functions[config->attention_score];
    json_open(json, NULL);
    json_put_text(json, "model", input->model_name);
    if (!put_sides(json, input, error)) return false;
    json_put_bool(json, "given", input->given);
    json_put_bool(json, "vectors", vectors);
    json_put_bool(json, "backward", vectors && input->gradients);
    json_put_integer(json, "heads", config->heads);
    json_put_integer(json, "size", config->d_model / config->heads);
    json_put_text(json, "comparison", score->comparison);
    json_put_text(json, "score", score->formula);
    json_open(json, "best");
    json_put_integer(json, "layer", best.layer);
    json_put_integer(json, "head", best.aligns ? best.head : -1);
    json_close(json);
    json_open(json, "start");
    json_put_text(json, "kind", attention_kind_names[first.kind]);
    json_put_integer(json, "layer", first.layer);
    json_put_integer(json, "head", head);
    json_put_integer(json, "query", row);
    json_open_array(json, "heads");
    for (int h = 0; h < config->heads; h++)
        if (first.head < 0 || first.head == h) json_put_integer(json, NULL, h);
    json_close(json);
    json_put_bool(json, "words", input->words);
    json_close(json);
    page_put_colors(json);
    json_open_array(json, "kinds");
    put_kind(json, input, ATTENTION_CROSS, vectors);
    put_kind(json, input, ATTENTION_ENCODER, vectors);
    put_kind(json, input, ATTENTION_DECODER, vectors);
    json_close(json);
    json_close(json);
    return true;
}

/* ---- the page ---- */

/* Within a function, clang-tidy would take minutes for it. */
static const unsigned char template[] = {
#include "plots/page.inc"
};

const char *page_begin(FILE *out, const void *html, size_t *length)
{
    static const char marker[] = "@data@";
    const char *all = html ? html : (const char *)template;
    if (!html) *length = sizeof template;
    const char *data = memmem(all, *length, marker, strlen(marker));
    fwrite(all, 1, (size_t)(data - all), out);
    data += strlen(marker);
    *length -= (size_t)(data - all);
    return data;
}

bool page_write(FILE *out, const void *html, size_t length, const PictureInput *input,
                Error *error)
{
    const Snapshot *snapshot = input->snapshot;
    const ModelConfig *config = &snapshot->model->config;
    double weights = 0, vectors = 0;  // how many numbers
    JsonWriter json = {.out = out, .html = true};
    for (AttentionKind kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        SnapshotRows map = snapshot_map(snapshot, kind, 0, 0);
        double layers = snapshot_layers(snapshot, kind), rows = map.rows, columns = map.columns;
        weights += layers * config->heads * rows * columns;
        vectors += layers * (rows + 2 * columns) * config->d_model;
    }
    if (input->gradients) vectors = 2 * vectors + 2 * weights;
    if (weights > PAGE_WEIGHTS)
        return error_set(error,
                         "the attention of %d and %d tokens is %.0f numbers, too many for a "
                         "page: give `attention` the name of a .png file",
                         snapshot->source.rows, snapshot->target.rows, weights);
    const char *end = page_begin(out, html, &length);
    if (!page_data(&json, input, vectors <= PAGE_VECTORS, error)) return false;
    fwrite(end, 1, length, out);
    return true;
}

bool page_save(const char *path, const PictureInput *input, Error *error)
{
    TextStream stream;
    bool good = !textstream_open(&stream) || page_write(stream.out, NULL, 0, input, error);
    char *text = textstream_close(&stream);
    if (good) return file_replace_text(path, text, error);
    free(text);
    return false;
}
