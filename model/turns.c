/* turns.c -- an ordered pipeline: one lock and a counter a pass; see turns.h. */
#include "model/turns.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/profile.h"

void turns_init(Turns *turns)
{
    *turns = (Turns){0};
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->moved, NULL);
}

void turns_free(Turns *turns)
{
    pthread_cond_destroy(&turns->moved);
    pthread_mutex_destroy(&turns->lock);
    free(turns->left);
}

bool turns_begin(Turns *turns, int passes, Error *error)
{
    if (!GROW(turns->left, turns->capacity, (size_t)passes))
        return error_set(error, "not enough memory for %d micro-batches", passes);
    memset(turns->left, 0, (size_t)passes * sizeof *turns->left);
    return true;
}

/* Says how many stages a pass has left, and wakes the others. With the lock. */
static void leave(const Turn *turn, int stages)
{
    turn->turns->left[turn->number] = stages;
    pthread_cond_broadcast(&turn->turns->moved);
}

void turn_next(Turn *turn, int stages)
{
    if (!turn) return;
    Turns *turns = turn->turns;
    ProfilePart before = profile_enter(PROFILE_WAITING);
    pthread_mutex_lock(&turns->lock);
    leave(turn, turn->entered);
    turn->entered += stages;
    while (turn->number > 0 && turns->left[turn->number - 1] < turn->entered)
        pthread_cond_wait(&turns->moved, &turns->lock);
    pthread_mutex_unlock(&turns->lock);
    profile_leave(before);
}

void turn_end(Turn *turn)
{
    if (!turn) return;
    pthread_mutex_lock(&turn->turns->lock);
    leave(turn, INT_MAX);
    pthread_mutex_unlock(&turn->turns->lock);
}
