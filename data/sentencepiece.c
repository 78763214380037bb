/* sentencepiece.c -- the bytes of a SentencePiece model, read without trusting them.
 *
 * A model is a protocol buffer message (sentencepiece_model.proto). These fields are read:
 *
 *     1  piece, any number    1  its text   3  its type (PieceType)
 *     2  trainer_spec         3  model_type: 1 unigram, 2 bpe, 3 word, 4 char
 *     3  normalizer_spec      2  precompiled_charsmap (below)
 *     5  denormalizer_spec    2  precompiled_charsmap
 *
 * The library's matcher of user-defined pieces has a buffer for 64 matches at one place of a
 * text and does not check for more. A model that can have more is refused. It also trusts the
 * offsets in a normalisation table: with an offset beyond its end it reads out of bounds.
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
#include "data/sentencepiece.h"

#include "base/grow.h"
#include "data/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PIECE = 1 << 16,  // bytes
    MAX_NESTED = 64,      // user-defined pieces of which one begins with another
    MAX_DEPTH = 128,      // bytes of the longest text a rule replaces
    MAX_MATCHES = 31,     // rules of which one begins with another
};

enum { PIECE = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };  // fields of a model
enum { PIECE_TEXT = 1, PIECE_TYPE = 3 };                            // of a piece
enum { MODEL_TYPE = 3 };                                            // of a trainer_spec
enum { UNIGRAM = 1, CHAR = 4 };                                     // the first and last type
enum { CHARSMAP = 2 };                                              // of a normaliser

/* ---- the normalisation table ---- */

typedef struct Charsmap {
    const unsigned char *unit;  // [units] of 4 bytes
    uint32_t units;
    const char *string;
    size_t size;  // bytes of all strings
} Charsmap;

/* Four bytes as a little-endian number. */
static uint32_t bytes_word(const unsigned char *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

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

static bool parse_charsmap(Charsmap *map, Bytes bytes)
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

/* Fails if an offset leads outside of the table; an empty table is valid. Then, unless rule is
 * NULL, calls rule(context, from, to) for every rule, in the order of from; both are UTF-8
 * ended by NUL. */
static bool read_charsmap(Bytes table, void *context, CharsmapRule *rule, Error *error)
{
    if (table.count == 0) return true;
    Charsmap map;
    if (!parse_charsmap(&map, table))
        return error_set(error, "its normalisation table is broken");
    Reach *reach = calloc(map.units, sizeof *reach);
    if (!reach) return error_set(error, "out of memory");
    bool good = check_table(&map, reach);
    free(reach);
    if (!good) return error_set(error, "its normalisation table is broken");
    RuleWalk walk = {.map = &map, .context = context, .rule = rule};
    if (rule) walk_rules(&walk, offset(unit_at(&map, 0)), 0);
    return true;
}

/* ---- the model ---- */

static bool read_piece(Pieces *pieces, Bytes message, Error *error)
{
    if (!GROW(pieces->piece, pieces->size, (size_t)pieces->count + 1))
        return error_memory(error, "for %d pieces", pieces->count);
    Piece *piece = &pieces->piece[pieces->count++];
    *piece = (Piece){.message = message, .type = PIECE_NORMAL};
    for (Field field; message.count > 0;) {
        if (!protobuf_field(&message, &field) ||
            (field.number == PIECE_TYPE &&
             (field.value < PIECE_NORMAL || field.value > PIECE_BYTE)))
            return error_set(error, "piece %d is broken", pieces->count - 1);
        if (field.number == PIECE_TEXT && field.bytes.at) piece->text = field.bytes;
        if (field.number == PIECE_TYPE) piece->type = (PieceType)field.value;
    }
    const char *text = (const char *)piece->text.at;
    size_t length = piece->text.count;
    if (length > 0 && length <= MAX_PIECE && !memchr(text, 0, length) &&
        text_is_utf8(text, length, NULL))
        return true;
    return error_set(error, "piece %d is not text", pieces->count - 1);
}

static bool read_trainer(Pieces *pieces, Bytes spec, Error *error)
{
    for (Field field; spec.count > 0 && protobuf_field(&spec, &field);) {
        if (field.number != MODEL_TYPE) continue;
        if (field.value < UNIGRAM || field.value > CHAR)
            return error_set(error, "it is of an unknown type");
        pieces->model_type = (int)field.value;
    }
    return true;
}

static bool read_normalizer(Bytes spec, void *context, CharsmapRule *rule, Error *error)
{
    for (Field field; spec.count > 0;) {
        if (!protobuf_field(&spec, &field)) return error_set(error, "it is damaged");
        if (field.number == CHARSMAP && !read_charsmap(field.bytes, context, rule, error))
            return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const Bytes *x = a, *y = b;
    int order = memcmp(x->at, y->at, x->count < y->count ? x->count : y->count);
    return order ? order : (x->count > y->count) - (x->count < y->count);
}

/* Fails if a text can begin with more than MAX_NESTED user-defined pieces. In the order of
 * their texts, the pieces that a piece begins with are the stack below it. */
static bool check_nesting(const Pieces *pieces, Error *error)
{
    Bytes stack[MAX_NESTED], *text = malloc((size_t)pieces->count * sizeof *text);
    size_t count = 0;
    int depth = 0;
    if (!text) return error_memory(error, "for %d pieces", pieces->count);
    for (int i = 0; i < pieces->count; i++)
        if (pieces->piece[i].type == PIECE_USER_DEFINED) text[count++] = pieces->piece[i].text;
    qsort(text, count, sizeof *text, by_text);
    for (size_t i = 0; i < count && depth <= MAX_NESTED; i++) {
        while (depth > 0 &&
               (stack[depth - 1].count > text[i].count ||
                memcmp(stack[depth - 1].at, text[i].at, stack[depth - 1].count) != 0))
            depth--;
        if (depth < MAX_NESTED) stack[depth] = text[i];
        depth++;
    }
    free(text);
    return depth <= MAX_NESTED ||
           error_set(error, "more than %d of its user-defined pieces begin with one another",
                     MAX_NESTED);
}

static bool read_model(Pieces *pieces, Bytes model, Error *error)
{
    for (Field field; model.count > 0;) {
        if (!protobuf_field(&model, &field)) return error_set(error, "it is damaged");
        if ((field.number == PIECE && !read_piece(pieces, field.bytes, error)) ||
            (field.number == TRAINER && !read_trainer(pieces, field.bytes, error)) ||
            ((field.number == NORMALIZER || field.number == DENORMALIZER) &&
             !read_normalizer(field.bytes, NULL, NULL, error)))
            return false;
    }
    if (pieces->count == 0) return error_set(error, "it has no pieces");
    return check_nesting(pieces, error);
}

bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error)
{
    *pieces = (Pieces){.model_type = UNIGRAM};
    if (read_model(pieces, (Bytes){model, size}, error)) return true;
    pieces_free(pieces);
    return false;
}

void pieces_free(Pieces *pieces)
{
    free(pieces->piece);
    *pieces = (Pieces){0};
}

bool sentencepiece_rules(const void *model, size_t size, void *context, CharsmapRule *rule,
                         Error *error)
{
    Bytes bytes = {model, size};
    for (Field field; bytes.count > 0;) {
        if (!protobuf_field(&bytes, &field)) return error_set(error, "it is damaged");
        if (field.number == NORMALIZER && !read_normalizer(field.bytes, context, rule, error))
            return false;
    }
    return true;
}
