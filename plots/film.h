/* film.h -- one picture of attention taking shape: a frame of the animation of a training.
 *
 *     title                                                update 400
 *     says: …                                              loss 0.21
 *     ┌──────────────┐   ┌────┐ ┌────┐
 *     │ mean of the  │   │head│ │head│
 *     │ heads        │   └────┘ └────┘
 *     └──────────────┘   ┌────┐ ┌────┐
 *     loss ────╮_____•__________________ update
 *
 * All frames of a film are equally large, whatever the words of each: the size is planned over all
 * of them first. */
#ifndef PLOTS_FILM_H
#define PLOTS_FILM_H

#include "plots/curves.h"
#include "plots/heatmap.h"

typedef struct FilmFrame {
    const char *title, *subtitle;        // one line each; subtitle may be NULL
    const char *corner, *corner_detail;  // at the top right
    HeatMap mean;                        // the large one
    const HeatMap *heads;                // [head_count], without labels
    int head_count;
    bool numbers;        // in the cells; without, a frame is a quarter of the bytes
    const Series *loss;  // [loss_count], drawn up to x
    int loss_count;
    double x;  // where on the curves this frame is
} FilmFrame;

typedef struct FilmPlan {
    int cell, small;       // pixels of a cell, of the large map and of the heads'
    int left, top;         // of the large map's cells on the page
    int heads_x, columns;  // where the heads begin, and how many stand beside each other
    int head_width, head_height;
    int width, height;
    Chart chart;
} FilmPlan;

/* plan (=) what has room for every frame. The last frame has the whole curves. */
bool film_plan(FilmPlan *plan, const FilmFrame *frames, int count, Theme theme, Error *error);

/* Draws one; *page is for canvas_free. */
bool film_draw(Canvas **page, const FilmPlan *plan, const FilmFrame *frame, Theme theme,
               Error *error);

#endif
