/* sentencepiece.c -- the bytes of a SentencePiece model.
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
 * value is the start of a string, of at most MAX_OUTPUT bytes: a text grows no more than that. */
#include "data/sentencepiece.h"

#include "base/grow.h"
#include "base/utf8.h"

enum {
    MAX_PIECE = 1 << 16,  // bytes
    MAX_NESTED = 64,      // user-defined pieces of which one begins with another
    MAX_DEPTH = 128,      // bytes of the longest text a rule replaces
    MAX_MATCHES = 31,     // rules of which one begins with another
    MAX_OUTPUT = 256,     // bytes of the longest text that a rule or <unk> becomes
};

enum { UNIGRAM = 1, CHAR = 4 };  // the first and last type

/* ---- fields ---- */

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

bool protobuf_field(Bytes *from, Field *field)
{
    uint64_t tag, length;
    Bytes passed;
    *field = (Field){0};
    if (!take_varint(from, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    field->number = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0: return take_varint(from, &field->value);
    case 1: return take_bytes(from, &passed, 8);
    case 2: return take_varint(from, &length) && take_bytes(from, &field->bytes, length);
    case 5: return take_bytes(from, &passed, 4) && memcpy(&field->real, passed.at, 4);
    default: return false;
    }
}

/* ---- the normalisation table ---- */

/* What is known of a state, or of a unit. */
typedef struct Reach {
    int32_t edge;  // the first unit that is an edge of this state, or -1
    int32_t next;  // the next edge of the same state as unit of this number, or -1
    bool done;
    uint8_t depth, matches;  // the most bytes, and the most rules, on one path from it
} Reach;

typedef struct Charsmap {
    const unsigned char *unit;  // [units] of 4 bytes
    uint32_t units;
    const char *string;
    size_t size;         // bytes of all strings
    Reach *reach;        // [units]
    CharsmapRule *rule;  // called for each rule; or NULL
    void *context;
    char from[MAX_DEPTH + 2];  // the path to a state
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
    return map->string[map->size - 1] == 0;
}

/* Checks a state and all states that can be reached from it, and calls the rule for each leaf. A path
 * with a cycle becomes too deep. */
static bool walk(Charsmap *map, uint32_t state, int depth)
{
    if (depth > MAX_DEPTH || (state | 255) >= map->units) return false;
    Reach *here = &map->reach[state];
    if (here->done && !map->rule) return true;
    for (int32_t j = here->edge; j >= 0; j = map->reach[j].next) {
        uint32_t unit = unit_at(map, (uint32_t)j), to = (uint32_t)j ^ offset(unit);
        map->from[depth] = (char)unit;
        if (!walk(map, to, depth + 1)) return false;
        if (has_leaf(unit)) {
            uint32_t value = unit_at(map, to) & 0x7fffffffu;
            if (value >= map->size || (value > 0 && map->string[value - 1] != 0) ||
                strnlen(map->string + value, MAX_OUTPUT + 1) > MAX_OUTPUT)
                return false;
            map->from[depth + 1] = 0;
            if (map->rule) map->rule(map->context, map->from, map->string + value);
        }
        int further = map->reach[to].depth + 1,
            matches = map->reach[to].matches + has_leaf(unit);
        if (further > MAX_DEPTH || matches > MAX_MATCHES) return false;
        if (further > here->depth) here->depth = (uint8_t)further;
        if (matches > here->matches) here->matches = (uint8_t)matches;
    }
    return here->done = true;
}

bool charsmap_rules(Bytes charsmap, void *context, CharsmapRule *rule, Error *error)
{
    Charsmap map = {.context = context, .rule = rule};
    if (charsmap.count == 0) return true;
    if (!parse_charsmap(&map, charsmap) || !utf8_is_valid(map.string, map.size, NULL))
        return error_set(error, "its normalisation table is broken");
    Reach *reach = map.reach = malloc(map.units * sizeof *reach);
    if (!reach) return error_set(error, "out of memory");
    for (uint32_t i = 0; i < map.units; i++) reach[i] = (Reach){.edge = -1, .next = -1};
    for (uint32_t j = 0; j < map.units; j++) {
        uint32_t unit = unit_at(&map, j), state = j ^ (unit & 0xff);
        if (unit >> 31 || state >= map.units) continue;
        reach[j].next = reach[state].edge;
        reach[state].edge = (int32_t)j;
    }
    bool good = walk(&map, offset(unit_at(&map, 0)), 0);
    free(reach);
    return good || error_set(error,
                             "its normalisation table is broken, or a text becomes more "
                             "than %d bytes by it",
                             MAX_OUTPUT);
}

/* What the longest rule for the beginning of text [length] makes of it, ended by NUL; *replaced (=) the bytes
 * that it replaces. NULL: there is no rule. */
static const char *longest_rule(Bytes charsmap, size_t *replaced, const char *text,
                                size_t length)
{
    Charsmap map;
    const char *found = NULL;
    if (!parse_charsmap(&map, charsmap)) return NULL;
    uint32_t state = offset(unit_at(&map, 0));
    for (size_t i = 0; i < length && text[i]; i++) {
        uint32_t j = state ^ (unsigned char)text[i], unit = unit_at(&map, j);
        if ((unit & 0x800000ffu) != (unsigned char)text[i]) break;  // not an edge
        state = j ^ offset(unit);
        if (!has_leaf(unit)) continue;
        found = map.string + (unit_at(&map, state) & 0x7fffffffu);
        *replaced = i + 1;
    }
    return found;
}

size_t normalizer_first(const Normalizer *rules, const char **to, size_t *count,
                        const char *text, size_t length)
{
    unsigned code;
    size_t replaced;
    const char *other = longest_rule(rules->charsmap, &replaced, text, length);
    if (!other) replaced = (size_t)utf8_next(text, &code);
    if (replaced == 1 && *text & 0x80) other = "\xEF\xBF\xBD";  // no character
    *to = other ? other : text;
    *count = other ? strlen(other) : replaced;
    return replaced;
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
        if (field.number == PIECE_SCORE) piece->score = field.real;
        if (field.number == PIECE_TYPE) piece->type = (PieceType)field.value;
    }
    const char *text = (const char *)piece->text.at;
    size_t length = piece->text.count;
    if (length > 0 && length <= MAX_PIECE && !memchr(text, 0, length) &&
        utf8_is_valid(text, length, NULL))
        return true;
    return error_set(error, "piece %d is not text", pieces->count - 1);
}

static bool read_trainer(Pieces *pieces, Bytes spec, Error *error)
{
    for (Field field; spec.count > 0 && protobuf_field(&spec, &field);) {
        if (field.number == UNK_SURFACE) pieces->unknown_surface = field.bytes;
        if (field.number == BYTE_FALLBACK) pieces->byte_fallback = field.value;
        if (pieces->unknown_surface.count > MAX_OUTPUT)
            return error_set(error, "its text for unknown words is too long");
        if (field.number != TRAINER_TYPE) continue;
        if (field.value < UNIGRAM || field.value > CHAR)
            return error_set(error, "it is of an unknown type");
        pieces->model_type = (int)field.value;
    }
    return true;
}

/* A later field replaces an earlier one. */
static bool read_normalizer(Normalizer *normalizer, Bytes spec, Error *error)
{
    for (Field field; spec.count > 0;) {
        if (!protobuf_field(&spec, &field)) return error_set(error, "it is damaged");
        if (field.number == NORMALIZER_PREFIX) normalizer->prefix = field.value;
        if (field.number == NORMALIZER_COLLAPSES) normalizer->collapses = field.value;
        if (field.number != NORMALIZER_CHARSMAP) continue;
        if (!charsmap_rules(field.bytes, NULL, NULL, error)) return false;
        normalizer->charsmap = field.bytes;
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
 * their texts, the pieces that a piece begins with are the stack own[0..depth) below it. */
static bool check_nesting(const Pieces *pieces, Error *error)
{
    Bytes *own = malloc((size_t)pieces->count * sizeof *own);
    size_t count = 0;
    int depth = 0;
    if (!own) return error_memory(error, "for %d pieces", pieces->count);
    for (int i = 0; i < pieces->count; i++)
        if (pieces->piece[i].type == PIECE_USER_DEFINED) own[count++] = pieces->piece[i].text;
    qsort(own, count, sizeof *own, by_text);
    for (size_t i = 0; i < count && depth <= MAX_NESTED; i++) {
        Bytes text = own[i];
        while (depth > 0 && (own[depth - 1].count > text.count ||
                             memcmp(own[depth - 1].at, text.at, own[depth - 1].count)))
            depth--;
        own[depth++] = text;
    }
    free(own);
    return depth <= MAX_NESTED ||
           error_set(error, "more than %d of its user-defined pieces begin with one another",
                     MAX_NESTED);
}

static bool read_model(Pieces *pieces, Bytes model, Error *error)
{
    for (Field field; model.count > 0;) {
        if (!protobuf_field(&model, &field)) return error_set(error, "it is damaged");
        if (field.number == MODEL_SELF_TEST && field.bytes.count > MAX_PIECE)
            return error_set(error, "its self-test is too long");
        if ((field.number == MODEL_PIECE && !read_piece(pieces, field.bytes, error)) ||
            (field.number == MODEL_TRAINER && !read_trainer(pieces, field.bytes, error)) ||
            (field.number == MODEL_NORMALIZER &&
             !read_normalizer(&pieces->normalizer, field.bytes, error)) ||
            (field.number == MODEL_DENORMALIZER &&
             !read_normalizer(&pieces->denormalizer, field.bytes, error)))
            return false;
    }
    if (pieces->count == 0) return error_set(error, "it has no pieces");
    return check_nesting(pieces, error);
}

bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error)
{
    *pieces =
        (Pieces){.model_type = UNIGRAM, .normalizer = {.prefix = true, .collapses = true}};
    if (read_model(pieces, (Bytes){model, size}, error)) return true;
    pieces_free(pieces);
    return false;
}

void pieces_free(Pieces *pieces)
{
    free(pieces->piece);
    *pieces = (Pieces){0};
}
