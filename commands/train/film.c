/* film.c -- draws watch.png, the frames of a training; see watch.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/train/watch.h"
#include "plots/apng.h"
#include "plots/film.h"

enum {
    STEPS = 32,
    MOST_FRAMES = 100,
    FIRST_MS = 700,
    EACH_MS = 220,
    LAST_MS = 3000,
    CORNER = 48
};

/* Rows and columns end in </s>, the only special token: n of them have the flags LAST_OF(n). */
static const bool special[WATCH_WORDS] = {[WATCH_WORDS - 1] = true};
#define LAST_OF(n) (special + WATCH_WORDS - (n))

/* What one frame of the film points to. */
typedef struct Still {
    char corner[2][CORNER];
    char *says;
    HeatMap *heads;  // [heads]
    float *share;    // [heads + 1,rows,columns]: of each head, then their mean
} Still;

typedef struct Film {
    int count;
    FilmFrame *frame;  // [count]
    Still *still;      // [count]
    double *number;    // the points of both curves
    Series loss[2];
} Film;

static void film_free(Film *film)
{
    for (int f = 0; film->still && f < film->count; f++) {
        free(film->still[f].says);
        free(film->still[f].heads);
        free(film->still[f].share);
    }
    free(film->still);
    free(film->frame);
    free(film->number);
}

static void make_curves(Film *film, const Watch *watch, const Run *run)
{
    int n = watch->count, v = metrics_column(NULL, &run->metrics, METRICS_VALID, "loss");
    double *x = film->number, *y = x + n, *vx = y + n, *vy = vx + v;
    for (int i = 0; i < n; i++) {
        x[i] = (double)watch->frame[i].update;
        y[i] = watch->frame[i].loss;
    }
    metrics_column(vx, &run->metrics, METRICS_VALID, "update");
    metrics_column(vy, &run->metrics, METRICS_VALID, "loss");
    film->loss[0] = (Series){"training loss", x, y, n, 0, false};
    film->loss[1] = (Series){"validation loss", vx, vy, v, 1, true};
}

/* Frame f of the film from a recorded one. The attention weights of all but the last are
 * rounded to 32nds, which is invisible in a colour and makes the file smaller. */
static bool make_frame(Film *film, int f, const WatchFrame *from, const Watch *watch,
                       const char *title)
{
    Still *still = &film->still[f];
    bool last = f == film->count - 1;
    size_t cells = (size_t)from->rows * (size_t)watch->columns;
    size_t all = cells * (size_t)watch->heads;
    still->heads = malloc((size_t)watch->heads * sizeof *still->heads);
    float *share = still->share = calloc(all + cells, sizeof *share), *mean = share + all;
    if (!still->heads || !share) return false;
    if (asprintf(&still->says, "→ %s", from->says) < 0) return still->says = NULL, false;
    memcpy(share, from->share, all * sizeof *share);
    for (size_t k = 0; k < all; k++) mean[k % cells] += share[k] / (float)watch->heads;
    for (size_t k = 0; !last && k < all + cells; k++)
        share[k] = roundf(share[k] * STEPS) / STEPS;
    const HeatMap map = {.rows = from->rows, .columns = watch->columns};
    for (int h = 0; h < watch->heads; h++) {
        still->heads[h] = map;
        still->heads[h].weight = share + (size_t)h * cells;
    }
    snprintf(still->corner[0], CORNER, "update %lld", from->update);
    if (isfinite(from->loss)) snprintf(still->corner[1], CORNER, "loss %.2f", from->loss);
    else snprintf(still->corner[1], CORNER, "untrained");
    film->frame[f] =
        (FilmFrame){.title = title,
                    .subtitle = still->says,
                    .corner = still->corner[0],
                    .corner_detail = still->corner[1],
                    .mean = {.weight = mean,
                             .rows = from->rows,
                             .columns = watch->columns,
                             .row_labels = (const char *const *)from->word,
                             .column_labels = (const char *const *)watch->source_word,
                             .row_special = LAST_OF(from->rows),
                             .column_special = LAST_OF(watch->columns)},
                    .heads = still->heads,
                    .head_count = watch->heads > 1 ? watch->heads : 0,
                    .numbers = last,
                    .loss = film->loss,
                    .loss_count = 2,
                    .x = (double)from->update};
    return true;
}

static bool make_film(Film *film, const Watch *watch, const Run *run, const char *title,
                      Error *error)
{
    film->count = watch->count < MOST_FRAMES ? watch->count : MOST_FRAMES;
    film->frame = calloc((size_t)film->count, sizeof *film->frame);
    film->still = calloc((size_t)film->count, sizeof *film->still);
    film->number =
        malloc(2 * ((size_t)watch->count + run->metrics.count) * sizeof *film->number);
    bool good = film->frame && film->still && film->number;
    if (good) make_curves(film, watch, run);
    for (int f = 0; good && f < film->count; f++) {
        int i = (int)((long long)f * (watch->count - 1) / (film->count - 1));
        good = make_frame(film, f, &watch->frame[i], watch, title);
    }
    return good || error_set(error, "not enough memory to draw watch.png");
}

static bool add_page(Apng *apng, const FilmPlan *plan, const FilmFrame *frame, int ms,
                     Error *error)
{
    Canvas *page;
    bool good =
        film_draw(&page, plan, frame, THEME_LIGHT, error) && apng_add(apng, page, ms, error);
    canvas_free(page);
    return good;
}

/* The last frame comes first, since viewers without APNG support show the first one. The film
 * repeats. */
static bool save_film(const Film *film, const char *path, const char *model,
                      const char *sentence, Error *error)
{
    FilmPlan plan;
    const PngText texts[] = {{"Software", "qkv"}, {"Model", model}, {"Source", sentence}};
    int last = film->count - 1;
    if (!film_plan(&plan, film->frame, film->count, THEME_LIGHT, error)) return false;
    Apng *apng = apng_begin(path, plan.width, plan.height, film->count, texts, 3, error);
    bool good = apng && add_page(apng, &plan, &film->frame[last], LAST_MS, error);
    for (int f = 0; f < last && good; f++)
        good = add_page(apng, &plan, &film->frame[f], f == 0 ? FIRST_MS : EACH_MS, error);
    if (good) return apng_end(apng, error);
    apng_abandon(apng);
    return false;
}

bool watch_draw(const Watch *watch, const Run *run, Error *error)
{
    if (watch->count < 2) return true;
    Film film = {0};
    char path[PATH_MAX], *title = NULL;
    bool good = run_path(path, run->settings, "watch.png", error) &&
                tokenizer_decode(run->vocabulary.tokenizer[SOURCE], &title, watch->source.id,
                                 (size_t)watch->columns, error) &&
                make_film(&film, watch, run, title, error) &&
                save_film(&film, path, run->settings->run.output, title, error);
    film_free(&film);
    free(title);
    return good;
}
