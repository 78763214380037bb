/* film.c -- watch.png: the looks of a training as frames; see watch.h. */
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

/* Rows and columns end in </s>, and nothing else is no word: the marks of n of them are at
 * LAST_OF(n). */
static const bool marks[WATCH_WORDS] = {[WATCH_WORDS - 1] = true};
#define LAST_OF(n) (marks + WATCH_WORDS - (n))

/* Everything that the frames point to. */
typedef struct Film {
    int count, *look;           // which looks are shown
    FilmFrame *frame;           // [count]
    HeatMap *heads;             // [count,heads]
    float *map;                 // of all looks shown, the heads' and the mean
    char (*corner)[2][CORNER];  // [count]
    char **says;                // [count]
    double *number;             // of the curves
    Series loss[2];
} Film;

static void film_free(Film *film)
{
    for (int f = 0; film->says && f < film->count; f++) free(film->says[f]);
    free(film->says);
    free(film->look);
    free(film->frame);
    free(film->heads);
    free(film->map);
    free(film->corner);
    free(film->number);
}

static bool allocate(Film *film, const Watch *watch, const Run *run)
{
    size_t count = (size_t)film->count, cells = 0;
    for (int i = 0; i < watch->count; i++)
        cells += (size_t)watch->snapshot[i].rows * (size_t)watch->columns;
    film->look = malloc(count * sizeof *film->look);
    film->frame = calloc(count, sizeof *film->frame);
    film->heads = calloc(count * (size_t)watch->heads, sizeof *film->heads);
    film->map = calloc(cells * ((size_t)watch->heads + 1), sizeof *film->map);
    film->corner = calloc(count, sizeof *film->corner);
    film->says = calloc(count, sizeof *film->says);
    film->number = malloc(2 * ((size_t)watch->count + (size_t)run->metrics.valid_count) *
                          sizeof *film->number);
    return film->look && film->frame && film->heads && film->map && film->corner &&
           film->says && film->number;
}

static void make_curves(Film *film, const Watch *watch, const Run *run)
{
    int n = watch->count, v = run->metrics.valid_count;
    double *x = film->number, *y = x + n, *vx = y + n, *vy = vx + v;
    for (int i = 0; i < n; i++)
        x[i] = (double)watch->snapshot[i].update, y[i] = watch->snapshot[i].loss;
    for (int i = 0; i < v; i++) {
        vx[i] = (double)run->metrics.valid[i].update;
        vy[i] = run->metrics.valid[i].loss;
    }
    film->loss[0] = (Series){"training loss", x, y, n, 0, false};
    film->loss[1] = (Series){"validation loss", vx, vy, v, 1, true};
}

/* What nobody can see in a colour costs bytes in every frame: but for the last, which has numbers,
 * shares are rounded to 32nds. */
static void round_shares(float *share, size_t count)
{
    for (size_t k = 0; k < count; k++) share[k] = roundf(share[k] * STEPS) / STEPS;
}

/* Frame f from its look; *at is where its maps go. */
static bool make_frame(Film *film, int f, float **at, const Watch *watch, const char *title)
{
    const WatchLook *look = &watch->snapshot[film->look[f]];
    const char *const *rows = (const char *const *)look->word;
    const char *const *columns = (const char *const *)watch->source_word;
    size_t cells = (size_t)look->rows * (size_t)watch->columns;
    HeatMap *heads = film->heads + (size_t)f * (size_t)watch->heads;
    size_t all = cells * (size_t)watch->heads;
    float *share = *at, *mean = share + all;
    memcpy(share, look->share, all * sizeof *share);
    for (size_t k = 0; k < all; k++) mean[k % cells] += share[k] / (float)watch->heads;
    if (f < film->count - 1) round_shares(share, all + cells);
    for (int h = 0; h < watch->heads; h++)
        heads[h] = (HeatMap){
            .weight = share + (size_t)h * cells, .rows = look->rows, .columns = watch->columns};
    if (asprintf(&film->says[f], "→ %s", look->says) < 0) return film->says[f] = NULL, false;
    snprintf(film->corner[f][0], CORNER, "update %lld", look->update);
    if (isfinite(look->loss)) snprintf(film->corner[f][1], CORNER, "loss %.2f", look->loss);
    else snprintf(film->corner[f][1], CORNER, "untrained");
    film->frame[f] = (FilmFrame){.title = title,
                                 .subtitle = film->says[f],
                                 .corner = film->corner[f][0],
                                 .corner_detail = film->corner[f][1],
                                 .mean = {.weight = mean,
                                          .rows = look->rows,
                                          .columns = watch->columns,
                                          .row_labels = rows,
                                          .column_labels = columns,
                                          .row_marks = LAST_OF(look->rows),
                                          .column_marks = LAST_OF(watch->columns)},
                                 .heads = heads,
                                 .head_count = watch->heads > 1 ? watch->heads : 0,
                                 .numbers = f == film->count - 1,
                                 .loss = film->loss,
                                 .loss_count = 2,
                                 .x = (double)look->update};
    *at += all + cells;
    return true;
}

static bool make(Film *film, const Watch *watch, const Run *run, const char *title,
                 Error *error)
{
    film->count = watch->count < MOST_FRAMES ? watch->count : MOST_FRAMES;
    if (!allocate(film, watch, run))
        return error_set(error, "not enough memory to draw watch.png");
    make_curves(film, watch, run);
    float *at = film->map;
    for (int f = 0; f < film->count; f++) {
        film->look[f] = (int)((long long)f * (watch->count - 1) / (film->count - 1));
        if (!make_frame(film, f, &at, watch, title))
            return error_set(error, "not enough memory to draw watch.png");
    }
    return true;
}

static bool shoot(Apng *apng, const FilmPlan *plan, const FilmFrame *frame, int ms,
                  Error *error)
{
    Canvas *page;
    if (!film_draw(&page, plan, frame, THEME_LIGHT, error)) return false;
    bool good = apng_add(apng, page, ms, error);
    canvas_free(page);
    return good;
}

/* The last look comes first: it is what is seen where nothing moves, and the film goes round. */
static bool save(const Film *film, const char *path, const char *model, const char *sentence,
                 Error *error)
{
    FilmPlan plan;
    const PngText texts[] = {{"Software", "qkv"}, {"Model", model}, {"Source", sentence}};
    int last = film->count - 1;
    if (!film_plan(&plan, film->frame, film->count, THEME_LIGHT, error)) return false;
    Apng *apng = apng_begin(path, plan.width, plan.height, film->count, 0, texts, 3, error);
    bool good = apng && shoot(apng, &plan, &film->frame[last], LAST_MS, error);
    for (int f = 0; f < last && good; f++)
        good = shoot(apng, &plan, &film->frame[f], f == 0 ? FIRST_MS : EACH_MS, error);
    if (good) return apng_end(apng, error);
    apng_abandon(apng);
    return false;
}

bool watch_draw(const Watch *watch, const Run *run, Error *error)
{
    if (watch->count < 2) return true;
    Film film = {0};
    char *path = run_path(run->settings, "watch.png", error), *title = NULL;
    bool good = path &&
                tokenizer_decode(run->vocabulary.tokenizer[SOURCE], &title, watch->source,
                                 (size_t)watch->columns, error) &&
                make(&film, watch, run, title, error) &&
                save(&film, path, run->settings->run.output, title, error);
    film_free(&film);
    free(title);
    free(path);
    return good;
}
