/* schedule.c -- learning-rate schedules: a linear warm-up to the peak, then a decay.
 *
 *   linear warm-up             peak · u / w                  for updates u <= w
 *   inverse square root decay  peak · √(w / u)               Vaswani et al. 2017, §5.3
 *   cosine decay               peak · (1 + cos(π x)) / 2     Loshchilov and Hutter 2017
 *   linear decay               peak · (1 - x)
 *   constant                   peak
 *
 * with x = (u - w) / (last - w), from 0 to 1. In the inverse square root, w is at least 1. */
#include "training/schedule.h"

#include <math.h>

double schedule_rate(Schedule schedule, double peak, long long update, int warmup,
                     long long last)
{
    double u = (double)update, w = warmup;
    if (u < w) return peak * u / w;
    double x = last > warmup ? fmin(1, (u - w) / ((double)last - w)) : 0;
    switch (schedule) {
    case SCHEDULE_INVERSE_SQRT: return peak * sqrt(fmax(w, 1) / u);
    case SCHEDULE_COSINE: return peak * (1 + cos(3.141592653589793 * x)) / 2;
    case SCHEDULE_LINEAR: return peak * (1 - x);
    case SCHEDULE_CONSTANT: break;
    }
    return peak;
}
