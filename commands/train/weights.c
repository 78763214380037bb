/* weights.c -- weights.png: how W_Q, W_K and W_V of the last decoder layer's
 * encoder-decoder attention are trained.
 *
 *   weights.tsv   what the matrices do to frequent words (explain/projections.h), recorded
 *                 after updates 0, 10, 20, 40, …, since most changes come early. The first line
 *                 has the layer and the words; the others the update, the loss of the sentences
 *                 and three maps of 16 x 16 numbers; nan: no sentence pair has both words
 *   weights.png   the first frame, the end of the training, and two frames in between
 *
 * Recording does not affect the training. A resumed run drops the frames that are later than
 * its checkpoint, and those of other words. Nothing is recorded or drawn if
 * the validation text has no words. */
#include "commands/train/pictures.h"

#include "base/file.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "explain/projections.h"
#include "plots/heatmap.h"
#include "plots/png.h"

enum { MOST_BYTES = 1 << 28, COLUMNS = 4, WORDS = PROJECTION_WORDS };
enum { NUMBERS = PROJECTION_NUMBERS };
enum { MARGIN = 32, TITLE = 78, HEAD = 66, CELL = 16, GAP = 22, BAR = 180 };

enum { WEIGHTS_FRAMES = 40 };  // enough for 10 · 2³⁷ updates

typedef struct WeightsFrame {
    long long update;
    Projections at;
} WeightsFrame;

static struct WeightsHistory {
    char path[PATH_MAX];  // of weights.tsv
    FrequentWords words;
    WeightsFrame frame[WEIGHTS_FRAMES];  // [count]
    int count;
} state, *const history = &state;

static const char *const captions[PROJECTION_MAPS][2] = {
    {"W_Q and W_K: attention weights if all of these words were in the sentence",
     "softmax of the scores. A query is made before its word is known, so it matches the keys "
     "of all words of a kind."},
    {"W_Q and W_K: attention weights in the sentences of the validation set",
     "A sentence has few words of a kind, so the weight falls on the one to translate. Blank: "
     "no sentence has both words."},
    {"W_V: the translation that the value of each source word makes likely",
     "softmax of the logits e·W_O v over the target words. On the diagonal, the value of a "
     "word carries its translation."}};

static const char *label_of(const Run *run, int side, int i)
{
    return tokenizer_shown(run->vocabulary.tokenizer[side], history->words.id[side][i]);
}

/* ---- weights.tsv ---- */

/* The whole file, for free(). NULL: not enough memory. */
static char *to_text(const Run *run)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    if (!out) return NULL;
    fprintf(out, "decoder layer %d", run->model.config.decoder_layers);
    for (int i = 0; i < history->words.count; i++)
        for (int side = SOURCE; side < SIDES; side++)
            fputc(side == SOURCE ? '\t' : ' ', out),
                utf8_put(out, label_of(run, side, i), UTF8_CELL_ENDS);
    for (const WeightsFrame *f = history->frame; f < history->frame + history->count; f++) {
        fprintf(out, "\n%lld", f->update);
        for (int k = 0; k < NUMBERS; k++) fprintf(out, "\t%.3f", f->at.number[k]);
    }
    fputc('\n', out);
    return textstream_close(&stream);
}

static bool is_due(long long update)
{
    long long due = 10;
    while (due < update) due *= 2;
    return update == 0 || update == due;
}

/* history (=) the frames of an interrupted run up to its checkpoint, if the file's first line
 * is that of this run */
static bool read_frames(const Run *run, Error *error)
{
    char *text = file_read_or_empty(history->path, MOST_BYTES, NULL, error);
    char *head = to_text(run);
    bool good = text;
    size_t skip = head ? strlen(head) : 0;
    char *at = text && head && !strncmp(text, head, skip) ? text + skip : "", *end;
    while (history->count + 2 < WEIGHTS_FRAMES) {
        WeightsFrame *frame = &history->frame[history->count];
        frame->update = strtoll(at, &end, 10);
        for (int k = 0; k < NUMBERS; k++) frame->at.number[k] = strtod(end, &end);
        if (end == at || frame->update > run->progress.update || !is_due(frame->update) ||
            (history->count && frame->update <= frame[-1].update))
            break;
        at = end;
        history->count++;
    }
    free(head);
    free(text);
    return good;
}

static bool weights_open(Run *run, Error *error)
{
    history->count = 0;
    projections_words(&history->words, &run->valid, &run->vocabulary);
    run_file(history->path, run, "weights.tsv");
    return run->progress.update == 0 || read_frames(run, error);
}

/* ---- recording ---- */

/* Numbers are rounded as in the file, so that a resumed run draws the same picture. */
static bool add_frame(const Run *run, Error *error)
{
    WeightsFrame *frame = &history->frame[history->count];
    *frame = (WeightsFrame){.update = run->progress.update};
    bool good = projections_find(&frame->at, &history->words, &run->model,
                                 run->model.config.decoder_layers - 1, &run->valid, error);
    for (int k = 0; k < NUMBERS; k++)
        frame->at.number[k] =
            isnan(frame->at.number[k]) ? NAN : round(frame->at.number[k] * 1000) / 1000;
    history->count += good;
    return good;
}

static bool weights_save(Run *run, Error *error)
{
    return !history->words.count || run_replace_text(run, history->path, to_text(run), error);
}

static bool weights_record(Run *run, double loss, bool validates, Error *error)
{
    (void)loss, (void)validates;
    if (!is_due(run->progress.update) || !history->words.count) return true;
    return add_frame(run, error) && weights_save(run, error);
}

/* ---- weights.png ---- */

/* chosen (=) the first frame, the first ones that have come half of the way and five sixths of
 * the way from its loss to that of the last, and the last. Returns their number. */
static int choose_frames(const WeightsFrame *chosen[COLUMNS])
{
    const WeightsFrame *first = history->frame, *last = first + history->count - 1;
    int count = 0;
    chosen[count++] = first;
    for (int part = 2; part <= 6; part += 4) {
        double limit = last->at.loss + (first->at.loss - last->at.loss) / part;
        const WeightsFrame *next = chosen[count - 1] + 1;
        while (next < last && next->at.loss > limit) next++;
        if (next < last) chosen[count++] = next;
    }
    if (last > first) chosen[count++] = last;
    return count;
}

/* Words that the scores treat alike become neighbours: each is followed by the remaining one
 * whose row and column are the nearest. */
static void order_words(int *order, const double *scores, int n)
{
    bool used[WORDS] = {false};
    for (int k = 0, last = 0; k < n; k++) {
        int nearest = 0;
        double least = INFINITY;
        for (int j = 0; j < n; j++) {
            double square = 0;
            for (int i = 0; i < n; i++)
                square += pow(scores[i * n + j] - scores[i * n + last], 2) +
                          pow(scores[j * n + i] - scores[last * n + i], 2);
            if (!used[j] && square < least) least = square, nearest = j;
        }
        used[nearest] = true;
        order[k] = last = nearest;
    }
}

/* Draws map m of a frame with its labels, those of the rows only in the first column. Returns
 * its layout, which is all that it does before canvas_reserve. */
static HeatMapPlan draw_map(Canvas *canvas, int x, int y, const Run *run,
                            const WeightsFrame *frame, int m, const int *order, bool first)
{
    int n = history->words.count;
    float weight[WORDS * WORDS];
    const char *label[SIDES][WORDS];
    for (int i = 0; i < n; i++) {
        for (int s = 0; s < SIDES; s++) label[s][i] = label_of(run, s, order[i]);
        for (int j = 0; j < n; j++)
            weight[i * n + j] = (float)frame->at.map[m][order[i] * n + order[j]];
    }
    char head[64];
    const HeatMap map = {.weight = weight,
                         .rows = n,
                         .columns = n,
                         .row_labels = first ? label[TARGET] : NULL,
                         .column_labels = label[SOURCE],
                         .absent = true};
    HeatMapPlan plan = heatmap_plan(canvas, &map, CELL);
    plan.x = x, plan.y = y + HEAD;
    if (!canvas->cairo) return plan;
    snprintf(head, sizeof head, "update %lld · loss %.2f on validation text", frame->update,
             frame->at.loss);
    canvas_text(canvas, head, x + plan.left, y + 44, canvas_style(12, false, 0));
    heatmap_paint(canvas, &plan, &map, 0, 1);
    return plan;
}

static bool draw_page(Canvas *canvas, const Run *run, Error *error)
{
    const WeightsFrame *chosen[COLUMNS];
    int columns = choose_frames(chosen), n = history->words.count, order[WORDS];
    order_words(order, chosen[columns - 1]->at.map[0], n);
    HeatMapPlan plan = draw_map(canvas, 0, 0, run, chosen[0], 0, order, true);
    int step = HEAD + plan.height + GAP, pitch = CELL * n + GAP;
    int width = fmax(2 * MARGIN + plan.width + (columns - 1) * pitch, 900);
    if (!canvas_reserve(canvas, width, MARGIN + TITLE + PROJECTION_MAPS * step, error))
        return false;
    TextStyle bold = canvas_style(15, true, width - 2 * MARGIN),
              line = canvas_style(13, false, width - 2 * MARGIN);
    char text[128];
    snprintf(text, sizeof text, "W_Q, W_K and W_V in training: decoder layer %d",
             run->model.config.decoder_layers);
    canvas_text(canvas, text, MARGIN, MARGIN - 6,
                canvas_style(20, true, width - 2 * MARGIN - BAR - GAP));
    canvas_text(canvas,
                "Encoder-decoder attention of frequent words. Rows: target words, their "
                "queries. Columns: source words, their keys and values.",
                MARGIN, MARGIN + 26, line);
    heatmap_bar(canvas, width - MARGIN - BAR, MARGIN, BAR, 0, 1);
    for (int m = 0; m < PROJECTION_MAPS; m++) {
        int y = MARGIN + TITLE + m * step;
        canvas_text(canvas, captions[m][0], MARGIN, y, bold);
        canvas_text(canvas, captions[m][1], MARGIN, y + 21, line);
        for (int c = 0; c < columns; c++)
            draw_map(canvas, MARGIN + c * pitch + (c ? plan.left : 0), y, run, chosen[c], m,
                     order, c == 0);
    }
    return canvas_check(canvas, error);
}

static bool draw(const Run *run, const char *path, Error *error)
{
    const PngText texts[] = {{"Software", "qkv"}, {"Model", run->settings->run.output}, {0}};
    Canvas *canvas;
    bool good = canvas_new(&canvas, error);
    if (good) canvas->missing = run->missing;
    good = good && draw_page(canvas, run, error) && png_save_canvas(path, canvas, texts, error);
    canvas_free(canvas);
    return good;
}

/* Records the last frame of the picture, if it is not there yet. */
static bool weights_end(Run *run, Error *error)
{
    int n = history->count;
    if (!history->words.count) return true;
    return ((n && history->frame[n - 1].update == run->progress.update) ||
            add_frame(run, error)) &&
           pictures_draw(draw, "weights.png", run, error);
}

const Recorder weights_recorder = {
    .open = weights_open, .record = weights_record, .save = weights_save, .end = weights_end};
