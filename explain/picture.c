/* picture.c -- sections (explain/section.h) to a page to a PNG; see picture.h. */
#include "explain/picture.h"

#include "explain/section.h"
#include "plots/png.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const PictureConfig picture_default = {.scale = 1, .theme = THEME_LIGHT};

static const char *const THEMES[] = {"light", "dark", NULL};
// clang-format off
const Option picture_options[] = {
    {"rollout", OPTION_FLAG, offsetof(PictureConfig, rollout), 0, 0, NULL, NULL,
     "draw what came from which word through all layers, not what one layer looked at", true},
    {"words", OPTION_FLAG, offsetof(PictureConfig, words), 0, 0, NULL, NULL,
     "join pieces to words: their columns added, their rows averaged", true},
    {"hide-special", OPTION_FLAG, offsetof(PictureConfig, hide_special), 0, 0, NULL, NULL,
     "leave out </s> and <pad>; what remains of a row is made up to 1", true},
    {"scale", OPTION_INT, offsetof(PictureConfig, scale), 1, 4, NULL, NULL,
     "draw so many times as large", true},
    {"theme", OPTION_CHOICE, offsetof(PictureConfig, theme), 0, 0, THEMES, NULL,
     "dark letters on white, or light ones on black", true},
};
// clang-format on
const int picture_option_count = sizeof picture_options / sizeof *picture_options;

enum { KINDS = 3 };

static bool save(const char *path, const Drawing *d, const Vocabulary *vocabulary,
                 const char *name, const SentencePair *pair, const Section *first,
                 const HeatMapSection *pages, int count, Error *error)
{
    char *from = NULL, *to = NULL, title[1024], layer[16];
    char head[SECTION_NOTE], kinds[SECTION_TEXT] = "";
    Canvas *page = NULL;
    bool good = tokenizer_decode(vocabulary->tokenizer[SOURCE], &from, pair->source,
                                 (size_t)pair->source_length, error) &&
                tokenizer_decode(vocabulary->tokenizer[TARGET], &to, pair->target,
                                 (size_t)pair->target_length, error);
    if (good) {
        snprintf(title, sizeof title, "%.480s → %.480s", from, to);
        good =
            attentionpage_draw(&page, title,
                               pair->given ? "What looked at what, with the translation given"
                                           : "What looked at what while it translated",
                               pages, count, (Theme)d->config.theme, d->config.scale, error);
    }
    snprintf(layer, sizeof layer, "%d", first->layer + 1);
    for (int k = 0; k < count; k++)
        snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", k ? ", " : "",
                 pages[k].title);
    const PngText texts[] = {{"Software", "qkv"},
                             {"Model", name},
                             {"Source", from ? from : ""},
                             {"Translation", to ? to : ""},
                             {"Attention", kinds},
                             {"Layer", layer},
                             {"Head", section_head(head, first, d)}};
    good = good && png_save_canvas(path, page, texts, sizeof texts / sizeof *texts, error);
    if (page) canvas_free(page);
    free(from);
    free(to);
    return good;
}

bool picture_attention(const char *path, const Transformer *model, const Vocabulary *vocabulary,
                       const char *name, const SentencePair *pair, const Choice *choice,
                       const PictureConfig *config, Error *error)
{
    static const AttentionKind order[KINDS] = {ATTENTION_CROSS, ATTENTION_ENCODER,
                                               ATTENTION_DECODER};
    Snapshot *snapshot = snapshot_open(model, pair->source, pair->source_length, pair->target,
                                       pair->target_length, error);
    if (!snapshot) return false;
    Drawing d = {.snapshot = snapshot, .choice = choice, .config = *config, .error = error};
    Section sections[KINDS] = {0};
    HeatMapSection pages[KINDS];
    int count = choice->all_kinds ? KINDS : 1;
    bool good = drawing_begin(&d, vocabulary, pair);
    for (int k = 0; k < count && good; k++)
        good = section_make(&sections[k], &d, choice->all_kinds ? order[k] : choice->kind);
    if (good) drawing_hide(&d);
    for (int k = 0; k < count && good; k++) section_finish(&pages[k], &sections[k], &d);
    good = good && save(path, &d, vocabulary, name, pair, sections, pages, count, error);
    for (int k = 0; k < count; k++) section_free(&sections[k]);
    drawing_free(&d);
    snapshot_close(snapshot);
    return good;
}

bool picture_best(int *layer, int *head, const Snapshot *snapshot, const SentencePair *pair,
                  const Vocabulary *vocabulary, const Choice *choice, Error *error)
{
    Section section = {.kind = ATTENTION_CROSS};
    Drawing d = {
        .snapshot = snapshot, .choice = choice, .config = picture_default, .error = error};
    bool good = drawing_begin(&d, vocabulary, pair) && section_find_best(&section, &d);
    *layer = section.best_layer;
    *head = section.best_head;
    drawing_free(&d);
    return good;
}

double picture_memory(const ModelConfig *model)
{
    enum { AROUND = 300 };  // pixels
    double strip = PAGE_SMALL * model->decoder_layers;
    return 4.0 * (PAGE_LARGE + AROUND + PAGE_SMALL * model->heads) *
           (AROUND + (strip > PAGE_LARGE ? strip : PAGE_LARGE));
}
