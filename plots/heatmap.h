/* heatmap.h -- a matrix of numbers in 0..1 as a picture: one coloured square a cell.
 *
 * Row labels stand at the left, column labels on top (slanted when they are wider than a cell),
 * the title above, a note below; where there is room a cell shows its number (".94"). */
#ifndef PLOTS_HEATMAP_H
#define PLOTS_HEATMAP_H

#include "plots/canvas.h"
#include "plots/colormap.h"

typedef struct HeatMap {
    const float *weight;               // [rows,columns], 0..1; NaN has a colour of its own
    int rows, columns;                 // at least 1
    const char *const *row_labels;     // [rows], or NULL
    const char *const *column_labels;  // [columns], or NULL
    const char *title;                 // or NULL
    const char *note;                  // below the map, or NULL
    const bool *row_marks;             // [rows] labels in grey, or NULL: no words, like </s>
    const bool *column_marks;          // [columns] labels and cells in grey, or NULL
    bool outlined;                     // in a frame of its own colour: the one to look at
} HeatMap;

/* Where everything of a map lies, in pixels. Cell [i,j] begins at x + left + j cell,
 * y + top + i cell and is cell - gap wide and high. */
typedef struct HeatMapPlan {
    int x, y;            // of the map's top left corner on the page; planned as 0
    int width, height;   // of the whole, title and labels included
    int left, top;       // of cell [0,0], from the corner
    int cell;            // from one cell to the next, both ways
    int gap;             // of that, left free at a cell's right and bottom: 0 or 1
    int foot;            // of height, below the last row
    int overhang;        // of width, what only slanted labels use, at the right
    double label_size;   // pixels
    double label_width;  // labels longer than this end in an ellipsis
    double number_size;  // 0: no numbers
    int row_step;        // every row_step-th row has a label
    int column_step;
    double slant;  // of the column labels, degrees; 0: they lie flat
} HeatMapPlan;

/* Plans a map with cells of `cell` pixels (at least 1). */
HeatMapPlan heatmap_plan(Canvas *canvas, const HeatMap *map, int cell);

/* Paints it. causal: cells right of the diagonal that are exactly 0 have the neutral colour, as
 * nothing could be looked at there. */
void heatmap_paint(Canvas *canvas, const HeatMapPlan *plan, const HeatMap *map,
                   const Colormap *colors, bool causal);

/* A cell's number, short: ".94", "1.0", "nan". */
void heatmap_number(char text[16], float value);

/* The bar that says which colour is which number, 0 to 1, width pixels wide, top left at (x,y);
 * HEATMAP_BAR_HEIGHT high, its figures included. */
enum { HEATMAP_BAR_HEIGHT = 28 };
void heatmap_bar(Canvas *canvas, int x, int y, int width, const Colormap *colors);

/* One sentence for what is wrong with a map (no rows, no weights), or true. */
bool heatmap_check(const HeatMap *map, Error *error);

#endif
