/* shares.c -- every thread reads its own clock; see shares.h. */
#include "benchmark/shares.h"

#include <pthread.h>

static void read_clock(void *seconds, int number)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)number;
    pthread_mutex_lock(&lock);
    profile_read(seconds);
    pthread_mutex_unlock(&lock);
}

void shares_read(double seconds[PROFILE_PARTS], Workers *workers)
{
    workers_run(workers, read_clock, seconds);
}

void shares_forget(Workers *workers)
{
    double unused[PROFILE_PARTS] = {0};
    shares_read(unused, workers);
}

void shares_of(double share[PROFILE_PARTS], const double seconds[PROFILE_PARTS])
{
    double total = 0;
    for (int p = 0; p < PROFILE_PARTS; p++) total += seconds[p];
    for (int p = 0; p < PROFILE_PARTS; p++) share[p] = seconds[p] / total;
}
