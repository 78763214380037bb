/* textmap.c -- texts to numbers; see textmap.h. */
#include "data/toy/textmap.h"

#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* The slot of a text, or the empty one where it would go. */
static size_t place(const TextMap *map, const char *text, size_t length)
{
    size_t at = hash_folded(hash_bytes(HASH_START, text, length)) & (map->slots - 1);
    for (;; at = (at + 1) & (map->slots - 1)) {
        uint32_t number = map->slot[at];
        if (number == TEXTMAP_NONE) return at;
        const char *there = map->bytes + map->start[number];
        if (map->start[number + 1] - map->start[number] == length &&
            memcmp(there, text, length) == 0) {
            return at;
        }
    }
}

/* Twice as many slots. */
static bool more_slots(TextMap *map, Error *error)
{
    size_t slots = map->slots ? 2 * map->slots : 256;
    uint32_t *slot = malloc(slots * sizeof *slot);
    if (!slot) return error_set(error, "not enough memory for %u texts", map->count);
    memset(slot, 0xff, slots * sizeof *slot);
    free(map->slot);
    map->slot = slot, map->slots = slots;
    for (uint32_t i = 0; i < map->count; i++) {
        size_t length;
        const char *text = textmap_text(map, i, &length);
        slot[place(map, text, length)] = i;
    }
    return true;
}

uint32_t textmap_find(const TextMap *map, const char *text, size_t length)
{
    return map->slots ? map->slot[place(map, text, length)] : TEXTMAP_NONE;
}

bool textmap_add(TextMap *map, uint32_t *number, const char *text, size_t length, Error *error)
{
    *number = textmap_find(map, text, length);
    if (*number != TEXTMAP_NONE) return true;
    size_t at = map->count ? map->start[map->count] : 0;
    if (2 * ((size_t)map->count + 1) > map->slots && !more_slots(map, error)) return false;
    if (map->count == TEXTMAP_NONE - 1 || !GROW(map->bytes, map->bytes_room, at + length + 1) ||
        !GROW(map->start, map->start_room, (size_t)map->count + 2)) {
        return error_set(error, "not enough memory for %u texts", map->count);
    }
    *number = map->count++;
    memcpy(map->bytes + at, text, length);
    map->start[*number] = at;
    map->start[*number + 1] = at + length;
    map->slot[place(map, text, length)] = *number;
    return true;
}

const char *textmap_text(const TextMap *map, uint32_t number, size_t *length)
{
    *length = map->start[number + 1] - map->start[number];
    return map->bytes + map->start[number];
}

void textmap_free(TextMap *map)
{
    free(map->bytes);
    free(map->start);
    free(map->slot);
    *map = (TextMap){0};
}
