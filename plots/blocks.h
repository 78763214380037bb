/* blocks.h -- a heat map in a terminal: coloured cells with numbers in them, or numbers alone.
 *
 *               jane visits africa  </s>
 *         jane   .97    .01    .00   .02
 *       visite   .01    .95    .01   .03
 *
 * A map with more columns than a line holds continues below, with its row labels again. */
#ifndef PLOTS_BLOCKS_H
#define PLOTS_BLOCKS_H

#include "plots/heatmap.h"

#include <stdio.h>

typedef enum {
    BLOCKS_PLAIN,      // numbers, no escape sequences
    BLOCKS_256,        // the colour cube that every colour terminal has
    BLOCKS_TRUECOLOR,  // 24 bits
} BlocksColor;

/* What a stream can show: plain unless it is a terminal and NO_COLOR (no-color.org) is not set. */
BlocksColor blocks_color(FILE *out);

/* causal: cells right of the diagonal are left blank. */
void blocks_print(FILE *out, const HeatMap *map, bool causal, BlocksColor color);

#endif
