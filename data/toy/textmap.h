/* textmap.h -- texts to numbers: the first one that is added is 0, the next new one 1, …
 *
 * A hash table with open addressing (linear probing, at most half full) over texts that lie one
 * behind the other in one block. */
#ifndef DATA_TOY_TEXTMAP_H
#define DATA_TOY_TEXTMAP_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define TEXTMAP_NONE UINT32_MAX

typedef struct TextMap {
    uint32_t count;
    char *bytes;     // all texts
    size_t *start;   // [count+1] text i is bytes start[i] .. start[i+1]-1
    uint32_t *slot;  // [slots] a number, or TEXTMAP_NONE
    size_t slots, bytes_room, start_room;
} TextMap;

/* {0} is an empty map. */
uint32_t textmap_find(const TextMap *map, const char *text, size_t length);  // or TEXTMAP_NONE

/* *number = that of the text, which is added if it is new (a copy). */
bool textmap_add(TextMap *map, uint32_t *number, const char *text, size_t length, Error *error);

const char *textmap_text(const TextMap *map, uint32_t number, size_t *length);
void textmap_free(TextMap *map);

#endif
