/* schedule.h -- learning-rate schedules. */
#ifndef TRAINING_SCHEDULE_H
#define TRAINING_SCHEDULE_H

typedef enum {
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_COSINE,
    SCHEDULE_LINEAR,
    SCHEDULE_CONSTANT
} Schedule;

/* The learning rate of `update`, 1, 2, …. Cosine and linear decay reach 0 at update `last`;
 * with last = 0 they stay at the peak. */
double schedule_rate(Schedule schedule, double peak, long long update, int warmup,
                     long long last);

#endif
