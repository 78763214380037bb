/* shares.h -- which parts of the work (base/parts.h) the workers' time went to. */
#ifndef BENCHMARK_SHARES_H
#define BENCHMARK_SHARES_H

#include "base/parts.h"
#include "base/workers.h"

/* seconds [PARTS] (+=) what all workers' clocks counted since they were last read. */
void shares_read(double seconds[PARTS], Workers *workers);
void shares_forget(Workers *workers);  // reads them for nothing

/* share [PARTS] (=) of all seconds, sum 1. */
void shares_of(double share[PARTS], const double seconds[PARTS]);

#endif
