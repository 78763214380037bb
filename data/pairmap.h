/* pairmap.h -- two numbers to one.
 *
 * A hash table with open addressing (linear probing, at most half full). */
#ifndef DATA_PAIRMAP_H
#define DATA_PAIRMAP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PAIRMAP_NONE UINT32_MAX

typedef struct PairMapEntry {
    uint32_t a, b, value;  // value is PAIRMAP_NONE where the place is empty
} PairMapEntry;

typedef struct PairMap {
    PairMapEntry *entry;  // [size]
    size_t size, count;   // a power of two; how many are in use
} PairMap;

static inline size_t pairmap_hash(uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9E3779B97F4A7C15u;  // 2^64 / the golden ratio
    return (size_t)(h ^ h >> 32);
}

/* PAIRMAP_NONE if it is not there. {0} is an empty map. */
static inline uint32_t pairmap_find(const PairMap *map, uint32_t a, uint32_t b)
{
    if (!map->size) return PAIRMAP_NONE;
    for (size_t at = pairmap_hash(a, b) & (map->size - 1);; at = (at + 1) & (map->size - 1)) {
        const PairMapEntry *e = &map->entry[at];
        if (e->value == PAIRMAP_NONE || (e->a == a && e->b == b)) return e->value;
    }
}

/* A pair that is there already gets the new value. */
bool pairmap_put(PairMap *map, uint32_t a, uint32_t b, uint32_t value, Error *error);
void pairmap_free(PairMap *map);

#endif
