/* film.c -- an animation of attention; see film.h. */
#include "plots/film.h"

#include "plots/heatmap.h"

enum { MARGIN = 24, HEAD_TITLE = 18, HEAD_GAP = 14, TITLE = 56, CHART = 96, CHART_LABELS = 26 };
enum { LARGE_CELL = 34, LEAST_CELL = 9, LARGE_MAP = 460, CHART_LEFT = 44, LEAST_WIDTH = 560 };
enum { STEPS = 32, FIRST_MS = 700, EACH_MS = 220, LAST_MS = 3000 };
enum { ACROSS = 2 };  // maps of heads in a row

/* ---- plan ---- */

typedef struct FilmPlan {
    const Film *film;
    float *weight;    // [1+heads,rows,columns] of a frame: the mean of the heads, and the heads
    int cell, small;  // pixels of a cell, of the large map and of the heads'
    int left, top;    // of the large map's cells on the page
    int heads;        // the heads' maps
    int heads_x;      // their left edge
    int head_width, head_height;
    int width, height;
    Chart chart;
} FilmPlan;

/* The large map: the mean of the heads. */
static HeatMap mean_map(const FilmPlan *plan, const FilmFrame *frame)
{
    const Film *film = plan->film;
    static const bool special[FILM_WORDS] = {[FILM_WORDS - 1] = true};
    int rows = frame->word.count, columns = film->columns;
    return (HeatMap){.weight = plan->weight,
                     .rows = rows,
                     .columns = columns,
                     .row_labels = (const char *const *)frame->word.item,
                     .column_labels = (const char *const *)film->column,
                     .row_special = special + FILM_WORDS - rows,
                     .column_special = special + FILM_WORDS - columns};
}

/* plan (=) all but the weights */
static bool make_plan(FilmPlan *plan, const Film *film, Error *error)
{
    int rows = 1, columns = film->columns, heads = film->heads > 1 ? film->heads : 0, right = 0;
    Canvas *canvas;
    bool good = canvas_new(&canvas, error);
    for (int f = 0; f < film->count; f++) rows = larger(rows, film->frame[f].word.count);
    *plan = (FilmPlan){.film = film,
                       .cell = clamp(LARGE_MAP / larger(rows, columns), LEAST_CELL, LARGE_CELL),
                       .heads = heads};
    for (int f = 0; f < film->count && good; f++) {
        HeatMap mean = mean_map(plan, &film->frame[f]);
        HeatMapPlan map = heatmap_plan(canvas, &mean, plan->cell);
        plan->left = larger(plan->left, map.left);
        plan->top = larger(plan->top, map.top);
        right = larger(right, map.width - map.left);
    }
    int lines = (heads + ACROSS - 1) / ACROSS, map_height = plan->cell * rows;
    int band = (map_height + HEAD_GAP) / (lines ? lines : 1) - HEAD_TITLE - HEAD_GAP;
    plan->small = clamp(band / rows, 2, plan->cell / 2);
    plan->head_width = plan->small * columns;
    plan->head_height = plan->small * rows + HEAD_TITLE;
    plan->left += MARGIN;
    plan->top += MARGIN + TITLE;
    plan->heads_x = plan->left + right + 2 * HEAD_GAP;
    plan->width = plan->heads_x + MARGIN;
    if (heads) plan->width += ACROSS * (plan->head_width + HEAD_GAP) - HEAD_GAP;
    plan->width = larger(plan->width, LEAST_WIDTH);
    int stack = lines * (plan->head_height + HEAD_GAP) - HEAD_GAP - HEAD_TITLE;
    int y = plan->top + larger(map_height, stack) + 36;
    plan->height = y + CHART + CHART_LABELS + MARGIN;
    plan->chart = (Chart){.series = film->loss,
                          .count = 2,
                          .x = MARGIN + CHART_LEFT,
                          .y = y,
                          .width = plan->width - 2 * MARGIN - CHART_LEFT,
                          .height = CHART};
    chart_fit(&plan->chart);
    canvas_free(canvas);
    return good;
}

/* ---- draw ---- */

static void draw_head(Canvas *canvas, const FilmPlan *plan, const FilmFrame *frame)
{
    char update[48], loss[48] = "untrained";
    double width = plan->width - 2 * MARGIN - 150;
    TextStyle title = canvas_style(18, true, width), line = canvas_style(14, false, width);
    canvas_text(canvas, plan->film->title, MARGIN, MARGIN - 4, title);
    double arrow = canvas_measure(canvas, "→ ", line);
    canvas_text(canvas, "→ ", MARGIN, MARGIN + 24, line);
    line.max_width -= arrow;
    canvas_text(canvas, frame->says, MARGIN + arrow, MARGIN + 24, line);
    title.across = line.across = ALIGN_END;
    title.max_width = line.max_width = 140;
    snprintf(update, sizeof update, "update %lld", frame->update);
    if (isfinite(frame->loss)) snprintf(loss, sizeof loss, "training loss %.2f", frame->loss);
    canvas_text(canvas, update, plan->width - MARGIN, MARGIN - 4, title);
    canvas_text(canvas, loss, plan->width - MARGIN, MARGIN + 24, line);
}

/* plan->weight (=). The attention weights of all frames but the last are rounded to 32nds, which is
 * invisible in a colour and makes the file smaller. */
static void find_weights(FilmPlan *plan, const FilmFrame *frame, bool last)
{
    const Film *film = plan->film;
    float *weight = plan->weight;
    size_t cells = (size_t)frame->word.count * (size_t)film->columns;
    size_t all = cells * (size_t)film->heads;
    memset(weight, 0, cells * sizeof *weight);
    memcpy(weight + cells, frame->share, all * sizeof *weight);
    for (size_t k = 0; k < all; k++) weight[k % cells] += frame->share[k] / (float)film->heads;
    for (size_t k = 0; !last && k < all + cells; k++)
        weight[k] = roundf(weight[k] * STEPS) / STEPS;
}

/* Without numbers in its cells a frame takes a quarter of the bytes. */
static void draw_maps(Canvas *canvas, const FilmPlan *plan, const HeatMap *mean, bool numbers)
{
    HeatMapPlan map = heatmap_plan(canvas, mean, plan->cell);
    map.x = plan->left - map.left;
    map.y = plan->top - map.top;
    if (!numbers) map.number_size = 0;
    heatmap_paint(canvas, &map, mean, 0, 1);
    HeatMap head = {.weight = mean->weight, .rows = mean->rows, .columns = mean->columns};
    for (int h = 0; h < plan->heads; h++) {
        char name[32];
        int x = plan->heads_x + h % ACROSS * (plan->head_width + HEAD_GAP);
        int y = plan->top + h / ACROSS * (plan->head_height + HEAD_GAP);
        head.weight += (size_t)head.rows * (size_t)head.columns;
        HeatMapPlan small = heatmap_plan(canvas, &head, plan->small);
        snprintf(name, sizeof name, "head %d", h + 1);
        canvas_text(canvas, name, x, y - HEAD_TITLE, canvas_style(12, false, 0));
        small.x = x - small.left;
        small.y = y - small.top;
        heatmap_paint(canvas, &small, &head, 0, 1);
    }
}

/* The last frame comes first. */
static bool draw_frame(Canvas **page, int *milliseconds, void *context, int f, Error *error)
{
    FilmPlan *plan = context;
    const FilmFrame *frame = &plan->film->frame[f ? f - 1 : plan->film->count - 1];
    const HeatMap mean = mean_map(plan, frame);
    Chart chart = plan->chart;
    *milliseconds = f == 0 ? LAST_MS : f == 1 ? FIRST_MS : EACH_MS;
    if (!canvas_new(page, error)) return false;
    (*page)->missing = plan->film->missing;
    if (!canvas_reserve(*page, plan->width, plan->height, error)) return false;
    draw_head(*page, plan, frame);
    find_weights(plan, frame, f == 0);
    draw_maps(*page, plan, &mean, f == 0);
    chart.until = (double)frame->update;
    chart_draw(*page, &chart);
    return true;
}

bool film_save(const char *path, const Film *film, const PngText *texts, Error *error)
{
    size_t weights = (size_t)(film->heads + 1) * FILM_WORDS * FILM_WORDS;
    FilmPlan plan;
    bool good = make_plan(&plan, film, error);
    plan.weight = malloc(weights * sizeof(float));
    good =
        good && (plan.weight || error_memory(error, "to draw the film")) &&
        apng_save(path, plan.width, plan.height, film->count, draw_frame, &plan, texts, error);
    free(plan.weight);
    return good;
}
