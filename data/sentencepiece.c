/* sentencepiece.c -- the bytes of a SentencePiece model: read without trusting them, and rewritten.
 *
 * A model is a protocol buffer message (sentencepiece_model.proto). These fields are used:
 *
 *     1  piece, any number    1  its text   2  its score   3  its type (PieceType)
 *     2  trainer_spec         3  model_type: 1 unigram, 2 bpe, 3 word, 4 char   35  byte_fallback
 *                            40  unk_id  41  bos_id  42  eos_id  43  pad_id  44  unk_surface
 *                            47  eos_piece
 *     3  normalizer_spec      2  precompiled_charsmap (below)   3  add_dummy_prefix
 *                             4  remove_extra_whitespaces
 *     4  self_test_data       texts that the library encodes when it loads the model
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
 * value is the start of a string, of at most MAX_OUTPUT bytes: a text grows no more than that.
 *
 * SentencePiece's default order is <unk> 0, <s> 1, </s> 2. Here it is </s> 0, <unk> 1, as in
 * MarianMT. Rewriting a model once, instead of mapping ids at every use, keeps all models in
 * checkpoints of one kind. The tokens of a text depend on the texts and scores of the pieces,
 * not on their order. The trainer_spec repeats what the pieces say: a second one, which protocol
 * buffers merge with the first, agrees with them. */
#include "data/sentencepiece.h"

#include "base/grow.h"
#include "base/packed.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PIECE = 1 << 16,  // bytes
    MAX_NESTED = 64,      // user-defined pieces of which one begins with another
    MAX_DEPTH = 128,      // bytes of the longest text a rule replaces
    MAX_MATCHES = 31,     // rules of which one begins with another
    MAX_OUTPUT = 256,     // bytes of the longest text that a rule or <unk> becomes
};

enum { PIECE = 1, TRAINER, NORMALIZER, SELF_TEST, DENORMALIZER };  // fields of a model
enum { PIECE_TEXT = 1, PIECE_SCORE, PIECE_TYPE };                  // of a piece
enum { MODEL_TYPE = 3, BYTE_FALLBACK = 35, EOS_PIECE = 47 };       // of a trainer_spec
enum { UNK_ID = 40, BOS_ID, EOS_ID, PAD_ID, UNK_SURFACE };         // also
enum { UNIGRAM = 1, CHAR = 4 };                                    // the first and last type
enum { CHARSMAP = 2, PREFIX, COLLAPSES };                          // of a normaliser

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

const char *charsmap_longest(Bytes charsmap, size_t *replaced, const char *text, size_t length)
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
        if (field.number != MODEL_TYPE) continue;
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
        if (field.number == PREFIX) normalizer->prefix = field.value;
        if (field.number == COLLAPSES) normalizer->collapses = field.value;
        if (field.number != CHARSMAP) continue;
        if (!charsmap_rules(field.bytes, NULL, NULL, error)) return false;
        normalizer->charsmap = field.bytes;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const Bytes *x = &((const Piece *)a)->text, *y = &((const Piece *)b)->text;
    int order = memcmp(x->at, y->at, x->count < y->count ? x->count : y->count);
    return order ? order : (x->count > y->count) - (x->count < y->count);
}

/* Fails if a text can begin with more than MAX_NESTED user-defined pieces. In the order of
 * their texts, the pieces that a piece begins with are the stack own[0..depth) below it. */
static bool check_nesting(const Pieces *pieces, Error *error)
{
    Piece *own = malloc((size_t)pieces->count * sizeof *own);
    size_t count = 0;
    int depth = 0;
    if (!own) return error_memory(error, "for %d pieces", pieces->count);
    for (int i = 0; i < pieces->count; i++)
        if (pieces->piece[i].type == PIECE_USER_DEFINED) own[count++] = pieces->piece[i];
    qsort(own, count, sizeof *own, by_text);
    for (size_t i = 0; i < count && depth <= MAX_NESTED; i++) {
        Bytes text = own[i].text;
        while (depth > 0 &&
               (own[depth - 1].text.count > text.count ||
                memcmp(own[depth - 1].text.at, text.at, own[depth - 1].text.count)))
            depth--;
        own[depth++].text = text;
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
        if (field.number == SELF_TEST && field.bytes.count > MAX_PIECE)
            return error_set(error, "its self-test is too long");
        if ((field.number == PIECE && !read_piece(pieces, field.bytes, error)) ||
            (field.number == TRAINER && !read_trainer(pieces, field.bytes, error)) ||
            (field.number == NORMALIZER &&
             !read_normalizer(&pieces->normalizer, field.bytes, error)) ||
            (field.number == DENORMALIZER &&
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

/* ---- rewriting a model ---- */

static const char END[] = "</s>", SURFACE[] = "⁇";

static void put_piece(Message *out, const char *text, PieceType type)
{
    Message piece = {0};
    protobuf_put_bytes(&piece, PIECE_TEXT, text, strlen(text));
    protobuf_put_varint(&piece, PIECE_TYPE, type);
    protobuf_put_message(out, PIECE, &piece);
}

/* The pieces with the ids 2 .. count-1, and then those that have none. Sorts `pieces`. */
static void put_ordered(Message *out, Pieces *pieces, const char *const *piece, int count)
{
    qsort(pieces->piece, (size_t)pieces->count, sizeof *pieces->piece, by_text);
    for (int id = ID_UNKNOWN + 1; id < count - 1; id++) {
        Piece key = {.text = {(const unsigned char *)piece[id], strlen(piece[id])}};
        Piece *found = bsearch(&key, pieces->piece, (size_t)pieces->count, sizeof key, by_text);
        bool tag = !strncmp(piece[id], ">>", 2) && key.text.count > 4 &&
                   !strcmp(piece[id] + key.text.count - 2, "<<");
        if (found && !tag && found->type != PIECE_CONTROL && found->type != PIECE_UNKNOWN)
            protobuf_put_bytes(out, PIECE, found->message.at, found->message.count);
        else put_piece(out, piece[id], PIECE_UNUSED);
        if (found && found->type != PIECE_UNKNOWN) found->type = PIECE_CONTROL;  // is done
    }
    put_piece(out, piece[count - 1], PIECE_CONTROL);
}

/* The unknown piece, or all others that a text can contain. */
static void put_pieces(Message *out, const Pieces *pieces, bool unknown)
{
    for (int i = 0; i < pieces->count; i++) {
        const Piece *piece = &pieces->piece[i];
        if (piece->type != PIECE_CONTROL && (piece->type == PIECE_UNKNOWN) == unknown)
            protobuf_put_bytes(out, PIECE, piece->message.at, piece->message.count);
    }
}

/* The fields of a model except its pieces, and a second trainer_spec, unless there is one already. */
static void put_fields(Message *out, Bytes model)
{
    const uint64_t none = UINT64_MAX;  // -1
    Message spec = {0};
    protobuf_put_varint(&spec, UNK_ID, ID_UNKNOWN);
    protobuf_put_varint(&spec, BOS_ID, none);
    protobuf_put_varint(&spec, EOS_ID, ID_END);
    protobuf_put_varint(&spec, PAD_ID, none);
    protobuf_put_bytes(&spec, UNK_SURFACE, SURFACE, strlen(SURFACE));
    protobuf_put_bytes(&spec, EOS_PIECE, END, strlen(END));
    for (Field field; model.count > 0;) {
        const unsigned char *at = model.at;
        protobuf_field(&model, &field);
        bool second =
            field.bytes.count == spec.count && !memcmp(field.bytes.at, spec.bytes, spec.count);
        if (field.number != PIECE && !second)
            protobuf_put_fields(out, at, (size_t)(model.at - at));
    }
    protobuf_put_message(out, TRAINER, &spec);
}

/* Whether a model is as tokenizer_train makes them: </s> is the first piece, <unk> the second, no
 * other is of their types, and an unknown word is decoded as SURFACE, perhaps after a space. */
static bool is_own(const Pieces *pieces)
{
    Bytes text = pieces->unknown_surface;
    for (int i = 0; i < pieces->count; i++)
        if ((pieces->piece[i].type == PIECE_CONTROL) != (i == ID_END) ||
            (pieces->piece[i].type == PIECE_UNKNOWN) != (i == ID_UNKNOWN))
            return false;
    if (text.count > 0 && *text.at == ' ') text.at++, text.count--;
    return text.count == strlen(SURFACE) && !memcmp(text.at, SURFACE, text.count);
}

bool pieces_adopt(Message *out, const void *model, size_t size, const char *const *piece,
                  int count, Error *error)
{
    Pieces pieces;
    *out = (Message){0};
    if (!pieces_read(&pieces, model, size, error)) return false;
    if (!piece && is_own(&pieces)) protobuf_put_fields(out, model, size);
    else {
        put_fields(out, (Bytes){model, size});
        put_piece(out, END, PIECE_CONTROL);
        put_pieces(out, &pieces, true);
        if (piece) put_ordered(out, &pieces, piece, count);
        put_pieces(out, &pieces, false);
    }
    pieces_free(&pieces);
    return !out->failed || error_memory(error, "for its pieces");
}
