/* shares.h -- which parts of the work (base/profile.h) the workers' time went to. */
#ifndef BENCHMARK_SHARES_H
#define BENCHMARK_SHARES_H

#include "base/profile.h"
#include "base/workers.h"

/* seconds [PROFILE_PARTS] (+=) what all workers' clocks counted since they were last read. */
void shares_read(double seconds[PROFILE_PARTS], Workers *workers);
void shares_forget(Workers *workers);  // reads them for nothing

/* share [PROFILE_PARTS] (=) of all seconds, sum 1. */
void shares_of(double share[PROFILE_PARTS], const double seconds[PROFILE_PARTS]);

#endif
