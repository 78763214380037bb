/* pairmap.c -- two numbers to one; see pairmap.h. */
#include "data/pairmap.h"

#include <stdlib.h>
#include <string.h>

static PairMapEntry *place(const PairMap *map, uint32_t a, uint32_t b)
{
    size_t at = pairmap_hash(a, b) & (map->size - 1);
    while (map->entry[at].value != PAIRMAP_NONE &&
           (map->entry[at].a != a || map->entry[at].b != b)) {
        at = (at + 1) & (map->size - 1);
    }
    return &map->entry[at];
}

static bool larger(PairMap *map, Error *error)
{
    PairMap next = {.size = map->size ? 2 * map->size : 256, .count = map->count};
    next.entry = malloc(next.size * sizeof *next.entry);
    if (!next.entry) return error_set(error, "not enough memory for %zu pairs", map->count);
    memset(next.entry, 0xff, next.size * sizeof *next.entry);
    for (size_t i = 0; i < map->size; i++) {
        const PairMapEntry *e = &map->entry[i];
        if (e->value != PAIRMAP_NONE) *place(&next, e->a, e->b) = *e;
    }
    free(map->entry);
    *map = next;
    return true;
}

bool pairmap_put(PairMap *map, uint32_t a, uint32_t b, uint32_t value, Error *error)
{
    if (2 * (map->count + 1) > map->size && !larger(map, error)) return false;
    PairMapEntry *e = place(map, a, b);
    map->count += e->value == PAIRMAP_NONE;
    *e = (PairMapEntry){a, b, value};
    return true;
}

void pairmap_free(PairMap *map)
{
    free(map->entry);
    *map = (PairMap){0};
}
