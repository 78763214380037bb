/* slices.c -- slices of a block, one after the other to whichever thread is free; see slices.h. */
#include "training/slices.h"

#include "base/profile.h"

#include <stdatomic.h>

typedef struct Slices {
    atomic_size_t next;
    size_t end;
    SliceWork *work;
    void *context;
} Slices;

static void take_slices(void *context, int worker)
{
    (void)worker;
    Slices *slices = context;
    ProfilePart before = profile_enter(PROFILE_OPTIMIZER);
    for (size_t begin; (begin = atomic_fetch_add(&slices->next, SLICE)) < slices->end;) {
        size_t left = slices->end - begin;
        slices->work(slices->context, begin, left < SLICE ? left : SLICE);
    }
    profile_leave(before);
}

void slices_run(Workers *workers, size_t begin, size_t end, SliceWork *work, void *context)
{
    if (begin >= end) return;
    Slices slices = {.end = end, .work = work, .context = context};
    atomic_init(&slices.next, begin);
    workers_run(workers, take_slices, &slices);
}
