/* shares.c -- every thread reads its own clock; see shares.h. */
#include "benchmark/shares.h"

#include <pthread.h>

static void read_clock(void *seconds, int number)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)number;
    pthread_mutex_lock(&lock);
    parts_read(seconds);
    pthread_mutex_unlock(&lock);
}

void shares_read(double seconds[PARTS], Workers *workers)
{
    workers_run(workers, read_clock, seconds);
}

void shares_forget(Workers *workers)
{
    double unused[PARTS] = {0};
    shares_read(unused, workers);
}

void shares_of(double share[PARTS], const double seconds[PARTS])
{
    double total = 0;
    for (int p = 0; p < PARTS; p++) total += seconds[p];
    for (int p = 0; p < PARTS; p++) share[p] = seconds[p] / total;
}
