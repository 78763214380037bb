/* schedule.h -- the learning rate of every update. */
#ifndef TRAINING_SCHEDULE_H
#define TRAINING_SCHEDULE_H

typedef enum {
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_COSINE,
    SCHEDULE_LINEAR,
    SCHEDULE_CONSTANT
} Schedule;

/* The rate of update u = 1, 2, …; `last` is the update at which cosine and linear reach 0 (0: not
 * known, and they stay at the peak). */
double schedule_rate(Schedule schedule, double peak, long long update, int warmup,
                     long long last);

#endif
