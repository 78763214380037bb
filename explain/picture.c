/* picture.c -- attention maps to a file; see picture.h.
 *
 *   snapshot → maps of heads, their means, …  (explain/maps.h) → sections of a page
 *   (plots/attentionpage.h) → PNG, SVG or PDF */
#include "explain/picture.h"

#include "data/words.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "plots/blocks.h"

#include <strings.h>

int picture_format(const char *path, Error *error)
{
    static const char *const endings[] = {".png", ".svg", ".pdf", ".html"};  // as CanvasFormat
    const char *ending = strrchr(path, '.');
    for (int f = 0; ending && ending > path && f <= PICTURE_HTML; f++)
        if (!strcasecmp(ending, endings[f])) return f;
    error_set(error, "`attention` takes the name of a .png, .svg, .pdf or .html file, not '%s'",
              path);
    return -1;
}

bool picture_page(const char *path, AttentionPage page, const PngText *texts, Error *error)
{
    Canvas *canvas;
    PagePlan plan;
    int format = picture_format(path, error);
    if (format < 0) return false;
    page.format = (CanvasFormat)format;
    bool good = attentionpage_draw(&canvas, &plan, &page, error);
    if (good && format == CANVAS_PNG) good = png_save_canvas(path, canvas, texts, error);
    else if (good) good = canvas_save_document(path, canvas, page.title, error);
    canvas_free(canvas);
    return good;
}

enum { KINDS = 3, REMARK = 320, TITLE = 96, NOTE = 64, LABELLED = 12 };

typedef struct Panel {
    Map map;
    char title[TITLE], note[TITLE];
} Panel;

/* One kind of attention, with all that its HeatMapSection points to: a large map, and small ones
 * of `layers` layers from `first` on. */
typedef struct Section {
    AttentionKind kind;
    const Labels *row, *column;
    int layer, first, layers, heads;
    Panel *panel;     // [1+layers·heads] the large one, the small ones
    HeatMap *heat;    // as panel
    char name[NOTE];  // of the heads of the large map
    char caption[REMARK], remark[REMARK];
} Section;

/* The sections of one snapshot, and what they share. */
typedef struct Drawing {
    const PictureInput *input;
    const char *path;  // NULL: text
    double cells;      // of all maps so far
    Labels labels[TOKEN_SIDES];
    int heads;  // of a layer
    Section section[KINDS];
    HeatMapSection page[KINDS];  // what is drawn of them
    int count;                   // of the sections
    Error *error;
} Drawing;

/* ---- which maps ---- */

/* The map of a choice, of words. */
static bool make_map(Map *map, const Drawing *d, AttentionKind kind, int layer, int head)
{
    return map_chosen(map, d->input->snapshot, kind, layer, head,
                      d->labels[labels_rows(kind)].word, d->labels[labels_columns(kind)].word,
                      d->error);
}

/* layer and head (=) those of the best map of a kind, of the chosen layer or of all: as they are
 * known of the model, else as they are in this pair. The best map of encoder-decoder attention agrees
 * best with the alignment by all layers (maps_agree); self-attention aligns nothing: its best map has the
 * lowest entropy. aligns (=) whether it is known, or has more than 0.67 + 0.6/n of map_alignment with n
 * source words. Of 200 sentences of the toy, the sharpest head of its trained model has more in each; in
 * none has that of an untrained model, or of one after 60 updates. Sharp but random attention has up to
 * 0.91 with 2 words, 0.86 with 3, and 0.74 with 4. */
static bool find_best(PictureBest *best, const Drawing *d, AttentionKind kind)
{
    const Choice *choice = d->input->choice;
    const Labels *rows = &d->labels[labels_rows(kind)],
                 *columns = &d->labels[labels_columns(kind)];
    bool cross = kind == ATTENTION_CROSS;
    int layers = snapshot_layers(d->input->snapshot, kind), words = 0;
    int only = choice->layer < layers ? choice->layer : CHOICE_NONE;
    static const double TIE = 0.01;  // of two that agree as often, the sharper one is better
    if (cross && choice->known_layer >= 0 && (only < 0 || only == choice->known_layer)) {
        best->layer = choice->known_layer, best->head = choice->known_head;
        return best->aligns = true;
    }
    double most = -1e9, *agree = calloc((size_t)(layers * d->heads) + 1, sizeof *agree);
    bool good = agree || error_memory(d->error, "to compare heads");
    good = good && (!cross || maps_agree(agree, d->input->snapshot, d->error));
    for (int i = 0; i < columns->count; i++) words += !columns->special[i];
    for (int i = 0; good && i < layers * d->heads; i++) {
        int layer = i / d->heads, head = i % d->heads;
        Map map;
        if (only >= 0 && layer != only) continue;
        if (!(good = make_map(&map, d, kind, layer, head))) break;
        double sharp = map_alignment(&map, rows->special, columns->special);
        double quality = cross ? agree[i] + TIE * sharp : -map_entropy(&map);
        map_free(&map);
        if (quality <= most) continue;
        most = quality, best->layer = layer, best->head = head;
        best->aligns = sharp > 0.67 + 0.6 / words;
    }
    free(agree);
    return good;
}

/* The layer of the large map if none was chosen: the same for all sentences of a model. Of
 * cross-attention it is the one known to align best, else the last. Of many layers, the last
 * but one aligns best (Garg et al. 2019, arXiv 1909.02074, §4.1, of six). */
static int default_layer(const PictureInput *in, AttentionKind kind)
{
    int layers = snapshot_layers(in->snapshot, kind);
    if (kind != ATTENTION_CROSS) return layers - 1;
    if (in->choice->known_layer >= 0) return in->choice->known_layer;
    return layers > 3 ? layers - 2 : layers - 1;
}

/* ---- titles and notes ---- */

/* Whether the probabilities of the words stand beside the large map: where they are known, once. */
static bool has_numbers(const Section *s, const Drawing *d)
{
    return d->input->snapshot->each && s->kind == ATTENTION_CROSS;
}

/* Of the large map. share: of its special tokens; NaN: no word can give them one; -1: they are not shown */
static void describe(Section *s, const Drawing *d, int head, double share)
{
    bool decoder = s->kind == ATTENTION_DECODER;
    const char *token = decoder ? "<pad>" : "</s>";
    const char *givers = decoder ? "the words after the first" : "the words";
    char fixed[NOTE] = "", cut[NOTE] = "";
    if (head == CHOICE_ROLLOUT) snprintf(s->name, NOTE, "rollout up to this layer");
    else if (head >= 0 || d->heads == 1)
        snprintf(s->name, NOTE, "head %d", head >= 0 ? head + 1 : 1);
    else
        snprintf(s->name, NOTE, "%s of %d heads",
                 head == CHOICE_MAX ? "largest weights" : "mean", d->heads);
    snprintf(s->panel->title, TITLE, "layer %d of %d · %s", s->layer + 1,
             snapshot_layers(d->input->snapshot, s->kind), s->name);
    if (s->layers > 1 && d->input->choice->head != CHOICE_BEST)
        snprintf(fixed, sizeof fixed, " The large map is of layer %d for every sentence.",
                 s->layer + 1);
    if (d->input->choice->first_word)
        snprintf(cut, sizeof cut, ", but only words %d to %d are shown",
                 d->input->choice->first_word, d->input->choice->last_word);
    snprintf(s->caption, REMARK, "Row: %s (query)%s. Column: %s (key). %s%s.%s",
             s->kind == ATTENTION_ENCODER ? "source word" : "word being generated",
             has_numbers(s, d) ? ", with its probability" : "",
             decoder ? "word generated before it" : "source word",
             head == CHOICE_MAX       ? "Each weight is the largest of the heads"
             : head == CHOICE_ROLLOUT ? "How much of each word's embedding a row has, if a "
                                        "layer mixes by its heads' mean and keeps half"
                                      : "The attention weights of a row sum to 1",
             cut, fixed);
    if (share < 0) return;
    int end = snprintf(s->remark, REMARK, "The column of %s, %s, is grey", token,
                       decoder ? "the start of the decoder's input" : "the end of the source");
    if (head <= CHOICE_MAX || isnan(share)) strcat(s->remark, ".");
    else
        snprintf(s->remark + end, (size_t)(REMARK - end),
                 ": %s give it %.0f %% of their attention. A head that finds nothing to attend "
                 "to puts its weight there.",
                 givers, 100 * share);
}

/* ---- the maps ---- */

/* How many labels of one side are shown, from `first` (=) on; below 1 if there is none. The first word
 * that the decoder reads is its second label, after <pad>. */
static int count_shown(int *first, const Choice *choice, const Labels *labels)
{
    int before = !labels->sentence - 1, last = choice->last_word + before + 1;
    *first = choice->first_word ? choice->first_word + before : 0;
    return (choice->first_word && last < labels->count ? last : labels->count) - *first;
}

/* Makes map i of a section, the large one (0) or a small one, and what is drawn of it. */
static bool section_map(Section *s, const Drawing *d, const PictureBest *best, int i)
{
    const Choice *choice = d->input->choice;
    const Labels *row = s->row, *column = s->column;
    int first, left, rows = count_shown(&first, choice, row),
                     columns = count_shown(&left, choice, column);
    bool cross = s->kind == ATTENTION_CROSS, bare = choice->bare;
    int chosen = choice->head, layer = s->layer,
        head = chosen == CHOICE_BEST ? best->head : chosen;
    Panel *panel = &s->panel[i];
    Map *map = &panel->map;
    if (i > 0) layer = s->first + (i - 1) / s->heads;
    if (i > 0 && chosen < 0) head = (i - 1) % s->heads;
    bool framed = i > 0 && (cross ? best->aligns : chosen == CHOICE_BEST) &&
                  layer == best->layer && head == best->head;
    if (!make_map(map, d, s->kind, layer, head)) return false;
    map_crop(map, first, rows, 0, map->columns);  // the measures are of the rows that are shown
    bool causal = s->kind == ATTENTION_DECODER;
    bool greys = column->special[left] || column->special[left + columns - 1];
    if (i == 0)
        describe(s, d, head,
                 greys ? map_share(map, row->special + first, column->special, causal && !first)
                       : -1);
    else snprintf(panel->title, TITLE, "layer %d · head %d", layer + 1, head + 1);
    if (i || head != CHOICE_MAX)
        snprintf(panel->note, TITLE,
                 i ? "%.2f bits%s" : "entropy %.2f bits, mean of the rows%s", map_entropy(map),
                 !framed ? ""
                 : cross ? " · aligns best"
                         : " · lowest entropy");
    map_crop(map, 0, rows, left, columns);
    bool labelled = i == 0 || (map->rows <= LABELLED && map->columns <= LABELLED);
    bool numbers = i == 0 && has_numbers(s, d) && !bare;
    s->heat[i] =
        (HeatMap){.weight = map->at,
                  .rows = map->rows,
                  .columns = map->columns,
                  .row_labels = labelled ? (const char *const *)row->text + first : NULL,
                  .row_special = row->special + first,
                  .row_unknown = row->unknown + first,
                  .row_numbers = numbers ? row->probability + first : NULL,
                  .column_labels = labelled ? (const char *const *)column->text + left : NULL,
                  .column_special = column->special + left,
                  .column_unknown = column->unknown + left,
                  .title = bare ? NULL : panel->title,
                  .note = bare ? NULL : panel->note,
                  .outlined = framed,
                  .causal = causal + left - first};
    return true;
}

/* Whether the cells are not too many, with those of `maps` further maps. */
static bool cells_fit(Drawing *d, const Section *s, int maps)
{
    bool pixels = !d->path || picture_format(d->path, d->error) == CANVAS_PNG;
    d->cells += (double)maps * s->row->count * s->column->count;
    return d->cells <= (pixels ? CANVAS_MAX_PIXELS : PICTURE_CELLS) ||
           error_set(d->error, "the attention maps have %.0f cells, too many for %s", d->cells,
                     pixels ? "a picture: choose fewer layers or heads, or a shorter sentence"
                            : "an .svg or .pdf file: give `attention` the name of a .png file");
}

static bool section_make(Drawing *d, int k)
{
    const Choice *choice = d->input->choice;
    Section *s = &d->section[k];
    PictureBest best = {0};
    s->row = &d->labels[labels_rows(s->kind)], s->column = &d->labels[labels_columns(s->kind)];
    for (int i = 0; i < 2; i++) {
        const Labels *labels = i ? s->column : s->row;
        int first, words = labels->count - 1;  // without </s> or <pad>
        if (count_shown(&first, choice, labels) < 1)
            return error_set(d->error, "`words` %d-%d: a sentence has only %d word%s",
                             choice->first_word, choice->last_word, words,
                             words == 1 ? "" : "s");
    }
    if (!find_best(&best, d, s->kind)) return false;
    s->layers = snapshot_layers(d->input->snapshot, s->kind), s->heads = d->heads;
    s->layer = default_layer(d->input, s->kind);
    if (choice->layer >= 0) s->layer = s->first = choice->layer, s->layers = 1;
    else if (choice->head == CHOICE_BEST) s->layer = best.layer;
    if (choice->head >= 0) s->heads = 1;
    if (s->layers * s->heads == 1 || !d->path || choice->bare)
        s->layers = s->heads = 0;  // no small maps
    int count = 1 + s->layers * s->heads;
    if (!cells_fit(d, s, count)) return false;
    s->panel = calloc((size_t)count, sizeof *s->panel);
    s->heat = calloc((size_t)count, sizeof *s->heat);
    if (!s->panel || !s->heat) return error_memory(d->error, "for a picture");
    for (int i = 0; i < count; i++)
        if (!section_map(s, d, &best, i)) return false;
    bool halved = s->layers == 1 && s->heads > 2 && s->heads % 2 == 0;  // one layer: two rows
    d->page[k] = (HeatMapSection){.title = choice_kind_titles[s->kind],
                                  .caption = s->caption,
                                  .remark = *s->remark ? s->remark : NULL,
                                  .maps = s->heat + 1,
                                  .layers = halved ? 2 : s->layers,
                                  .heads = halved ? s->heads / 2 : s->heads,
                                  .large = s->heat};
    return true;
}

/* ---- the picture ---- */

/* drawing_free in any case. */
static bool drawing_begin(Drawing *d, const PictureInput *in, Error *error)
{
    *d = (Drawing){.input = in, .heads = in->snapshot->model->config.heads, .error = error};
    return labels_make(d->labels, in->snapshot, in->vocabulary,
                       in->words ? LABELS_WORDS : LABELS_CHARACTERS, error);
}

static void drawing_free(Drawing *d)
{
    for (int k = 0; k < d->count; k++) {
        Section *s = &d->section[k];
        for (int i = 0; s->panel && i <= s->layers * s->heads; i++) map_free(&s->panel[i].map);
        free(s->panel);
        free(s->heat);
    }
    labels_free(d->labels);
}

/* low, high (=) the weights of the first and the last colour. Those of a long sentence are small: the
 * last colour is then that of the largest weight of the large maps, but for the special tokens, rounded
 * up. */
static void choose_colors(float *low, float *high, const Drawing *d)
{
    enum { LONG = 25 };
    static const float steps[] = {0.02f, 0.04f, 0.06f, 0.1f, 0.2f, 0.4f, 0.6f, 0.8f};
    const Choice *choice = d->input->choice;
    bool follow = choice->follow;
    float most = 0;
    *low = choice->low, *high = choice->high;
    for (int k = 0; k < d->count; k++) {
        const Section *s = &d->section[k];
        const HeatMap *large = s->heat;
        follow |= s->row->count > LONG || s->column->count > LONG;
        for (int i = 0; i < large->rows * large->columns; i++)
            if (!large->column_special[i % large->columns] && large->weight[i] > most)
                most = large->weight[i];
    }
    if (*high > *low || !follow) return;
    *high = 1;
    for (int k = sizeof steps / sizeof *steps - 1; k >= 0 && most <= steps[k]; k--)
        *high = steps[k];
}

/* "source → target", for free(). U+2067 and U+2069 around a text from right to left keep the order of its
 * words and marks, and U+200E before them that of the two texts. */
static char *title_of(const char *source, const char *target)
{
    bool from = words_right_to_left(source), to = words_right_to_left(target);
    char *title;
    int length =
        asprintf(&title, "%s%s%s%s → %s%s%s", from || to ? "\u200E" : "", from ? "\u2067" : "",
                 source, from ? "\u2069" : "", to ? "\u2067" : "", target, to ? "\u2069" : "");
    return length < 0 ? NULL : title;
}

static bool save(Drawing *d)
{
    const PictureInput *in = d->input;
    const Section *first = d->section;
    bool unknown = false;
    float low, high;
    choose_colors(&low, &high, d);
    for (const Labels *l = d->labels; l < d->labels + TOKEN_SIDES; l++)
        for (int i = 0; i < l->count; i++) unknown |= l->unknown[i];
    char subtitle[REMARK], layer[16], kinds[REMARK] = "";
    const char *source = d->labels[TOKENS_SOURCE].sentence,
               *target = d->labels[TOKENS_TARGET].sentence;
    char *title = title_of(source, target);
    if (!title) return error_memory(d->error, "for a picture");
    snprintf(subtitle, sizeof subtitle, "Attention weights of the %s translation%s",
             in->given ? "given" : "model's",
             unknown ? ". Underlined: not in this model's vocabulary" : "");
    snprintf(layer, sizeof layer, "%d", first->layer + 1);
    for (int k = 0; k < d->count; k++) strcat(strcat(kinds, k ? ", " : ""), d->page[k].title);
    const PngText texts[] = {{"Software", "qkv"},
                             {"Model", in->model_name},
                             {"Source", source},
                             {"Translation", target},
                             {"Attention", kinds},
                             {"Layer", layer},
                             {"Head", first->name},
                             {"Entropy", first->panel->note},
                             {"Description", first->caption},
                             {"Comment", first->remark},
                             {0}};
    const AttentionPage page = {.title = title,
                                .subtitle = subtitle,
                                .missing = in->missing,
                                .sections = d->page,
                                .count = d->count,
                                .bare = in->choice->bare,
                                .low = low,
                                .high = high,
                                .font = in->choice->font};
    bool good = picture_page(d->path, page, texts, d->error);
    free(title);
    return good;
}

bool picture_save(const char *path, FILE *out, const PictureInput *input, Error *error)
{
    static const AttentionKind kinds[KINDS] = {ATTENTION_CROSS, ATTENTION_ENCODER,
                                               ATTENTION_DECODER};
    const Choice *choice = input->choice;
    Drawing d;
    bool good = drawing_begin(&d, input, error);
    d.path = path, d.count = choice->all_kinds ? KINDS : 1;
    for (int k = 0; good && k < d.count; k++) {
        d.section[k].kind = choice->all_kinds ? kinds[k] : choice->kind;
        good = section_make(&d, k);
    }
    for (int k = 0; good && !path && k < d.count; k++) {
        fprintf(out, "\n%s · %s\n", d.page[k].title, d.page[k].large->title);
        blocks_print(out, d.page[k].large, blocks_colored(out));
    }
    good = good && (path ? save(&d) : fputc('\n', out) != EOF);
    drawing_free(&d);
    return good;
}

bool picture_best(PictureBest *best, const PictureInput *input, AttentionKind kind,
                  Error *error)
{
    Drawing d;
    *best = (PictureBest){.shown = default_layer(input, kind)};
    bool good = drawing_begin(&d, input, error) && find_best(best, &d, kind);
    drawing_free(&d);
    return good;
}

float picture_high(const PictureInput *input, AttentionKind kind)
{
    Choice choice = choice_default;
    PictureInput own = *input;
    Error error;
    Drawing d;
    float low, high = 1;
    choice.known_layer = input->choice->known_layer;
    own.choice = &choice;
    bool good = drawing_begin(&d, &own, &error);
    d.section[0].kind = kind, d.count = 1;
    if (good && section_make(&d, 0)) choose_colors(&low, &high, &d);
    drawing_free(&d);
    return high > 0 ? high : 1;
}
