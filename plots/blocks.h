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

/* Whether a stream is a terminal that says that it has 24-bit colours (COLORTERM), and NO_COLOR
 * (no-color.org) is not set. */
bool blocks_colored(FILE *out);

/* Prints the map, which must have labels. In a causal one, masked cells are blank. */
void blocks_print(FILE *out, const HeatMap *map, bool colored);

/* A bar of `width` columns at p = 1, and a space before it unless it is empty. */
void blocks_bar(FILE *out, double p, int width);
