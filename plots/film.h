/* film.h -- the attention of one sentence during training: a frame of an animation.
 *
 *     title                                                update 400
 *     says: …                                              loss 0.21
 *     ┌──────────────┐   ┌────┐ ┌────┐
 *     │ mean of the  │   │head│ │head│
 *     │ heads        │   └────┘ └────┘
 *     └──────────────┘   ┌────┐ ┌────┐
 *     loss ────╮_____•__________________ update
 *
 * All frames of a film have one size, which film_plan computes from the labels of all of
 * them. */
#pragma once

#include "plots/curves.h"
#include "plots/heatmap.h"

typedef struct FilmFrame {
    const char *title, *subtitle;        // one line each; subtitle may be NULL
    const char *corner, *corner_detail;  // at the top right
    HeatMap mean;                        // the large one
    const HeatMap *heads;                // [head_count], without labels
    int head_count;
    bool numbers;        // in the cells; without them a frame takes a quarter of the bytes
    const Series *loss;  // [loss_count], drawn up to x
    int loss_count;
    double x;  // the place of this frame on the curves
} FilmFrame;

typedef struct FilmPlan {
    int cell, small;       // pixels of a cell, of the large map and of the heads'
    int left, top;         // of the large map's cells on the page
    int heads_x, columns;  // left edge of the heads' maps, and the number in a row
    int head_width, head_height;
    int width, height;
    Chart chart;
} FilmPlan;

/* plan (=) a layout that fits all frames. The curves end at the last frame's x. */
bool film_plan(FilmPlan *plan, const FilmFrame *frames, int count, Theme theme, Error *error);

/* Draws a frame. Free *page with canvas_free, even if it fails. */
bool film_draw(Canvas **page, const FilmPlan *plan, const FilmFrame *frame, Theme theme,
               Error *error);
