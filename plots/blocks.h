/* blocks.h -- a heat map in a terminal: coloured cells with numbers; without colours, shades.
 *
 *                 jane   visits   africa     </s>
 *        jane █████.97      .01               .02
 *      visite      .01 █████.95      .01      .03
 *
 * Weights below .005 are blank. Long labels are cut. Columns that do not fit into a line follow
 * below it, with the row labels repeated. A line is as wide as the terminal; 80 columns
 * elsewhere. */
#pragma once

#include "plots/heatmap.h"

#include <stdio.h>

typedef enum {
    BLOCKS_PLAIN,      // numbers, no escape sequences
    BLOCKS_256,        // xterm's colour cube
    BLOCKS_TRUECOLOR,  // 24 bits
} BlocksColor;

/* The colours that a stream supports: BLOCKS_PLAIN if it is not a terminal or NO_COLOR
 * (no-color.org) is set. */
BlocksColor blocks_color(FILE *out);

/* Prints the map, which must have labels. causal: cells right of the diagonal are left blank. */
void blocks_print(FILE *out, const HeatMap *map, bool causal, BlocksColor color);

/* A bar of `width` columns at p = 1, and a space before it unless it is empty. */
void blocks_bar(FILE *out, double p, int width);
