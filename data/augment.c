/* augment.c -- changed pairs; see augment.h.
 *
 * One thread draws which pairs are changed and joined, which takes next to no time. Then all threads
 * change and encode the texts, each pair by its own random numbers. */
#include "data/augment.h"

#include "base/grow.h"
#include "base/real.h"
#include "base/utf8.h"
#include "data/typography.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>

/* A pair that is drawn to be joined takes one or two more with it. */
static const int weights[AUGMENT_KINDS] = {
    [AUGMENT_JOIN] = 15, [AUGMENT_PLACEHOLDERS] = 40, [AUGMENT_UPPER] = 5,
    [AUGMENT_TITLE] = 5, [AUGMENT_NO_STOP] = 20,      [AUGMENT_NOISE] = 15};
static const double SURE = 0.5;  // dice of words that translate each other
enum {
    MOST_JOINED = 3,
    ROOM = 64,  // bytes that a change in place may add
};

/* Replaces `count` bytes. */
static void edit(char *line, size_t at, size_t count, const char *by)
{
    size_t size = strlen(by);
    memmove(line + at + size, line + at + count, strlen(line + at + count) + 1);
    memcpy(line + at, by, size);
}

/* The character before line[*end], where *end moves to. */
static unsigned character_before(const char *line, size_t *end)
{
    unsigned code;
    do --*end;
    while (*end > 0 && ((unsigned char)line[*end] & 0xc0) == 0x80);
    utf8_next(line + *end, &code);
    return code;
}

/* ---- the kinds: each changes the lines of a pair, if it can ---- */

static bool in_case(char *line[SIDES], LetterCase letters, bool *changed, Error *error)
{
    for (int side = 0; side < SIDES; side++) {
        char *out;
        if (!text_in_case(&out, line[side], strlen(line[side]), letters, error)) return false;
        *changed |= strcmp(line[side], out);
        free(line[side]);
        line[side] = out;
    }
    return true;
}

/* Cuts the marks that end a sentence, and spaces, off both sides. */
static bool no_stop(char *line[SIDES])
{
    size_t rest[SIDES];
    for (int side = 0; side < SIDES; side++) {
        size_t end = rest[side] = strlen(line[side]);
        for (; end > 0; rest[side] = end) {
            UChar32 c = (UChar32)character_before(line[side], &end);
            if (!u_hasBinaryProperty(c, UCHAR_S_TERM) && !u_isUWhiteSpace(c)) break;
        }
        if (!rest[side] || !line[side][rest[side]]) return false;
    }
    for (int side = 0; side < SIDES; side++) line[side][rest[side]] = 0;
    return true;
}

/* Swaps two letters, drops one, repeats one, or drops a space. */
static bool noise(char *line, Rng *rng)
{
    enum { SWAP, DROP, REPEAT, TYPES, TRIES = 8 };
    size_t length = strlen(line);
    for (int i = 0; i < TRIES; i++) {
        size_t at = rng_below(rng, (uint32_t)length) + 1;
        unsigned letter = character_before(line, &at), next = 0;
        int first = utf8_next(line + at, &letter);
        int second = line[at + (size_t)first] ? utf8_next(line + at + first, &next) : 0;
        bool word = u_isalpha((UChar32)letter) && u_isalpha((UChar32)next);
        if (!word && (letter != ' ' || !next)) continue;
        int type = word ? (int)rng_below(rng, TYPES) : DROP;
        const char *one = line + at, *two = type == SWAP ? one + first : one;
        char by[16] = "";
        if (type != DROP)
            snprintf(by, sizeof by, "%.*s%.*s", type == SWAP ? second : first, two, first, one);
        edit(line, at, (size_t)(type == SWAP ? first + second : first), by);
        return true;
    }
    return false;
}

/* list [MOST_WORDS] (=) the protected spans of a line, then its other words. */
static bool find_words(Word *list, int *count, const char *line, const Augment *a, Error *error)
{
    Word word[MOST_WORDS];
    Spans spans = {0};
    int words, n = 0;
    if (!dictionary_words(&a->dictionary, word, &words, line, strlen(line), error) ||
        !spans_find(&spans, a->rules, line, strlen(line), NULL, NULL, error))
        return false;
    int names = at_most(spans.count, MOST_WORDS);
    for (; n < names; n++)
        list[n] = (Word){.begin = spans.span[n].begin, .end = spans.span[n].end, .name = true};
    for (int k = 0; k < words && n < MOST_WORDS; k++) {
        bool apart = true;
        for (int i = 0; i < names; i++)
            apart &= word[k].end <= list[i].begin || word[k].begin >= list[i].end;
        if (apart) list[n++] = word[k];
    }
    spans_free(&spans);
    *count = n;
    return true;
}

/* How well words go together: 2 for names that are the same on both sides. A placeholder would hide
 * whether a word was the first, with a capital letter. */
static double likeness(const Augment *a, char *const line[SIDES], const Word *s, const Word *t)
{
    size_t length = s->end - s->begin;
    if (s->name && t->name && length == t->end - t->begin &&
        !memcmp(line[SOURCE] + s->begin, line[TARGET] + t->begin, length))
        return 2;
    return s->first == t->first ? dictionary_dice(&a->dictionary, s, t) : 0;
}

typedef double Table[MOST_WORDS][MOST_WORDS];

/* Whether a number is larger than all others of its row and of its column. */
static bool stands_out(Table x, int i, int j, const int count[SIDES])
{
    for (int k = 0; k < count[SOURCE]; k++)
        if (k != i && x[k][j] >= x[i][j]) return false;
    for (int k = 0; k < count[TARGET]; k++)
        if (k != j && x[i][k] >= x[i][j]) return false;
    return true;
}

typedef struct Match {
    Word word[SIDES];
} Match;

/* by (=) one of the placeholders that are not used yet */
static void draw_placeholder(char by[6], unsigned *used, Rng *rng)
{
    uint32_t number;
    do number = rng_below(rng, PLACEHOLDERS);
    while (*used >> number & 1);
    *used |= 1u << number;
    snprintf(by, 6, "<ph%c>", (int)('1' + number));
}

/* Puts a placeholder in place of a random match. */
static void put_placeholder(char *line[SIDES], Match *match, int *matches, unsigned *used,
                            Rng *rng)
{
    uint32_t k = rng_below(rng, (uint32_t)*matches);
    char by[6];
    draw_placeholder(by, used, rng);
    Match at = match[k];
    match[k] = match[--*matches];
    for (int side = 0; side < SIDES; side++) {
        size_t begin = at.word[side].begin, size = at.word[side].end - begin;
        edit(line[side], begin, size, by);
        for (int i = 0; i < *matches; i++)
            if (match[i].word[side].begin > begin)
                match[i].word[side].begin += strlen(by) - size,
                    match[i].word[side].end += strlen(by) - size;
    }
}

/* Puts two placeholders around a random match, as tags stand around a word. */
static void put_tags(char *line[SIDES], const Match *match, int matches, Rng *rng)
{
    char by[2][6];
    unsigned used = 0;
    const Word *word = match[rng_below(rng, (uint32_t)matches)].word;
    for (int i = 0; i < 2; i++) draw_placeholder(by[i], &used, rng);
    for (int side = 0; side < SIDES; side++) {
        edit(line[side], word[side].end, 0, by[1]);
        edit(line[side], word[side].begin, 0, by[0]);
    }
}

/* Names that are once on each side become placeholders: one, in 20 % of the pairs with more two,
 * in 10 % three. Without names, two words that translate each other do. In a quarter of the pairs,
 * placeholders stand around one of them. */
static bool placeholders(const Augment *a, char *line[SIDES], bool *changed, Rng *rng,
                         Error *error)
{
    Word word[SIDES][MOST_WORDS];
    Match match[MOST_WORDS];
    Table x;
    int count[SIDES], matches = 0;
    bool names = false;
    unsigned used = 0;
    for (int side = 0; side < SIDES; side++)
        if (!find_words(word[side], &count[side], line[side], a, error)) return false;
    for (int i = 0; i < count[SOURCE]; i++)
        for (int j = 0; j < count[TARGET]; j++)
            x[i][j] = likeness(a, line, &word[SOURCE][i], &word[TARGET][j]);
    for (int i = 0; i < count[SOURCE]; i++)
        for (int j = 0; j < count[TARGET]; j++) {
            bool name = x[i][j] > 1;
            if (x[i][j] < SURE || (names && !name) || !stands_out(x, i, j, count)) continue;
            if (name && !names) names = true, matches = 0;
            match[matches++] = (Match){{word[SOURCE][i], word[TARGET][j]}};
        }
    uint32_t draw = rng_below(rng, 10);
    *changed = matches;
    if (matches && !rng_below(rng, 4)) return put_tags(line, match, matches, rng), true;
    for (int wanted = !names || draw > 2 ? 1 : draw > 0 ? 2 : 3; wanted && matches; wanted--)
        put_placeholder(line, match, &matches, &used, rng);
    return true;
}

/* ---- an update ---- */

/* One of the kinds in a sum of 1 << kind, by their weights. */
static AugmentKind draw_kind(Rng *rng, unsigned sum)
{
    int all = 0, k = -1;
    for (int i = 0; i < AUGMENT_KINDS; i++) all += sum >> i & 1 ? weights[i] : 0;
    for (int at = (int)rng_below(rng, (uint32_t)all); at >= 0;)
        if (sum >> ++k & 1) at -= weights[k];
    return (AugmentKind)k;
}

/* Draws whether the first of the pairs is changed, and how many are joined. */
static AugmentItem draw(const Augment *a, const PairIds *pair, int left, uint64_t epoch)
{
    AugmentItem item = {.pairs = 1, .kind = AUGMENT_KINDS, .result = *pair};
    item.rng = rng_stream(a->seed, RNG_AUGMENT, epoch << 32 | pair->number);
    if (rng_uniform(&item.rng) >= a->share) return item;
    item.kinds = a->kinds & ~(1u << AUGMENT_JOIN);
    if (draw_kind(&item.rng, a->kinds) != AUGMENT_JOIN) return item;
    int most = at_most(2 + (int)rng_below(&item.rng, MOST_JOINED - 1), left);
    int length[SIDES] = {pair->length[SOURCE], pair->length[TARGET]};
    for (; item.pairs < most; item.pairs++)
        for (int side = 0; side < SIDES; side++) {
            length[side] += pair[item.pairs].length[side] - 1;
            if (length[side] > a->max_length) return item;
        }
    return item;
}

/* Whether no space follows a sentence: it ends in a Chinese or Japanese character. */
static bool without_space(const char *line, size_t end)
{
    unsigned c = end ? character_before(line, &end) : ' ';
    return c == ' ' || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xff00 && c < 0xffa0) ||
           (c >= 0x20000 && c < 0x40000);
}

/* line (=) the text of a side, with that of the pairs that are joined. */
static bool read_line(char **line, const Augment *a, const AugmentItem *item, CorpusSide side,
                      Error *error)
{
    size_t size = ROOM, length, at = 0;
    for (int i = 0; i < item->pairs; size += length + 1, i++)
        corpus_sentence(a->text, side, a->pair[item->first + i].number, &length);
    char *to = *line = malloc(size);
    if (!to) return error_memory(error, "to change sentences");
    for (int i = 0; i < item->pairs; at += length, i++) {
        const char *from =
            corpus_sentence(a->text, side, a->pair[item->first + i].number, &length);
        to[at] = 0;
        if (!without_space(to, at)) to[at++] = ' ';
        memcpy(to + at, from, length);
    }
    to[at] = 0;
    return true;
}

static bool change(char *line[SIDES], bool *changed, const Augment *a, AugmentItem *item,
                   Error *error)
{
    switch (item->kind) {
    case AUGMENT_PLACEHOLDERS: return placeholders(a, line, changed, &item->rng, error);
    case AUGMENT_UPPER: return in_case(line, CASE_UPPER, changed, error);
    case AUGMENT_TITLE: return in_case(line, CASE_TITLE, changed, error);
    case AUGMENT_NO_STOP: return *changed = no_stop(line), true;
    case AUGMENT_NOISE: return *changed = noise(line[SOURCE], &item->rng), true;
    default: return *changed = true;  // they are joined already
    }
}

/* result (=) the ids of a line. *fits (=) false: it has too many, or none, or a letter that the
 * vocabulary lacks as a capital. */
static bool encode(PairIds *result, bool *fits, const Augment *a, size_t number,
                   CorpusSide side, const char *line, Error *error)
{
    Ids ids = {0};
    size_t most = (size_t)a->max_length;
    int32_t *to = a->id + (number * SIDES + side) * most;
    bool good =
        tokenizer_encode(a->vocabulary->tokenizer[side], &ids, line, strlen(line), error);
    int unknown = 0;
    for (size_t i = 0; i < ids.count; i++) unknown += ids.id[i] == ID_UNKNOWN;
    for (int i = 0; i < result->length[side]; i++) unknown -= result->id[side][i] == ID_UNKNOWN;
    *fits =
        good && ids.count && ids.count < most && (unknown <= 0 || a->item[number].pairs > 1);
    if (*fits) {
        memcpy(to, ids.id, ids.count * sizeof *to);
        to[ids.count] = ID_END;
        result->id[side] = to;
        result->length[side] = (int)ids.count + 1;
    }
    free(ids.id);
    return good;
}

/* Changes the texts of an item, and sets its result. */
static bool try_kind(Augment *a, size_t number, AugmentKind kind, bool *changed, Error *error)
{
    AugmentItem *item = &a->item[number];
    char *line[SIDES] = {NULL};
    PairIds result = item->result;
    item->kind = kind;
    bool good =
        read_line(&line[SOURCE], a, item, SOURCE, error) &&
        read_line(&line[TARGET], a, item, TARGET, error) &&
        change(line, changed, a, item, error) &&
        (!*changed || encode(&result, changed, a, number, SOURCE, line[SOURCE], error)) &&
        (!*changed || kind == AUGMENT_NOISE ||
         encode(&result, changed, a, number, TARGET, line[TARGET], error));
    if (kind != AUGMENT_NOISE) result.number = PAIR_CHANGED;
    if (good && *changed) item->result = result;
    else item->kind = AUGMENT_KINDS;
    for (int side = 0; side < SIDES; side++) free(line[side]);
    return good;
}

/* Tries the kinds, in a random order by their weights, until one is possible. */
static bool change_item(void *context, size_t number, int worker, Error *error)
{
    Augment *a = context;
    AugmentItem *item = &a->item[number];
    bool changed = false;
    (void)worker;
    if (item->pairs > 1) return try_kind(a, number, AUGMENT_JOIN, &changed, error);
    while (item->kinds && !changed) {
        AugmentKind kind = draw_kind(&item->rng, item->kinds);
        item->kinds &= ~(1u << kind);
        if (!try_kind(a, number, kind, &changed, error)) return false;
    }
    return true;
}

bool augment_update(Augment *a, PairIds *pair, int *count, uint64_t epoch, Error *error)
{
    size_t items = 0, pairs = (size_t)*count;
    int results = 0;
    if (!GROW(a->item, a->item_size, pairs) ||
        !GROW(a->id, a->id_size, pairs * SIDES * (size_t)a->max_length))
        return error_memory(error, "to change sentences");
    a->pair = pair;
    for (int i = 0; i < *count; i += a->item[items++].pairs) {
        a->item[items] = draw(a, pair + i, *count - i, epoch);
        a->item[items].first = i;
    }
    if (!workers_each(a->workers, items, change_item, a, error)) return false;
    for (size_t i = 0; i < items; i++) {
        const AugmentItem *item = &a->item[i];
        if (item->kind != AUGMENT_KINDS) pair[results++] = item->result;
        else
            for (int k = 0; k < item->pairs; k++) pair[results++] = pair[item->first + k];
    }
    *count = results;
    return true;
}

bool augment_prepare(Augment *a, Error *error)
{
    a->kinds = (1u << AUGMENT_KINDS) - 1;
    if (vocabulary_placeholder(a->vocabulary))
        return (a->rules = spanrules_open(NULL, 0, NULL, error)) &&
               dictionary_count(&a->dictionary, a->text, error);
    a->kinds &= ~(1u << AUGMENT_PLACEHOLDERS);
    return true;
}

void augment_free(Augment *a)
{
    dictionary_free(&a->dictionary);
    spanrules_free(a->rules);
    free(a->item);
    free(a->id);
    *a = (Augment){0};
}
