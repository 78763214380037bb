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

typedef struct Film {
    int count;
    FilmFrame *frame;  // [count]
    double *number;    // the points of both curves
    Series loss[2];
    Arena arena;  // of all that the frames point to
} Film;

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

/* Frame f of the film from a recorded one; only measures if the arena does. The attention
 * weights of all but the last are rounded to 32nds, which is invisible in a colour and makes the
 * file smaller. */
static void make_frame(Film *film, int f, const WatchFrame *from, const Watch *watch,
                       const char *title)
{
    bool last = f == film->count - 1;
    int rows = from->word.count, columns = watch->columns, heads = watch->heads;
    size_t cells = (size_t)rows * (size_t)columns, all = cells * (size_t)heads;
    size_t length = sizeof "→ " + strlen(from->says);
    char *says = ARENA_TAKE(&film->arena, char, length);
    char *corner = ARENA_TAKE(&film->arena, char, 2 * CORNER), *detail = corner + CORNER;
    HeatMap *head = ARENA_TAKE(&film->arena, HeatMap, (size_t)heads);
    float *share = ARENA_TAKE(&film->arena, float, all + cells), *mean = share + all;
    if (!film->arena.base) return;
    memcpy(share, from->share, all * sizeof *share);
    memset(mean, 0, cells * sizeof *mean);
    for (size_t k = 0; k < all; k++) mean[k % cells] += share[k] / (float)heads;
    for (size_t k = 0; !last && k < all + cells; k++)
        share[k] = roundf(share[k] * STEPS) / STEPS;
    for (int h = 0; h < heads; h++)
        head[h] =
            (HeatMap){.weight = share + (size_t)h * cells, .rows = rows, .columns = columns};
    snprintf(says, length, "→ %s", from->says);
    snprintf(corner, CORNER, "update %lld", from->update);
    if (isfinite(from->loss)) snprintf(detail, CORNER, "loss %.2f", from->loss);
    else snprintf(detail, CORNER, "untrained");
    film->frame[f] =
        (FilmFrame){.title = title,
                    .subtitle = says,
                    .corner = corner,
                    .corner_detail = detail,
                    .mean = {.weight = mean,
                             .rows = rows,
                             .columns = columns,
                             .row_labels = (const char *const *)from->word.item,
                             .column_labels = (const char *const *)watch->source_word.item,
                             .row_special = LAST_OF(rows),
                             .column_special = LAST_OF(columns)},
                    .heads = head,
                    .head_count = heads > 1 ? heads : 0,
                    .numbers = last,
                    .loss = film->loss,
                    .loss_count = 2,
                    .x = (double)from->update};
}

static bool make_film(Film *film, const Watch *watch, const Run *run, const char *title,
                      Error *error)
{
    Arena *arena = &film->arena;
    film->count = at_most(watch->count, MOST_FRAMES);
    for (int pass = 0; pass < 2; pass++) {  // measure, then fill
        film->frame = ARENA_TAKE(arena, FilmFrame, (size_t)film->count);
        film->number =
            ARENA_TAKE(arena, double, 2 * ((size_t)watch->count + run->metrics.count));
        for (int f = 0; f < film->count; f++) {
            int i = (int)((long long)f * (watch->count - 1) / (film->count - 1));
            make_frame(film, f, &watch->frame[i], watch, title);
        }
        if (pass == 0 && !arena_reserve(arena, error)) return false;
    }
    make_curves(film, watch, run);
    return true;
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

bool watch_draw(const void *of, const Run *run, Error *error)
{
    const Watch *watch = of;
    if (watch->count < 2) return true;
    Film film = {0};
    char path[PATH_MAX], *title = NULL;
    bool good = run_path(path, run->settings, "watch.png", error) &&
                tokenizer_decode(run->vocabulary.tokenizer[SOURCE], &title, watch->source.id,
                                 (size_t)watch->columns, error) &&
                make_film(&film, watch, run, title, error) &&
                save_film(&film, path, run->settings->run.output, title, error);
    arena_free(&film.arena);
    free(title);
    return good;
}
