/* rate.c -- sums and medians; see rate.h. */
#include "benchmark/rate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double BURST_SHARE = 0.1, SHORTEST_BURST = 0.04;

void rate_begin(RateMeter *meter, Peak *peak, Arithmetic arithmetic, double seconds)
{
    *meter = (RateMeter){.peak = peak, .arithmetic = arithmetic};
    meter->products = peak_products(peak, fmax(SHORTEST_BURST, BURST_SHARE * seconds));
    meter->before = peak_burst(peak, meter->products);
}

void rate_add(RateMeter *meter, double operations, double seconds)
{
    assert(meter->pieces < MOST_PIECES);
    double after = peak_burst(meter->peak, meter->products);
    double inverse = (1 / meter->before + 1 / after) / 2;  // both bursts as one
    meter->share[meter->pieces++] = operations / seconds * inverse;
    meter->operations += operations;
    meter->seconds += seconds;
    meter->inverse += inverse;
    meter->tile_inverse += 1 / peak_tile(meter->peak, meter->arithmetic);
    meter->before = after;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rate_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

Rate rate_end(RateMeter *meter)
{
    Rate rate = {.pieces = meter->pieces, .seconds = meter->seconds};
    rate.flops = meter->operations / meter->seconds;
    rate.peak = meter->pieces / meter->inverse;
    rate.share = rate.flops / rate.peak;
    rate.tile = meter->pieces / meter->tile_inverse;
    rate.share_of_tile = rate.flops / rate.tile;
    rate.share_median = rate_median(meter->share, meter->pieces);
    return rate;
}
