/* picture.c -- attention maps to a file; see picture.h.
 *
 *   snapshot → maps of heads, their means, …  (explain/maps.h) → sections of a page
 *   (plots/attentionpage.h) → PNG, SVG or PDF */
#include "explain/picture.h"

#include "explain/labels.h"
#include "explain/maps.h"
#include "plots/blocks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const PictureConfig picture_default = {.scale = 1, .theme = THEME_LIGHT};

static const char *const THEMES[] = {"light", "dark", NULL};
// clang-format off
const Option picture_options[] = {
    {"rollout", OPTION_FLAG, offsetof(PictureConfig, rollout), 0, 0, NULL, NULL,
     "draw attention rollout: the attention to the source words through all layers up to one", 0},
    {"whole-words", OPTION_FLAG, offsetof(PictureConfig, words), 0, 0, NULL, NULL,
     "join subwords to words: their columns are added, their rows averaged", 0},
    {"hide-special", OPTION_FLAG, offsetof(PictureConfig, hide_special), 0, 0, NULL, NULL,
     "leave out </s> and <pad>; the rest of each row is rescaled to sum to 1", 0},
    {"scale", OPTION_INT, offsetof(PictureConfig, scale), 1, 4, NULL, NULL,
     "N times as many pixels a side; SVG and PDF: N times as large", 0},
    {"theme", OPTION_CHOICE, offsetof(PictureConfig, theme), 0, 0, THEMES, NULL,
     "dark text on white, or light text on black", 0},
};
// clang-format on
const int picture_option_count = sizeof picture_options / sizeof *picture_options;

/* In the order of CanvasFormat. */
static const char *const ENDINGS[] = {".png", ".svg", ".pdf", ".html"};

int picture_format(const char *path, Error *error)
{
    enum { FORMATS = sizeof ENDINGS / sizeof *ENDINGS };
    char known[64] = "";
    for (int f = 0; f < FORMATS; f++) {
        const char *ending = strrchr(path, '.');
        if (ending && ending > path && !strcasecmp(ending, ENDINGS[f])) return f;
        const char *before = f == 0 ? "" : f + 1 < FORMATS ? ", " : " or ";
        strcat(strcat(known, before), ENDINGS[f]);
    }
    error_set(error, "`attention` takes the name of a %s file, not '%s'", known, path);
    return -1;
}

bool picture_page(const char *path, AttentionPage page, const PictureConfig *config,
                  const PngText *texts, int count, Error *error)
{
    Canvas *canvas;
    int format = picture_format(path, error);
    if (format < 0) return false;
    page.theme = (Theme)config->theme;
    page.scale = config->scale;
    page.format = (CanvasFormat)format;
    bool good = attentionpage_draw(&canvas, &page, NULL, error);
    if (good && format == CANVAS_PNG) good = png_save_canvas(path, canvas, texts, count, error);
    else if (good) good = canvas_save_document(path, canvas, page.title, error);
    canvas_free(canvas);
    return good;
}

static const char *const ROW[] = {[ATTENTION_ENCODER] = "source word",
                                  [ATTENTION_DECODER] = "word being generated",
                                  [ATTENTION_CROSS] = "word being generated"};
static const char *const COLUMN[] = {[ATTENTION_ENCODER] = "source word",
                                     [ATTENTION_DECODER] = "word generated before it",
                                     [ATTENTION_CROSS] = "source word"};

enum { KINDS = 3, REMARK = 320, NOTE = 64, LABELLED = 12 };

/* One kind of attention, with all that its HeatMapSection points to. */
typedef struct Section {
    AttentionKind kind;
    const Labels *rows, *columns;
    int first, layers, heads;  // first layer, layers and heads of the small maps
    int layer;                 // of the large map
    int best_layer, best_head;
    bool aligns;        // of cross-attention: whether that head does
    Map large, *small;  // small [layers,heads]
    double share;       // of the special tokens in the large map
    HeatMap large_heat, *heat;
    char (*note)[2][NOTE];  // [layers,heads] title and note
    char title[96], large_note[NOTE], caption[REMARK], remark[REMARK];
} Section;

/* The sections of one snapshot, and what they share. */
typedef struct Drawing {
    const PictureInput *input;
    bool hide;     // special tokens
    bool unknown;  // some token is <unk>
    Labels labels[TOKEN_SIDES];
    int *head;  // [heads] all heads of a layer, or the several that were chosen
    int heads;
    Section section[KINDS];
    int count;         // of the sections
    const char *side;  // "before: ", "after: ", or "" if it is the only one
    char *from, *to;   // the texts of the pair
    Error *error;
} Drawing;

/* ---- what all sections share ---- */

static int count_words(const Labels *labels)
{
    int words = 0;
    for (int i = 0; i < labels->count; i++) words += !labels->special[i];
    return words;
}

/* Special tokens are not hidden where nothing else would be left. drawing_free in any case. */
static bool drawing_begin(Drawing *d)
{
    const PictureInput *in = d->input;
    const Choice *choice = in->choice;
    int heads = in->snapshot->model->config.heads;
    d->head = calloc((size_t)heads, sizeof *d->head);
    if (!d->head) return error_set(d->error, "not enough memory for a picture");
    for (int h = 0; h < heads; h++)
        if (choice->head != CHOICE_SOME || (h < CHOICE_HEADS && choice->some >> h & 1))
            d->head[d->heads++] = h;
    d->hide = in->config.hide_special;
    for (int side = 0; side < TOKEN_SIDES; side++) {
        Labels *labels = &d->labels[side];
        if (!labels_make(labels, in->snapshot, in->vocabulary, (TokenSide)side,
                         in->config.words ? LABELS_WORDS : LABELS_CHARACTERS, d->error))
            return false;
        d->hide = d->hide && count_words(labels) > 0;
        for (int i = 0; i < labels->count; i++) d->unknown |= labels->unknown[i];
    }
    return true;
}

/* ---- maps ---- */

/* The map of one head, or with head < 0 of all heads as the choice combines them. */
static bool make_map(Map *map, const Drawing *d, const Section *s, int layer, int head)
{
    const Snapshot *snapshot = d->input->snapshot;
    const int *heads = head >= 0 ? &head : d->head;
    int count = head >= 0 ? 1 : d->heads;
    bool good = d->input->config.rollout ? map_rollout(map, snapshot, s->kind, layer, d->error)
                                         : map_heads(map, snapshot, s->kind, layer, heads,
                                                     count, head == CHOICE_MAX, d->error);
    if (good) map_join(map, s->rows->word, s->columns->word);
    return good;
}

/* How well a map suits as the one to show. Encoder-decoder attention: how much it is like an
 * alignment; self-attention aligns nothing: how low its entropy is. */
static double quality(const Map *map, const Section *s)
{
    return s->kind == ATTENTION_CROSS
               ? map_alignment(map, s->rows->special, s->columns->special)
               : -map_entropy(map);
}

/* best_layer and best_head (=) those of the best map of section->kind, of the chosen layer or
 * of all: as they are known of the model, else as they are in this pair. aligns (=) whether it
 * is known, or has more than 0.67 + 0.6/n of map_alignment with n source words. Of 200 sentences
 * of the toy, the best head of its trained model has more in each; in none has that of an
 * untrained model, or of one after 60 updates. Sharp but random attention has up to 0.91 with
 * 2 words, 0.86 with 3, and 0.74 with 4. Also sets rows and columns. */
static bool find_best(Section *s, const Drawing *d)
{
    const Choice *choice = d->input->choice;
    s->rows = &d->labels[labels_rows(s->kind)],
    s->columns = &d->labels[labels_columns(s->kind)];
    double best = -1e9, words = count_words(s->columns);
    int layers = snapshot_layers(d->input->snapshot, s->kind);
    int only = choice->layer < layers ? choice->layer : CHOICE_NONE;
    for (int l = 0; l < layers; l++) {
        if (only >= 0 && l != only) continue;
        for (int h = 0; h < d->heads; h++) {
            Map map;
            if (!make_map(&map, d, s, l, d->head[h])) return false;
            double q = quality(&map, s);
            map_free(&map);
            if (q > best) best = q, s->best_layer = l, s->best_head = d->head[h];
        }
    }
    bool known = s->kind == ATTENTION_CROSS && choice->known_layer >= 0 &&
                 (only < 0 || only == choice->known_layer);
    if (known) s->best_layer = choice->known_layer, s->best_head = choice->known_head;
    s->aligns = known || best > 0.67 + 0.6 / words;
    return true;
}

/* The layer of the large map if none was chosen: the same for all sentences of a model. Of
 * cross-attention it is the one known to align best, else the last. Of many layers, the last
 * but one aligns best (Garg et al. 2019, arXiv 1909.02074, §4.1, of six). */
static int default_layer(const Section *s, const Drawing *d, int layers)
{
    bool rollout = d->input->config.rollout, cross = s->kind == ATTENTION_CROSS;
    if (rollout || !cross) return layers - 1;
    if (d->input->choice->known_layer >= 0) return d->input->choice->known_layer;
    return layers > 3 ? layers - 2 : layers - 1;
}

/* Decides which maps are drawn. */
static bool section_plan(Section *s, const Drawing *d)
{
    const Choice *choice = d->input->choice;
    int layers = snapshot_layers(d->input->snapshot, s->kind);
    bool rollout = d->input->config.rollout;
    if (!find_best(s, d)) return false;
    s->layers = layers, s->heads = d->heads;
    s->layer = default_layer(s, d, layers);
    if (choice->layer >= 0) s->layer = s->first = choice->layer, s->layers = 1;
    else if (choice->head == CHOICE_BEST) s->layer = s->best_layer;
    if (choice->head >= 0 || rollout) s->heads = 1;
    if (s->layers * s->heads == 1) s->layers = s->heads = 0;
    return true;
}

static int large_head(const Section *s, const Drawing *d)
{
    return d->input->choice->head == CHOICE_BEST ? s->best_head : d->input->choice->head;
}

static int small_head(const Drawing *d, int h)
{
    return d->input->choice->head >= 0 ? d->input->choice->head : d->head[h];
}

/* Plans the section and makes its maps; section_free in any case. */
static bool section_make(Section *s, const Drawing *d)
{
    if (!section_plan(s, d)) return false;
    const bool *rows = s->rows->special, *columns = s->columns->special;
    int count = s->layers * s->heads;
    s->small = calloc((size_t)count + 1, sizeof *s->small);
    s->heat = calloc((size_t)count + 1, sizeof *s->heat);
    s->note = calloc((size_t)count + 1, sizeof *s->note);
    if (!s->small || !s->heat || !s->note)
        return error_set(d->error, "not enough memory for a picture");
    if (!make_map(&s->large, d, s, s->layer, large_head(s, d))) return false;
    s->share = map_share(&s->large, rows, columns, s->kind == ATTENTION_DECODER);
    if (d->hide) map_hide(&s->large, rows, columns);
    for (int i = 0; i < count; i++) {
        Map *map = &s->small[i];
        if (!make_map(map, d, s, s->first + i / s->heads, small_head(d, i % s->heads)))
            return false;
        if (d->hide) map_hide(map, rows, columns);
        snprintf(s->note[i][1], NOTE, "%.2f bits", map_entropy(map));
    }
    return true;
}

static void section_free(Section *s)
{
    for (int i = 0; s->small && i < s->layers * s->heads; i++) map_free(&s->small[i]);
    map_free(&s->large);
    free(s->small);
    free(s->heat);
    free(s->note);
}

/* ---- titles and notes ---- */

/* "head 2", "mean of 4 heads", …: of the large map. */
static const char *large_name(char text[NOTE], const Section *s, const Drawing *d)
{
    int head = large_head(s, d), length;
    if (d->input->config.rollout)
        snprintf(text, NOTE, "rollout through %d layer%s", s->layer + 1, s->layer ? "s" : "");
    else if (head >= 0) snprintf(text, NOTE, "head %d", head + 1);
    else if (head == CHOICE_MAX)
        snprintf(text, NOTE, "maximum of %d heads, rescaled", d->heads);
    else {
        length = snprintf(text, NOTE, "mean of %d heads", d->heads);
        for (int h = 0; head == CHOICE_SOME && h < d->heads && length < NOTE; h++)
            length += snprintf(text + length, (size_t)(NOTE - length), "%s%d", h ? ", " : ": ",
                               d->head[h] + 1);
    }
    return text;
}

static void describe(Section *s, const Drawing *d)
{
    char name[NOTE];
    bool rollout = d->input->config.rollout;
    large_name(name, s, d);
    if (rollout) snprintf(s->title, sizeof s->title, "%s%s", d->side, name);
    else
        snprintf(s->title, sizeof s->title, "%slayer %d of %d · %s", d->side, s->layer + 1,
                 snapshot_layers(d->input->snapshot, s->kind), name);
    char fixed[NOTE] = "";
    if (s->layers > 1 && !rollout && d->input->choice->head != CHOICE_BEST)
        snprintf(fixed, NOTE, " Large map: layer %d, for every sentence.", s->layer + 1);
    snprintf(
        s->caption, REMARK,
        rollout
            ? "Row: %s. Column: %s. Attention rollout through all layers up to this one; a "
              "row sums to 1.%s"
            : "Row: %s (query). Column: %s (key). The attention weights of a row sum to 1.%s",
        ROW[s->kind], COLUMN[s->kind], fixed);
    snprintf(s->large_note, NOTE, "entropy %.2f bits, mean of the rows",
             map_entropy(&s->large));
    bool decoder = s->kind == ATTENTION_DECODER;
    const char *token = decoder ? "<pad>" : "</s>";
    const char *givers = decoder ? "the words after the first" : "the words";
    if (d->hide)
        snprintf(
            s->remark, REMARK,
            "%s%s is left out; %s gave it %.0f %% of their attention. The other weights of a "
            "row are rescaled to sum to 1, and the entropies are of the rescaled rows.",
            d->side, token, givers, 100 * s->share);
    else
        snprintf(
            s->remark, REMARK,
            "%sThe column of %s, %s, is grey: %s give it %.0f %% of their attention. A head "
            "that finds nothing to attend to puts its weight there.",
            d->side, token,
            decoder ? "the start of the decoder's input" : "the end of the source", givers,
            100 * s->share);
}

static HeatMap heat_of(const Map *map, const Section *s)
{
    return (HeatMap){.weight = map->at,
                     .rows = map->rows,
                     .columns = map->columns,
                     .row_labels = (const char *const *)s->rows->text,
                     .row_special = s->rows->special,
                     .row_unknown = s->rows->unknown,
                     .column_labels = (const char *const *)s->columns->text,
                     .column_special = s->columns->special,
                     .column_unknown = s->columns->unknown};
}

/* What is drawn of a section; it points into the section and the drawing. */
static HeatMapSection section_finish(Section *s, const Drawing *d)
{
    bool rollout = d->input->config.rollout, cross = s->kind == ATTENTION_CROSS;
    bool framed = !rollout && (cross ? s->aligns : d->input->choice->head == CHOICE_BEST);
    bool labelled = s->rows->count <= LABELLED && s->columns->count <= LABELLED;
    describe(s, d);
    bool halved = s->layers == 1 && s->heads > 2 && s->heads % 2 == 0;  // one layer: two rows
    s->large_heat = heat_of(&s->large, s);
    s->large_heat.title = s->title;
    s->large_heat.note = s->large_note;
    for (int i = 0; i < s->layers * s->heads; i++) {
        int layer = s->first + i / s->heads, head = small_head(d, i % s->heads);
        char *title = s->note[i][0], *note = s->note[i][1];
        bool best = framed && layer == s->best_layer && head == s->best_head;
        if (rollout) snprintf(title, NOTE, "through layer %d", layer + 1);
        else snprintf(title, NOTE, "layer %d · head %d", layer + 1, head + 1);
        if (best) strcat(note, cross ? " · aligns best" : " · lowest entropy");
        s->heat[i] = heat_of(&s->small[i], s);
        if (!labelled) s->heat[i].row_labels = s->heat[i].column_labels = NULL;
        s->heat[i].outlined = best;
        s->heat[i].title = title;
        s->heat[i].note = note;
    }
    return (HeatMapSection){.title = choice_kind_titles[s->kind],
                            .caption = s->caption,
                            .remark = s->remark,
                            .maps = s->heat,
                            .layers = halved ? 2 : s->layers,
                            .heads = halved ? s->heads / 2 : s->heads,
                            .large = &s->large_heat,
                            .causal = s->kind == ATTENTION_DECODER};
}

/* ---- the picture ---- */

static void drawing_free(Drawing *d)
{
    for (int k = 0; k < KINDS; k++) section_free(&d->section[k]);
    for (int side = 0; side < TOKEN_SIDES; side++) labels_free(&d->labels[side]);
    free(d->head);
    free(d->from);
    free(d->to);
}

/* Makes the sections; pages (=) what is drawn of them, each `step` after the one before.
 * drawing_free in any case. */
static bool drawing_make(Drawing *d, HeatMapSection *pages, int step)
{
    static const AttentionKind kinds[] = {ATTENTION_CROSS, ATTENTION_ENCODER,
                                          ATTENTION_DECODER};
    const PictureInput *in = d->input;
    d->count = in->choice->all_kinds ? KINDS : 1;
    if (!drawing_begin(d)) return false;
    for (int k = 0; k < d->count; k++) {
        d->section[k].kind = in->choice->all_kinds ? kinds[k] : in->choice->kind;
        if (!section_make(&d->section[k], d)) return false;
    }
    for (int side = 0; d->hide && side < TOKEN_SIDES; side++) labels_hide(&d->labels[side]);
    for (int k = 0; k < d->count; k++) pages[k * step] = section_finish(&d->section[k], d);
    d->from = labels_sentence(in->snapshot, in->vocabulary, SOURCE, d->error);
    d->to = d->from ? labels_sentence(in->snapshot, in->vocabulary, TARGET, d->error) : NULL;
    return d->to;
}

/* Paints the sections of d, or beside those of d[-1], and writes them. */
static bool save(const char *path, const Drawing *d, const HeatMapSection *pages, int sides)
{
    const Section *first = d->section;
    char *title = NULL, subtitle[REMARK], layer[16], head[NOTE], kinds[REMARK] = "";
    if ((sides == 1 ? asprintf(&title, "%s → %s", d->from, d->to)
                    : asprintf(&title, "before: %s → %s · after: %s → %s", d[-1].from, d[-1].to,
                               d->from, d->to)) < 0)
        return error_set(d->error, "not enough memory for a picture");
    snprintf(subtitle, sizeof subtitle, "Attention weights of the %s translation%s",
             d->input->given ? "given" : "model's",
             d->unknown ? ". Underlined: not in this model's vocabulary" : "");
    snprintf(layer, sizeof layer, "%d", first->layer + 1);
    for (int k = 0; k < d->count; k++)
        strcat(strcat(kinds, k ? ", " : ""), pages[k * sides].title);
    const PngText texts[] = {{"Software", "qkv"},
                             {"Model", d->input->model_name},
                             {"Source", d->from},
                             {"Translation", d->to},
                             {"Attention", kinds},
                             {"Layer", layer},
                             {"Head", large_name(head, first, d)},
                             {"Entropy", first->large_note},
                             {"Description", first->caption},
                             {"Comment", first->remark}};
    const AttentionPage page = {.title = title,
                                .subtitle = subtitle,
                                .measure =
                                    d->input->config.rollout ? "attention rollout" : NULL,
                                .missing = d->input->missing,
                                .sections = pages,
                                .count = d->count * sides};
    bool good = picture_page(path, page, &d->input->config, texts, sizeof texts / sizeof *texts,
                             d->error);
    free(title);
    return good;
}

static bool print(FILE *out, const HeatMapSection *pages, int count)
{
    for (int k = 0; k < count; k++) {
        fprintf(out, "\n%s · %s\n", pages[k].title, pages[k].large->title);
        blocks_print(out, pages[k].large, pages[k].causal, blocks_color(out));
    }
    return fputc('\n', out) != EOF;
}

bool picture_save(const char *path, FILE *out, const PictureInput *input, Error *error)
{
    PictureInput before = *input;
    int sides = input->before ? 2 : 1;
    Drawing d[] = {{.input = &before, .side = "before: ", .error = error},
                   {.input = input, .side = sides > 1 ? "after: " : "", .error = error}};
    HeatMapSection pages[2 * KINDS];
    before.snapshot = input->before;
    bool good = (sides == 1 || drawing_make(&d[0], pages, sides)) &&
                drawing_make(&d[1], pages + sides - 1, sides);
    for (int k = 1; sides > 1 && k < 2 * KINDS; k += 2) pages[k].beside = true;
    good = good &&
           (path ? save(path, &d[1], pages, sides) : print(out, pages, d[1].count * sides));
    drawing_free(&d[0]);
    drawing_free(&d[1]);
    return good;
}

bool picture_best(PictureBest *best, const PictureInput *input, Error *error)
{
    PictureInput plain = *input;
    Section section = {.kind = ATTENTION_CROSS};
    Drawing d = {.input = &plain, .error = error, .side = ""};
    plain.config = picture_default;
    bool good = drawing_begin(&d) && find_best(&section, &d);
    AttentionKind kind = input->choice->kind;
    *best = (PictureBest){
        section.best_layer, section.best_head, section.aligns,
        default_layer(&(Section){.kind = kind}, &d, snapshot_layers(input->snapshot, kind))};
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
