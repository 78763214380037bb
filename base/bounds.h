/* bounds.h -- a count that stays within its limit. */
#ifndef BASE_BOUNDS_H
#define BASE_BOUNDS_H

static inline int at_most(int count, int limit)
{
    return count < limit ? count : limit;
}

#endif
