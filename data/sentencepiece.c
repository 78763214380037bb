/* sentencepiece.c -- the bytes of a SentencePiece model, read without trusting them.
 *
 * A model is a protocol buffer message (sentencepiece_model.proto). What is looked at:
 *
 *     1  piece, any number    1  its text   3  its type: 1 normal, 2 unknown, 3 control, 6 byte
 *     3  normalizer_spec      2  precompiled_charsmap
 *     5  denormalizer_spec    2  precompiled_charsmap
 *
 * Types 4 (user defined) and 5 (unused) are refused: we make none, and the library's matcher of
 * user-defined symbols overruns a fixed buffer when more than 64 of them are prefixes of a text.
 *
 * A precompiled_charsmap maps strings to strings:
 *
 *     uint32  size of the trie in bytes
 *     uint32  the trie's units (a double array, Darts-clone)
 *     bytes   the strings that are mapped to, each ended by NUL
 *
 * A unit, from the low bit: label (8 bits), has_leaf (1), wide (1), offset (22); in a leaf,
 * bit 31 is set and the other bits are the value, the place of a string. A state is a number b;
 * its edge for byte c is unit j = b ^ c if that unit's label is c, and leads to state
 * j ^ offset(j), whose leaf is the unit of that number. A text is matched from unit 0's state on,
 * without any bounds check; at most 32 matches on one path fit into the library's buffer.
 * Hence: every state that can be reached has all of its 256 places inside the array, no path
 * turns back on itself, none has more than MAX_MATCHES leaves, and every leaf's value is the
 * start of a string. */
#include "data/sentencepiece.h"

#include "data/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MODEL = 1 << 28,  // bytes
    MAX_PIECE = 1 << 16,  // bytes
    MAX_DEPTH = 128,      // bytes of the longest text a rule replaces
    MAX_MATCHES = 31,     // rules of which one begins with another
};

enum { PIECE = 1, NORMALIZER = 3, DENORMALIZER = 5 };   // fields of a model
enum { PIECE_TEXT = 1, PIECE_TYPE = 3, CHARSMAP = 2 };  // of a piece, of a normaliser
enum { TYPE_NORMAL = 1, TYPE_UNKNOWN = 2, TYPE_CONTROL = 3, TYPE_BYTE = 6 };

typedef struct Bytes {
    const unsigned char *at;
    size_t count;
} Bytes;

typedef struct Field {
    uint32_t number;
    uint64_t value;  // of a varint
    Bytes bytes;     // of a string, a byte string or a message; at is NULL for other types
} Field;

static bool take_varint(Bytes *from, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (from->count == 0) return false;
        unsigned char byte = *from->at;
        from->at++, from->count--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static bool take_bytes(Bytes *from, Bytes *taken, uint64_t count)
{
    if (count > from->count) return false;
    *taken = (Bytes){from->at, (size_t)count};
    from->at += count, from->count -= (size_t)count;
    return true;
}

/* The next field of a message that is not at its end. Groups, which no field here is, are
 * refused like anything else that is not a protocol buffer. */
static bool take_field(Bytes *from, Field *field)
{
    uint64_t tag, length;
    Bytes fixed;
    *field = (Field){0};
    if (!take_varint(from, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0: return take_varint(from, &field->value);
    case 1: return take_bytes(from, &fixed, 8);
    case 2: return take_varint(from, &length) && take_bytes(from, &field->bytes, length);
    case 5: return take_bytes(from, &fixed, 4);
    default: return false;
    }
}

typedef struct Charsmap {
    const unsigned char *unit;  // [units] of 4 bytes
    uint32_t units;
    const char *string;
    size_t size;  // bytes of all strings
} Charsmap;

static uint32_t unit_at(const Charsmap *map, uint32_t i)
{
    const unsigned char *b = map->unit + 4 * (size_t)i;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool is_edge(uint32_t unit, unsigned char byte)
{
    return (unit & 0x800000ffu) == byte;
}

static bool has_leaf(uint32_t unit)
{
    return unit >> 8 & 1;
}

static uint32_t offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

static bool charsmap_parse(Charsmap *map, Bytes bytes)
{
    if (bytes.count < 4 + 4) return false;
    uint32_t size = bytes.at[0] | (uint32_t)bytes.at[1] << 8 | (uint32_t)bytes.at[2] << 16 |
                    (uint32_t)bytes.at[3] << 24;
    if (size < 4 || size >= bytes.count - 4) return false;
    map->unit = bytes.at + 4;
    map->units = size / 4;
    map->string = (const char *)bytes.at + 4 + size;
    map->size = bytes.count - 4 - size;
    return map->string[map->size - 1] == 0 && text_is_utf8(map->string, map->size, NULL);
}

/* What is known of a state: how far paths go from it. */
typedef struct Reach {
    int32_t edge;  // the first unit that is an edge of this state, or -1
    int32_t next;  // the next edge of the same state as unit of this number, or -1
    bool done;
    uint8_t depth, matches;
} Reach;

/* Checks a state and all that can be reached from it; a path that turns back on itself becomes
 * too deep. */
static bool state_check(const Charsmap *map, Reach *reach, uint32_t state, int depth)
{
    if (depth > MAX_DEPTH || (state | 255) >= map->units) return false;
    Reach *here = &reach[state];
    if (here->done) return true;
    for (int32_t j = here->edge; j >= 0; j = reach[j].next) {
        uint32_t unit = unit_at(map, (uint32_t)j), to = (uint32_t)j ^ offset(unit);
        if (!state_check(map, reach, to, depth + 1)) return false;
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

static bool charsmap_check(Bytes bytes, Error *error)
{
    static const char *const BROKEN = "its normalisation table is broken";
    if (bytes.count == 0) return true;
    Charsmap map;
    if (!charsmap_parse(&map, bytes)) return error_set(error, "%s", BROKEN);
    Reach *reach = calloc(map.units, sizeof *reach);
    if (!reach) return error_set(error, "out of memory");
    for (uint32_t i = 0; i < map.units; i++) reach[i].edge = reach[i].next = -1;
    for (uint32_t j = 0; j < map.units; j++) {
        uint32_t unit = unit_at(&map, j), state = j ^ (unit & 0xff);
        if (unit >> 31 || state >= map.units) continue;
        reach[j].next = reach[state].edge;
        reach[state].edge = (int32_t)j;
    }
    bool good = state_check(&map, reach, offset(unit_at(&map, 0)), 0);
    free(reach);
    return good ? true : error_set(error, "%s", BROKEN);
}

static bool piece_check(Bytes piece, size_t number, Error *error)
{
    uint64_t type = TYPE_NORMAL;
    for (Field field; piece.count > 0;) {
        if (!take_field(&piece, &field)) return error_set(error, "piece %zu is broken", number);
        if (field.number == PIECE_TYPE) type = field.value;
        if (field.number != PIECE_TEXT || !field.bytes.at) continue;
        if (field.bytes.count == 0 || field.bytes.count > MAX_PIECE ||
            memchr(field.bytes.at, 0, field.bytes.count) ||
            !text_is_utf8((const char *)field.bytes.at, field.bytes.count, NULL)) {
            return error_set(error, "piece %zu is not text", number);
        }
    }
    if (type == TYPE_NORMAL || type == TYPE_UNKNOWN || type == TYPE_CONTROL ||
        type == TYPE_BYTE) {
        return true;
    }
    return error_set(error, "piece %zu is user-defined or unused, which is not supported",
                     number);
}

static bool spec_check(Bytes spec, Error *error)
{
    for (Field field; spec.count > 0;) {
        if (!take_field(&spec, &field)) return error_set(error, "it is damaged");
        if (field.number == CHARSMAP && !charsmap_check(field.bytes, error)) return false;
    }
    return true;
}

bool sentencepiece_check(const void *model, size_t size, Error *error)
{
    if (size > MAX_MODEL) return error_set(error, "it has %zu bytes, more than any has", size);
    Bytes bytes = {model, size};
    size_t pieces = 0;
    for (Field field; bytes.count > 0;) {
        if (!take_field(&bytes, &field)) return error_set(error, "it is damaged");
        bool good = true;
        if (field.number == PIECE) good = piece_check(field.bytes, pieces++, error);
        if (field.number == NORMALIZER || field.number == DENORMALIZER) {
            good = spec_check(field.bytes, error);
        }
        if (!good) return false;
    }
    return pieces > 0 ? true : error_set(error, "it has no pieces");
}

typedef struct Walk {
    Charsmap map;
    char from[MAX_DEPTH + 1];
    void *context;
    void (*rule)(void *context, const char *from, const char *to);
} Walk;

static void walk_rules(Walk *walk, uint32_t state, int depth)
{
    for (uint32_t byte = 1; byte < 256; byte++) {
        uint32_t j = state ^ byte, unit = unit_at(&walk->map, j);
        if (!is_edge(unit, (unsigned char)byte)) continue;
        uint32_t to = j ^ offset(unit);
        walk->from[depth] = (char)byte;
        walk->from[depth + 1] = 0;
        if (has_leaf(unit)) {
            uint32_t value = unit_at(&walk->map, to) & 0x7fffffffu;
            walk->rule(walk->context, walk->from, walk->map.string + value);
        }
        walk_rules(walk, to, depth + 1);
    }
}

bool sentencepiece_rules(const void *model, size_t size, void *context,
                         void (*rule)(void *context, const char *from, const char *to),
                         Error *error)
{
    if (!sentencepiece_check(model, size, error)) return false;
    Bytes bytes = {model, size};
    for (Field field; bytes.count > 0 && take_field(&bytes, &field);) {
        if (field.number != NORMALIZER) continue;
        for (Field inner; field.bytes.count > 0 && take_field(&field.bytes, &inner);) {
            Walk walk = {.context = context, .rule = rule};
            if (inner.number != CHARSMAP || inner.bytes.count == 0) continue;
            if (!charsmap_parse(&walk.map, inner.bytes)) return error_set(error, "no table");
            walk_rules(&walk, offset(unit_at(&walk.map, 0)), 0);
        }
    }
    return true;
}
