/* heatmap.h -- a matrix of numbers in 0..1 as coloured squares.
 *
 * Row labels are at the left, column labels on top (slanted if they are wider than a cell), the
 * title is above, a note below. Cells that are large enough show their number (".94"), unless
 * it rounds to 0. */
#pragma once

#include "plots/canvas.h"
#include "plots/colormap.h"

typedef struct HeatMap {
    const float *weight;               // [rows,columns], 0..1; NaN has a colour of its own
    int rows, columns;                 // at least 1
    const char *const *row_labels;     // [rows], or NULL
    const char *const *column_labels;  // [columns], or NULL
    const char *title;                 // or NULL
    const char *note;                  // below the map, or NULL
    const bool *row_special;           // [rows] labels in grey: special tokens; or NULL
    const bool *column_special;        // [columns] labels and cells in grey, or NULL
    const bool *row_unknown;           // [rows] underlined: not in the vocabulary; or NULL
    const bool *column_unknown;        // [columns] the same
    bool outlined;                     // with a frame: the best map
    const float *row_numbers;          // [rows] between labels and cells, NaN: none; or NULL
    double label_size;                 // pixels; 0: as suits the cells
    int causal;  // c > 0: cells [i,j] with j + c > i + 1 that are exactly 0 are masked: neutral
    bool absent;  // NaN is where there is no number: neutral
} HeatMap;

/* The layout of a map, in pixels. Cell [i,j] begins at x + left + j cell, y + top + i cell and
 * is cell - gap wide and high. */
typedef struct HeatMapPlan {
    int x, y;            // of the map's top left corner on the page; planned as 0
    int width, height;   // of the whole, title and labels included
    int left, top;       // of cell [0,0], from the corner
    int cell;            // from one cell to the next, both ways
    int gap;             // pixels of `cell` left free at its right and bottom: 0 or 1
    int overhang;        // the part of width at the right that only slanted labels use
    double label_size;   // pixels
    double label_space;  // between labels and cells
    int number_width;    // of the row numbers; 0: none
    double number_size;  // 0: no numbers
    int label_step;      // every label_step-th row and column has a label
    double slant;        // of the column labels, degrees; 0: horizontal
} HeatMapPlan;

static inline bool heatmap_masked(const HeatMap *map, int i, int j)
{
    return map->causal && j + map->causal > i + 1 && map->weight[i * map->columns + j] == 0;
}

static inline int larger(int a, int b)
{
    return a > b ? a : b;
}

static inline int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* The layout of a map with cells of `cell` pixels (at least 1). Set x and y before painting. */
HeatMapPlan heatmap_plan(Canvas *canvas, const HeatMap *map, int cell);

/* low, high: the numbers of the first and the last colour; 0, 0: 0 and 1 */
void heatmap_paint(Canvas *canvas, const HeatMapPlan *plan, const HeatMap *map, float low,
                   float high);

/* The text of a cell: ".94", "1.0", "nan". */
void heatmap_number(char text[16], float value);

/* The colour bar from low to high with its top left at (x,y), `width` wide and HEATMAP_BAR_HEIGHT
 * high with its numbers. */
enum { HEATMAP_BAR_HEIGHT = 28 };
void heatmap_bar(Canvas *canvas, int x, int y, int width, float low, float high);
