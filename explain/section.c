/* section.c -- one kind of attention in a picture; see section.h. */
#include "explain/section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a section is of: a map of each kind has its rows and its columns. */
static const char *const KIND_CAPTION[] = {
    [ATTENTION_CROSS] =
        "A row is a word being written, a column a source word: how much the one "
        "looks at the other. A row adds up to 1.",
    [ATTENTION_ENCODER] =
        "A row is a source word, a column the source word it looks at. A row adds "
        "up to 1.",
    [ATTENTION_DECODER] =
        "A row is a word being written, a column a word written before it. A row "
        "adds up to 1."};
static const char *const ROLLOUT_CAPTION[] = {
    [ATTENTION_CROSS] =
        "A row is a word being written: which source words what it is made of came from, "
        "through all layers up to this one. A row adds up to 1.",
    [ATTENTION_ENCODER] =
        "A row is a source word: which source words what it became came from, through "
        "all layers up to this one. A row adds up to 1.",
    [ATTENTION_DECODER] =
        "A row is a word being written: which words before it what it is made of came "
        "from, through all layers up to this one. A row adds up to 1."};

/* ---- what all share ---- */

static bool has_words(const Labels *labels)
{
    int marks = 0;
    for (int i = 0; i < labels->count; i++) marks += labels->mark[i];
    return marks < labels->count;
}

bool drawing_begin(Drawing *d, const Vocabulary *vocabulary, const SentencePair *pair)
{
    const Tokenizer *read = vocabulary->tokenizer[SOURCE],
                    *written = vocabulary->tokenizer[TARGET];
    int n = pair->source_length, m = pair->target_length;
    bool join = d->config.words;
    int heads = snapshot_heads(d->snapshot);
    d->head = calloc((size_t)heads, sizeof *d->head);
    for (int h = 0; d->head && h < heads; h++)
        if (d->choice->head != CHOICE_SOME || (h < CHOICE_HEADS && d->choice->some >> h & 1))
            d->head[d->heads++] = h;
    bool good = (d->head || error_set(d->error, "not enough memory for a picture")) &&
                labels_make(&d->source, read, pair->source, n, false, join, d->error) &&
                labels_make(&d->target, written, pair->target, m, false, join, d->error) &&
                labels_make(&d->read, written, pair->target, m, true, join, d->error);
    d->config.hide_special = d->config.hide_special && good && has_words(&d->source) &&
                             has_words(&d->target) && has_words(&d->read);
    return good;
}

void drawing_hide(Drawing *d)
{
    if (d->config.hide_special)
        labels_hide(&d->source), labels_hide(&d->target), labels_hide(&d->read);
}

void drawing_free(Drawing *d)
{
    labels_free(&d->source);
    labels_free(&d->target);
    labels_free(&d->read);
    free(d->head);
}

/* ---- maps ---- */

static const Labels *rows_of(const Drawing *d, AttentionKind kind)
{
    return kind == ATTENTION_ENCODER ? &d->source : &d->target;
}

static const Labels *columns_of(const Drawing *d, AttentionKind kind)
{
    return kind == ATTENTION_DECODER ? &d->read : &d->source;
}

/* A head's map, or with head < 0 what the choice makes of all; pieces joined if asked for. */
static bool make_map(Map *map, const Drawing *d, AttentionKind kind, int layer, int head)
{
    bool good = d->config.rollout ? map_rollout(map, d->snapshot, kind, layer, d->error)
                : head >= 0       ? map_mean(map, d->snapshot, kind, layer, &head, 1, d->error)
                : head == CHOICE_MAX
                    ? map_max(map, d->snapshot, kind, layer, d->head, d->heads, d->error)
                    : map_mean(map, d->snapshot, kind, layer, d->head, d->heads, d->error);
    if (good && d->config.words)
        map_join(map, rows_of(d, kind)->word, columns_of(d, kind)->word);
    return good;
}

/* How good a map is as the one to show: an alignment of source and target; sharp, where the
 * kind aligns nothing. */
static double quality(const Map *map, const Drawing *d, AttentionKind kind)
{
    return kind == ATTENTION_CROSS
               ? map_alignment(map, rows_of(d, kind)->mark, columns_of(d, kind)->mark)
               : -map_entropy(map);
}

/* The layer, and within the layers that may be shown the head, of the best map: as it is known of
 * the model, else as it is in this pair. */
bool section_find_best(Section *s, const Drawing *d)
{
    double best_layer = -1e9, best_head = -1e9;
    int layers = snapshot_layers(d->snapshot, s->kind);
    int only = d->choice->layer < layers ? d->choice->layer : CHOICE_NONE;
    for (int l = 0; l < layers; l++) {
        if (only >= 0 && l != only) continue;
        for (int h = -1; h < d->heads; h++) {
            Map map;
            int head = h < 0 ? CHOICE_MEAN : d->head[h];
            if (!make_map(&map, d, s->kind, l, head)) return false;
            double q = quality(&map, d, s->kind);
            map_free(&map);
            if (h < 0 && q > best_layer) best_layer = q, s->layer = l;
            if (h >= 0 && q > best_head) best_head = q, s->best_layer = l, s->best_head = head;
        }
    }
    bool known = s->kind == ATTENTION_CROSS && d->choice->known_layer >= 0 &&
                 (only < 0 || only == d->choice->known_layer);
    if (known) s->best_layer = s->layer = d->choice->known_layer;
    if (known) s->best_head = d->choice->known_head;
    return true;
}

/* Which maps there are to draw. */
static bool plan(Section *s, const Drawing *d, AttentionKind kind)
{
    const Choice *choice = d->choice;
    int layers = snapshot_layers(d->snapshot, kind);
    *s = (Section){.kind = kind, .layers = layers, .heads = d->heads};
    if (!section_find_best(s, d)) return false;
    if (kind != ATTENTION_CROSS || d->config.rollout) s->layer = layers - 1;
    if (choice->layer >= 0) s->layer = s->first = choice->layer, s->layers = 1;
    else if (choice->head == CHOICE_BEST) s->layer = s->best_layer;
    if (choice->head >= 0) s->heads = 1;
    if (d->config.rollout) s->heads = 1;
    if (s->layers * s->heads == 1) s->layers = s->heads = 0;
    return true;
}

static int large_head(const Section *s, const Drawing *d)
{
    return d->choice->head == CHOICE_BEST ? s->best_head : d->choice->head;
}

/* The head of a small map. */
static int small_head(const Drawing *d, int h)
{
    return d->choice->head >= 0 ? d->choice->head : d->head[h];
}

static bool make_maps(Section *s, const Drawing *d)
{
    const Labels *rows = rows_of(d, s->kind), *columns = columns_of(d, s->kind);
    size_t count = (size_t)(s->layers * s->heads);
    s->small = calloc(count + 1, sizeof *s->small);
    s->heat = calloc(count + 1, sizeof *s->heat);
    s->note = calloc(count + 1, sizeof *s->note);
    if (!s->small || !s->heat || !s->note)
        return error_set(d->error, "not enough memory for a picture");
    if (!make_map(&s->large, d, s->kind, s->layer, large_head(s, d))) return false;
    s->entropy = map_entropy(&s->large);
    s->share = map_share(&s->large, columns->mark);
    if (d->config.hide_special) map_hide(&s->large, rows->mark, columns->mark);
    for (int l = 0; l < s->layers; l++)
        for (int h = 0; h < s->heads; h++) {
            Map *map = &s->small[l * s->heads + h];
            if (!make_map(map, d, s->kind, s->first + l, small_head(d, h))) return false;
            snprintf(s->note[l * s->heads + h][1], 48, "%.2f bits", map_entropy(map));
            if (d->config.hide_special) map_hide(map, rows->mark, columns->mark);
        }
    return true;
}

bool section_make(Section *s, const Drawing *d, AttentionKind kind)
{
    return plan(s, d, kind) && make_maps(s, d);
}

void section_free(Section *s)
{
    for (int i = 0; s->small && i < s->layers * s->heads; i++) map_free(&s->small[i]);
    map_free(&s->large);
    free(s->small);
    free(s->heat);
    free(s->note);
}

/* ---- words about them ---- */

const char *section_head(char text[SECTION_NOTE], const Section *s, const Drawing *d)
{
    int head = large_head(s, d);
    if (d->config.rollout)
        snprintf(text, SECTION_NOTE, "rollout through %d layers", s->layer + 1);
    else if (head >= 0) snprintf(text, SECTION_NOTE, "head %d", head + 1);
    else if (head == CHOICE_MAX)
        snprintf(text, SECTION_NOTE, "largest of %d heads, made up to 1", d->heads);
    else snprintf(text, SECTION_NOTE, "mean of %d heads", d->heads);
    if (d->config.rollout || head != CHOICE_SOME) return text;
    for (int h = 0; h < d->heads; h++) {
        size_t length = strlen(text);
        snprintf(text + length, SECTION_NOTE - length, "%s%d", h ? ", " : ": ", d->head[h] + 1);
    }
    return text;
}

static void describe(Section *s, const Drawing *d)
{
    char head[SECTION_NOTE];
    const char *mark = s->kind == ATTENTION_DECODER ? "<pad>" : "</s>";
    if (d->config.rollout) section_head(s->title, s, d);
    else
        snprintf(s->title, sizeof s->title, "layer %d · %s", s->layer + 1,
                 section_head(head, s, d));
    snprintf(s->large_note, sizeof s->large_note, "%.2f bits a row", s->entropy);
    if (d->config.hide_special)
        snprintf(s->remark, SECTION_TEXT,
                 "%s is left out; it had %.0f %% of the attention. What remains "
                 "of a row is made up to 1.",
                 mark, 100 * s->share);
    else if (s->kind == ATTENTION_DECODER)
        snprintf(s->remark, SECTION_TEXT,
                 "%s, in grey, stands before the first word and gets %.0f %%: "
                 "where heads look that find nothing. That is normal.",
                 mark, 100 * s->share);
    else
        snprintf(s->remark, SECTION_TEXT,
                 "%s, in grey, gets %.0f %%: where words look that have no "
                 "counterpart. That is normal.",
                 mark, 100 * s->share);
}

static HeatMap heat_of(const Map *map, const Labels *rows, const Labels *columns)
{
    return (HeatMap){.weight = map->at,
                     .rows = map->rows,
                     .columns = map->columns,
                     .row_labels = (const char *const *)rows->text,
                     .row_marks = rows->mark,
                     .column_labels = (const char *const *)columns->text,
                     .column_marks = columns->mark};
}

void section_finish(HeatMapSection *page, Section *s, const Drawing *d)
{
    const Labels *rows = rows_of(d, s->kind), *columns = columns_of(d, s->kind);
    bool framed =
        !d->config.rollout && (s->kind == ATTENTION_CROSS || d->choice->head == CHOICE_BEST);
    describe(s, d);
    s->large_heat = heat_of(&s->large, rows, columns);
    s->large_heat.title = s->title;
    s->large_heat.note = s->large_note;
    for (int i = 0; i < s->layers * s->heads; i++) {
        int layer = s->first + i / s->heads, head = small_head(d, i % s->heads);
        bool best = framed && layer == s->best_layer && head == s->best_head;
        s->heat[i] = heat_of(&s->small[i], rows, columns);
        s->heat[i].row_labels = s->heat[i].column_labels = NULL;
        s->heat[i].outlined = best;
        if (d->config.rollout)
            snprintf(s->note[i][0], SECTION_NOTE, "through layer %d", layer + 1);
        else snprintf(s->note[i][0], SECTION_NOTE, "layer %d · head %d", layer + 1, head + 1);
        if (best)
            strcat(s->note[i][1],
                   s->kind == ATTENTION_CROSS ? " · aligns best" : " · sharpest");
        s->heat[i].title = s->note[i][0];
        s->heat[i].note = s->note[i][1];
    }
    *page = (HeatMapSection){.title = choice_kind_title(s->kind),
                             .caption = d->config.rollout ? ROLLOUT_CAPTION[s->kind]
                                                          : KIND_CAPTION[s->kind],
                             .remark = s->remark,
                             .maps = s->heat,
                             .layers = s->layers,
                             .heads = s->heads,
                             .large = &s->large_heat,
                             .causal = s->kind == ATTENTION_DECODER};
}
