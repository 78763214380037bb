/* charsmap.c -- SentencePiece's normalisation table; see charsmap.h.
 *
 * A precompiled_charsmap maps strings to strings:
 *
 *     uint32  size of the trie in bytes
 *     uint32  the trie's units (a double array, Darts-clone)
 *     bytes   the strings that are mapped to, each ended by NUL
 *
 * A unit, from the low bit: label (8 bits), has_leaf (1), wide (1), offset (22); in a leaf, bit
 * 31 is set and the other bits are the value, the place of a string. A state is a number b; its
 * edge for byte c is unit j = b ^ c if that unit's label is c, and leads to state j ^
 * offset(j), whose leaf is the unit of that number. The library matches a text from unit 0's
 * state on, without any bounds check; at most 32 matches on one path fit into its buffer. So a
 * table is valid if all 256 places of every state that can be reached are inside the array, no
 * path returns to one of its states, none has more than MAX_MATCHES leaves, and every leaf's
 * value is the start of a string. */
#include "data/charsmap.h"

#include "data/text.h"

#include <stdlib.h>

enum {
    MAX_DEPTH = 128,   // bytes of the longest text a rule replaces
    MAX_MATCHES = 31,  // rules of which one begins with another
};

typedef struct Charsmap {
    const unsigned char *unit;  // [units] of 4 bytes
    uint32_t units;
    const char *string;
    size_t size;  // bytes of all strings
} Charsmap;

static uint32_t unit_at(const Charsmap *map, uint32_t i)
{
    return bytes_word(map->unit + 4 * (size_t)i);
}

static bool has_leaf(uint32_t unit)
{
    return unit >> 8 & 1;
}

static uint32_t offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

static bool parse(Charsmap *map, Bytes bytes)
{
    if (bytes.count < 4 + 4) return false;
    uint32_t size = bytes_word(bytes.at);
    if (size < 4 || size >= bytes.count - 4) return false;
    map->unit = bytes.at + 4;
    map->units = size / 4;
    map->string = (const char *)bytes.at + 4 + size;
    map->size = bytes.count - 4 - size;
    return map->string[map->size - 1] == 0 && text_is_utf8(map->string, map->size, NULL);
}

/* What is known of a state: the length of the longest path from it, and the most leaves on
 * one. */
typedef struct Reach {
    int32_t edge;  // the first unit that is an edge of this state, or -1
    int32_t next;  // the next edge of the same state as unit of this number, or -1
    bool done;
    uint8_t depth, matches;
} Reach;

/* Checks a state and all states that can be reached from it. A path with a cycle becomes too
 * deep. */
static bool check_state(const Charsmap *map, Reach *reach, uint32_t state, int depth)
{
    if (depth > MAX_DEPTH || (state | 255) >= map->units) return false;
    Reach *here = &reach[state];
    if (here->done) return true;
    for (int32_t j = here->edge; j >= 0; j = reach[j].next) {
        uint32_t unit = unit_at(map, (uint32_t)j), to = (uint32_t)j ^ offset(unit);
        if (!check_state(map, reach, to, depth + 1)) return false;
        if (has_leaf(unit)) {
            uint32_t value = unit_at(map, to) & 0x7fffffffu;
            if (value >= map->size || (value > 0 && map->string[value - 1] != 0)) return false;
        }
        int further = reach[to].depth + 1, matches = reach[to].matches + has_leaf(unit);
        if (further > MAX_DEPTH || matches > MAX_MATCHES) return false;
        if (further > here->depth) here->depth = (uint8_t)further;
        if (matches > here->matches) here->matches = (uint8_t)matches;
    }
    here->done = true;
    return true;
}

static bool check_table(const Charsmap *map, Reach *reach)
{
    for (uint32_t i = 0; i < map->units; i++) reach[i].edge = reach[i].next = -1;
    for (uint32_t j = 0; j < map->units; j++) {
        uint32_t unit = unit_at(map, j), state = j ^ (unit & 0xff);
        if (unit >> 31 || state >= map->units) continue;
        reach[j].next = reach[state].edge;
        reach[state].edge = (int32_t)j;
    }
    return check_state(map, reach, offset(unit_at(map, 0)), 0);
}

typedef struct RuleWalk {
    const Charsmap *map;
    char from[MAX_DEPTH + 1];
    void *context;
    CharsmapRule *rule;
} RuleWalk;

static void walk_rules(RuleWalk *walk, uint32_t state, int depth)
{
    for (uint32_t byte = 1; byte < 256; byte++) {
        uint32_t j = state ^ byte, unit = unit_at(walk->map, j);
        if ((unit & 0x800000ffu) != byte) continue;  // not an edge of this state
        uint32_t to = j ^ offset(unit);
        walk->from[depth] = (char)byte;
        walk->from[depth + 1] = 0;
        if (has_leaf(unit)) {
            uint32_t value = unit_at(walk->map, to) & 0x7fffffffu;
            walk->rule(walk->context, walk->from, walk->map->string + value);
        }
        walk_rules(walk, to, depth + 1);
    }
}

bool charsmap_read(Bytes table, void *context, CharsmapRule *rule, Error *error)
{
    if (table.count == 0) return true;
    Charsmap map;
    if (!parse(&map, table)) return error_set(error, "its normalisation table is broken");
    Reach *reach = calloc(map.units, sizeof *reach);
    if (!reach) return error_set(error, "out of memory");
    bool good = check_table(&map, reach);
    free(reach);
    if (!good) return error_set(error, "its normalisation table is broken");
    RuleWalk walk = {.map = &map, .context = context, .rule = rule};
    if (rule) walk_rules(&walk, offset(unit_at(&map, 0)), 0);
    return true;
}
