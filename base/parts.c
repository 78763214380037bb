/* parts.c -- where a thread's time goes; see parts.h. */
#include "base/parts.h"

#include "base/clock.h"

const char *const part_names[PARTS] = {"other", "embedding", "linear",  "attention", "loss",
                                       "norm",  "optimizer", "waiting", "encoder",   "search"};

static _Thread_local struct {
    Part part;
    double since;  // seconds; 0 before the first switch
    double spent[PARTS];
} clock_of_thread;

static void turn(Part part)
{
    double now = clock_seconds();
    if (clock_of_thread.since > 0)
        clock_of_thread.spent[clock_of_thread.part] += now - clock_of_thread.since;
    clock_of_thread.since = now;
    clock_of_thread.part = part;
}

Part parts_enter(Part part)
{
    Part before = clock_of_thread.part;
    if (before != PART_ENCODER) turn(part);
    return before;
}

void parts_leave(Part before)
{
    turn(before);
}

void parts_read(double seconds[PARTS])
{
    turn(clock_of_thread.part);
    for (int p = 0; p < PARTS; p++) {
        seconds[p] += clock_of_thread.spent[p];
        clock_of_thread.spent[p] = 0;
    }
}
