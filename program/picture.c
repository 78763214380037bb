/* picture.c -- from the network's maps to a page; see picture.h. */
#include "program/picture.h"

#include "inference/look.h"
#include "plots/attentionpage.h"
#include "plots/png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 3 };

/* The labels of a page; they point into the tokenizer. */
typedef struct Labels {
    const char **source;  // [n]
    const char **target;  // [m] as written
    const char **read;    // [m] what the decoder has read when it writes target[i]
} Labels;

static const char **label_row(const Tokenizer *tokenizer, const int *id, int count, int before)
{
    const char **label = malloc((size_t)count * sizeof *label);
    for (int i = 0; label && i < count; i++)
        label[i] = tokenizer_label(tokenizer, before >= 0 ? (i ? id[i - 1] : before) : id[i]);
    return label;
}

/* A layer's mean map, and how sharply its rows look at one token that is not </s>. */
static double sharpness(float *mean, const Look *look, int layer, int rows, int columns)
{
    double sum = 0;
    look_mean(mean, look, LOOK_CROSS, layer);
    for (int i = 0; i < rows; i++) {
        float largest = 0;
        for (int j = 0; j + 1 < columns; j++)
            if (mean[i * columns + j] > largest) largest = mean[i * columns + j];
        sum += largest;
    }
    return sum / rows;
}

static int sharpest_layer(float *mean, const Look *look, int rows, int columns)
{
    int best = 0;
    double best_sharpness = -1;
    for (int l = 0; l < look_layers(look, LOOK_CROSS); l++) {
        double s = sharpness(mean, look, l, rows, columns);
        if (s > best_sharpness) best_sharpness = s, best = l;
    }
    sharpness(mean, look, best, rows, columns);
    return best;
}

/* The maps of one kind, all layers and heads; numbers behind the last one are `*at`. */
static HeatMap *section_maps(float **at, const Look *look, LookKind kind,
                             const char *const *rows, const char *const *columns)
{
    int layers = look_layers(look, kind), heads = look_heads(look);
    HeatMap *maps = calloc((size_t)(layers * heads), sizeof *maps);
    for (int l = 0; maps && l < layers; l++)
        for (int h = 0; h < heads; h++) {
            AttentionMap map = look_map(look, kind, l, h);
            look_head(*at, look, kind, l, h);
            maps[l * heads + h] = (HeatMap){.weight = *at, .rows = map.rows,
                                            .columns = map.columns, .row_labels = rows,
                                            .column_labels = columns};
            *at += (size_t)map.rows * (size_t)map.columns;
        }
    return maps;
}

static size_t numbers(const Look *look, int n, int m)
{
    size_t N = (size_t)n, M = (size_t)m, H = (size_t)look_heads(look);
    size_t encoder = (size_t)look_layers(look, LOOK_ENCODER);
    size_t decoder = (size_t)look_layers(look, LOOK_DECODER);
    return H * (encoder * N * N + decoder * M * (M + N)) + M * N;
}

static bool save(const char *path, const Vocabulary *vocabulary, const char *name,
                 const HeatMapSection *sections, const int *source, int n, const int *target,
                 int m, Error *error)
{
    char *from = NULL, *to = NULL, title[512];
    Canvas *page = NULL;
    bool good = tokenizer_decode(vocabulary->tokenizer[SOURCE], &from, source, (size_t)n, error) &&
                tokenizer_decode(vocabulary->tokenizer[TARGET], &to, target, (size_t)m, error);
    if (good) {
        snprintf(title, sizeof title, "%.240s → %.240s", from, to);
        good = attentionpage_draw(&page, title, "Who looks at whom: every row adds up to 1",
                                  sections, KINDS, THEME_LIGHT, error);
    }
    const PngText texts[] = {{"Software", "qkv"}, {"Model", name}, {"Source", from ? from : ""},
                             {"Translation", to ? to : ""}};
    good = good && png_save_canvas(path, page, texts, 4, error);
    if (page) canvas_free(page);
    free(from);
    free(to);
    return good;
}

bool picture_attention(const char *path, const Transformer *model,
                       const Vocabulary *vocabulary, const char *name, const int *source, int n,
                       const int *target, int m, Error *error)
{
    int pad = model->config.vocab - 1;
    Look *look = look_open(model, source, n, target, m, error);
    if (!look) return false;
    const Tokenizer *read = vocabulary->tokenizer[SOURCE], *written = vocabulary->tokenizer[TARGET];
    Labels labels = {label_row(read, source, n, -1), label_row(written, target, m, -1),
                     label_row(written, target, m, pad)};
    float *number = malloc(numbers(look, n, m) * sizeof *number), *at = number;
    bool good = number && labels.source && labels.target && labels.read;
    HeatMap *maps[KINDS] = {0};
    if (good) {
        at += (size_t)m * (size_t)n;
        int layer = sharpest_layer(number, look, m, n);
        char large_title[64];
        snprintf(large_title, sizeof large_title, "layer %d · mean of its heads", layer + 1);
        HeatMap large = {number, m, n, labels.target, labels.source, large_title};
        maps[0] = section_maps(&at, look, LOOK_CROSS, labels.target, labels.source);
        maps[1] = section_maps(&at, look, LOOK_ENCODER, labels.source, labels.source);
        maps[2] = section_maps(&at, look, LOOK_DECODER, labels.target, labels.read);
        int encoder = look_layers(look, LOOK_ENCODER), decoder = look_layers(look, LOOK_DECODER);
        int heads = look_heads(look);
        const HeatMapSection sections[KINDS] = {
            {"Encoder-decoder attention",
             "row: the word being written; column: the source word it looks at", maps[0],
             decoder, heads, &large, false},
            {"Encoder self-attention",
             "row: a source word; column: the source word it looks at", maps[1], encoder, heads,
             NULL, false},
            {"Decoder self-attention",
             "row: the word being written; column: a word written before it", maps[2], decoder,
             heads, NULL, true},
        };
        good = maps[0] && maps[1] && maps[2];
        good = good ? save(path, vocabulary, name, sections, source, n, target, m, error)
                    : error_set(error, "not enough memory to draw '%s'", path);
    } else {
        error_set(error, "not enough memory to draw '%s'", path);
    }
    for (int k = 0; k < KINDS; k++) free(maps[k]);
    free(number);
    free(labels.source);
    free(labels.target);
    free(labels.read);
    look_close(look);
    return good;
}

double picture_memory(const ModelConfig *model)
{
    enum { CELL = 13, LARGE_CELL = 22, LABELS = 120 };  // pixels: plots/attentionpage.c
    double grids = model->encoder_layers + 2 * model->decoder_layers;
    double map = CELL * PICTURE_WORDS + LABELS, large = LARGE_CELL * PICTURE_WORDS + LABELS;
    double width = model->heads * map > large ? model->heads * map : large;
    return 4 * width * (grids * map + large);
}
