/* exposure.c -- --exposure: teacher forcing and greedy search side by side; see exposure.h. */
#include "commands/translate/exposure.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "commands/command.h"
#include "inference/search.h"
#include "plots/curves.h"
#include "plots/png.h"

enum { POSITION, SENTENCES, RUNNING, FORCED, FORCED_RIGHT, FREE, FREE_RIGHT, PARTED, NUMBERS };

typedef struct Exposure {
    const char *path;
    double *column[NUMBERS];  // [1+max_length] sums; in row 0 those of "after", in row t of t
    int positions;            // tokens of the longest translation so far
    int *greedy;              // [max_length] scratch: ŷ
    real *logits;             // [V] scratch
} Exposure;

/* number [2] (=) ln p of token y at step t, and whether no token is more probable. Returns the
 * most probable token. */
static int look(double *number, const Exposure *e, const Snapshot *snapshot, int t, int y)
{
    const ModelConfig *config = &snapshot->model->config;
    int V = config->vocab, D = config->d_model, best = y;
    real *z = e->logits;
    logits_forward(z, snapshot->activations.output + (size_t)t * (size_t)D,
                   &snapshot->model->weights, 1, V, D);
    for (int c = 0; c < V - 1; c++)
        if (z[c] > z[best]) best = c;
    number[0] = (double)z[y] - search_normaliser(z, V - 1);
    number[1] = best == y;
    return best;
}

static bool add(Exposure *e, const Snapshot *forced, Error *error)
{
    bool parted = false, runs = true;
    int m = forced->target.rows;
    e->positions = m > e->positions ? m : e->positions;
    for (int t = 0; t < m; t++) {
        double now[NUMBERS] = {[SENTENCES] = 1, [RUNNING] = runs};
        int y = forced->target.id[t], best = look(&now[FORCED], e, forced, t, y);
        e->greedy[t] = ID_END;  // not read at step t
        if (runs && parted) {
            Snapshot *own = snapshot_open(forced->model, forced->source.id, forced->source.rows,
                                          e->greedy, t + 1, error);
            if (!own) return false;
            best = look(&now[FREE], e, own, t, y);
            snapshot_close(own);
        } else if (runs) now[FREE] = now[FORCED], now[FREE_RIGHT] = now[FORCED_RIGHT];
        for (int k = 0; k < PARTED; k++) {
            e->column[k][t + 1] += now[k];
            if (runs && parted) e->column[k][0] += now[k];
        }
        if (!parted && best != y) parted = true, e->column[PARTED][t + 1]++;
        e->greedy[t] = best;
        runs = runs && best != ID_END;
    }
    return true;
}

/* ---- what is shown ---- */

/* The sums become means. Sentences that have parted stay parted. */
static void take_means(Exposure *e)
{
    double parted = 0, sentences = e->column[SENTENCES][1];
    for (int t = 0; t <= e->positions; t++) {
        for (int k = FORCED; k < PARTED; k++)
            e->column[k][t] /= e->column[k < FREE ? SENTENCES : RUNNING][t];
        parted += e->column[PARTED][t];
        e->column[PARTED][t] = parted / sentences;
        e->column[POSITION][t] = t;
    }
}

static void print(const Exposure *e, int t)
{
    if (t) printf("%-8d", t);
    else printf("after   ");
    printf(" %9.0f %8.0f", e->column[SENTENCES][t], e->column[RUNNING][t]);
    for (int k = FORCED; k < PARTED + (t > 0); k++) printf("%10.4f", e->column[k][t]);
    putchar('\n');
}

static Series series_of(const Exposure *e, const char *label, int k, int color)
{
    return (Series){label, e->column[POSITION] + 1, e->column[k] + 1, e->positions, color,
                    true};
}

static bool draw(const void *context, Error *error)
{
    const Exposure *e = context;
    const char *forced = "teacher forcing", *free = "greedy search";
    const Series series[] = {series_of(e, forced, FORCED, 0), series_of(e, free, FREE, 1),
                             series_of(e, forced, FORCED_RIGHT, 0),
                             series_of(e, free, FREE_RIGHT, 1), series_of(e, NULL, PARTED, 2)};
    const CurvePanel panels[] = {
        {"Log probability of the right token", NULL, "nats", series, 2, false},
        {"Right tokens", NULL, "share", series + 2, 2, false},
        {"Sentences that have parted", "position", "share", series + 4, 1, false}};
    Canvas *page = NULL;
    Chart charts[3];
    bool good = curves_draw(&page, "Teacher forcing and greedy search",
                            "Means of each position", panels, 3, charts, error) &&
                png_save_canvas(e->path, page, NULL, 0, error);
    canvas_free(page);
    return good;
}

static bool report(Exposure *e, Error *error)
{
    if (!e->positions) return error_set(error, "no pair was read: there is nothing to compare");
    take_means(e);
    printf("%45s%20s\nposition sentences  running%10s%10s%10s%10s%10s\n", "teacher forcing",
           "greedy search", "ln p", "right", "ln p", "right", "parted");
    for (int t = 1; t <= e->positions; t++) print(e, t);
    if (e->column[SENTENCES][0] > 0) print(e, 0);
    return stream_flush(stdout, "the comparison", error) &&
           command_draw(draw, e, e->path, error);
}

bool exposure_run(const Pairs *pairs, const char *path, Error *error)
{
    const ModelConfig *config = &pairs->bundle->model.config;
    size_t rows = (size_t)config->max_length + 1;
    double *numbers = calloc(NUMBERS * rows, sizeof *numbers);
    Exposure e = {.path = path,
                  .greedy = malloc(rows * sizeof *e.greedy),
                  .logits = malloc((size_t)config->vocab * sizeof *e.logits)};
    bool good = (numbers && e.greedy && e.logits) ||
                error_memory(error, "to compare with greedy search");
    TextResult result = TEXT_ERROR;
    Pair pair = {0};
    for (size_t k = 0; good && k < NUMBERS; k++) e.column[k] = numbers + k * rows;
    while (good && (result = pairs_next(pairs, &pair, error)) == TEXT_LINE)
        good = !pair.snapshot || add(&e, pair.snapshot, error);
    good = good && result == TEXT_END && report(&e, error);
    pair_free(&pair);
    free(numbers), free(e.greedy), free(e.logits);
    return good;
}
