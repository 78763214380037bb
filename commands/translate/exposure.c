/* exposure.c -- --exposure: teacher forcing and greedy search side by side; see exposure.h. */
#include "commands/translate/exposure.h"

#include <stdlib.h>

#include "base/file.h"
#include "commands/command.h"
#include "inference/search.h"
#include "plots/curves.h"
#include "plots/png.h"

bool exposure_create(Exposure *e, const char *path, const ModelConfig *config, Error *error)
{
    e->path = path;
    e->limit = config->max_length;
    e->position = calloc((size_t)e->limit, sizeof *e->position);
    e->greedy = malloc((size_t)e->limit * sizeof *e->greedy);
    e->logits = malloc((size_t)config->vocab * sizeof *e->logits);
    return (e->position && e->greedy && e->logits) ||
           error_set(error, "not enough memory to compare with greedy search");
}

void exposure_free(Exposure *e)
{
    free(e->position), free(e->greedy), free(e->logits);
}

/* *log_probability (=) ln p of token y at step t. Returns the most probable token. */
static int look(double *log_probability, const Exposure *e, const Snapshot *snapshot, int t,
                int y)
{
    const ModelConfig *config = &snapshot->model->config;
    int V = config->vocab, D = config->d_model, best = y;
    real *z = e->logits;
    logits_forward(z, snapshot->pass.output + (size_t)t * (size_t)D, &snapshot->model->weights,
                   1, V, D);
    for (int c = 0; c < V - 1; c++)
        if (z[c] > z[best]) best = c;
    *log_probability = (double)z[y] - search_normaliser(z, V - 1);
    return best;
}

/* The same at step t of greedy search, which has written e->greedy [t]. -1: not enough memory. */
static int look_greedy(double *log_probability, const Exposure *e, const Snapshot *forced,
                       int t, int y, Error *error)
{
    e->greedy[t] = ID_END;  // not read at step t
    Snapshot *snapshot = snapshot_open(forced->model, forced->source.id, forced->source.rows,
                                       e->greedy, t + 1, error);
    int best = snapshot ? look(log_probability, e, snapshot, t, y) : -1;
    snapshot_close(snapshot);
    return best;
}

bool exposure_add(Exposure *e, const Snapshot *forced, Error *error)
{
    bool parted = false, runs = true;
    int m = forced->target.rows;
    e->positions = m > e->positions ? m : e->positions;
    for (int t = 0; t < e->limit; t++) {
        double *sum = e->position[t], now[EXPOSURE_NUMBERS] = {0};
        if (t < m) {
            int y = forced->target.id[t];
            int best = look(&now[FORCED], e, forced, t, y), greedy = best;
            now[SENTENCES] = 1, now[RUNNING] = runs, now[FORCED_RIGHT] = best == y;
            if (!parted) now[FREE] = now[FORCED];
            else if (runs && (greedy = look_greedy(&now[FREE], e, forced, t, y, error)) < 0)
                return false;
            now[FREE_RIGHT] = runs && greedy == y;
            for (int k = 0; k < PARTED && parted && runs; k++) e->after[k] += now[k];
            parted = parted || greedy != y;
            e->greedy[t] = greedy;
            runs = runs && greedy != ID_END;
        }
        now[PARTED] = parted;
        for (int k = 0; k < EXPOSURE_NUMBERS; k++) sum[k] += now[k];
    }
    return true;
}

/* ---- what is shown ---- */

static double mean(const Exposure *e, const double *sum, int k)
{
    return sum[k] / (k == PARTED ? e->position[0] : sum)[k == FREE ? RUNNING : SENTENCES];
}

static void print(const Exposure *e, const double *sum)
{
    printf(" %9.0f %8.0f", sum[SENTENCES], sum[RUNNING]);
    for (int k = FORCED; k < PARTED + (sum != e->after); k++) printf("%10.4f", mean(e, sum, k));
    putchar('\n');
}

static bool draw(const void *context, Error *error)
{
    const Exposure *e = context;
    size_t n = (size_t)e->positions;
    double *x = malloc((1 + EXPOSURE_NUMBERS) * n * sizeof *x), *y = x + n;
    Canvas *page = NULL;
    Chart charts[3];
    if (!x) return error_set(error, "not enough memory to draw %zu positions", n);
    for (size_t t = 0; t < n; t++) {
        x[t] = (double)t + 1;
        for (size_t k = FORCED; k < EXPOSURE_NUMBERS; k++)
            y[k * n + t] = mean(e, e->position[t], (int)k);
    }
    const Series series[] = {{"teacher forcing", x, y + FORCED * n, (int)n, 0, true},
                             {"greedy search", x, y + FREE * n, (int)n, 1, true},
                             {"teacher forcing", x, y + FORCED_RIGHT * n, (int)n, 0, true},
                             {"greedy search", x, y + FREE_RIGHT * n, (int)n, 1, true},
                             {NULL, x, y + PARTED * n, (int)n, 2, true}};
    const CurvePanel panels[] = {
        {"Log probability of the right token", NULL, "nats", series, 2, false},
        {"Right tokens", NULL, "share", series + 2, 2, false},
        {"Sentences that have parted", "position", "share", series + 4, 1, false}};
    bool good = curves_draw(&page, "Teacher forcing and greedy search",
                            "Means of each position", panels, 3, THEME_LIGHT, charts, error) &&
                png_save_canvas(e->path, page, NULL, 0, error);
    canvas_free(page);
    free(x);
    return good;
}

bool exposure_print(const Exposure *e, Error *error)
{
    if (!e->positions) return error_set(error, "no pair was read: there is nothing to compare");
    printf("%45s%20s\nposition sentences  running%10s%10s%10s%10s%10s\n", "teacher forcing",
           "greedy search", "ln p", "right", "ln p", "right", "parted");
    for (int t = 0; t < e->positions; t++) printf("%-8d", t + 1), print(e, e->position[t]);
    if (e->after[SENTENCES] > 0) printf("after   "), print(e, e->after);
    return stream_flush(stdout, "the comparison", error) &&
           command_draw(draw, e, e->path, error);
}
