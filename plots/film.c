/* film.c -- frames of an animation of attention; see film.h. */
#include "plots/film.h"

#include <stdio.h>

enum { MARGIN = 24, HEAD_TITLE = 18, HEAD_GAP = 14, TITLE = 56, CHART = 96, CHART_LABELS = 26 };
enum { LARGE_CELL = 34, LEAST_CELL = 9, LARGE_MAP = 460, CHART_LEFT = 44, LEAST_WIDTH = 560 };

/* ---- plan ---- */

bool film_plan(FilmPlan *plan, const FilmFrame *frames, int count, Theme theme, Error *error)
{
    int rows = 1, columns = 1, heads = frames[0].head_count, right = 0;
    Canvas *canvas;
    if (!canvas_new(&canvas, theme, error)) return false;
    for (int f = 0; f < count; f++) {
        rows = larger(rows, frames[f].mean.rows);
        columns = larger(columns, frames[f].mean.columns);
    }
    *plan = (FilmPlan){.cell = clamp(LARGE_MAP / larger(rows, columns), LEAST_CELL, LARGE_CELL),
                       .columns = heads > 1 ? 2 : 1};
    for (int f = 0; f < count; f++) {
        HeatMapPlan map = heatmap_plan(canvas, &frames[f].mean, plan->cell);
        plan->left = larger(plan->left, map.left);
        plan->top = larger(plan->top, map.top);
        right = larger(right, map.width - map.left);
    }
    int lines = (heads + plan->columns - 1) / plan->columns, map_height = plan->cell * rows;
    int band = (map_height + HEAD_GAP) / (lines ? lines : 1) - HEAD_TITLE - HEAD_GAP;
    plan->small = clamp(band / rows, 2, plan->cell / 2);
    plan->head_width = plan->small * columns;
    plan->head_height = plan->small * rows + HEAD_TITLE;
    plan->left += MARGIN;
    plan->top += MARGIN + TITLE;
    plan->heads_x = plan->left + right + 2 * HEAD_GAP;
    plan->width = plan->heads_x + MARGIN;
    if (heads) plan->width += plan->columns * (plan->head_width + HEAD_GAP) - HEAD_GAP;
    plan->width = larger(plan->width, LEAST_WIDTH);
    int stack = lines * (plan->head_height + HEAD_GAP) - HEAD_GAP - HEAD_TITLE;
    int y = plan->top + larger(map_height, stack) + 36;
    plan->height = y + CHART + CHART_LABELS + MARGIN;
    plan->chart = (Chart){.x = MARGIN + CHART_LEFT, .y = y, .height = CHART};
    plan->chart.width = plan->width - MARGIN - plan->chart.x;
    chart_fit(&plan->chart, frames[count - 1].loss, frames[count - 1].loss_count);
    canvas_free(canvas);
    return true;
}

/* ---- draw ---- */

static void draw_head(Canvas *canvas, const FilmPlan *plan, const FilmFrame *frame)
{
    double width = plan->width - 2 * MARGIN - 150;
    TextStyle title = canvas_style(canvas, 18, true, width),
              line = canvas_style(canvas, 14, false, width);
    canvas_text(canvas, frame->title, MARGIN, MARGIN - 4, &title);
    if (frame->subtitle) canvas_text(canvas, frame->subtitle, MARGIN, MARGIN + 24, &line);
    title.across = line.across = ALIGN_END;
    title.max_width = line.max_width = 140;
    canvas_text(canvas, frame->corner, plan->width - MARGIN, MARGIN - 4, &title);
    canvas_text(canvas, frame->corner_detail, plan->width - MARGIN, MARGIN + 24, &line);
}

static void draw_maps(Canvas *canvas, const FilmPlan *plan, const FilmFrame *frame)
{
    Colormap colors = colormap_make(canvas->theme);
    HeatMapPlan map = heatmap_plan(canvas, &frame->mean, plan->cell);
    map.x = plan->left - map.left;
    map.y = plan->top - map.top;
    if (!frame->numbers) map.number_size = 0;
    heatmap_paint(canvas, &map, &frame->mean, &colors, false);
    TextStyle style = canvas_style(canvas, 12, false, 0);
    for (int h = 0; h < frame->head_count; h++) {
        char name[32];
        int x = plan->heads_x + h % plan->columns * (plan->head_width + HEAD_GAP);
        int y = plan->top + h / plan->columns * (plan->head_height + HEAD_GAP);
        HeatMapPlan small = heatmap_plan(canvas, &frame->heads[h], plan->small);
        snprintf(name, sizeof name, "head %d", h + 1);
        canvas_text(canvas, name, x, y - HEAD_TITLE, &style);
        small.x = x - small.left;
        small.y = y - small.top;
        heatmap_paint(canvas, &small, &frame->heads[h], &colors, false);
    }
}

bool film_draw(Canvas **page, const FilmPlan *plan, const FilmFrame *frame, Theme theme,
               Error *error)
{
    Chart chart = plan->chart;
    if (!canvas_new(page, theme, error)) return false;
    bool good = canvas_reserve(*page, plan->width, plan->height, error);
    if (good) {
        draw_head(*page, plan, frame);
        draw_maps(*page, plan, frame);
        chart.until = frame->x;
        good = chart_draw(*page, &chart, frame->loss, frame->loss_count, error) &&
               canvas_check(*page, error);
    }
    return good;
}
