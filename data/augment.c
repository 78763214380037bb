/* augment.c -- changed pairs; see augment.h.
 *
 * One thread draws which pairs are changed and joined, which takes next to no time. Then all threads
 * change and encode the texts, each pair by its own random numbers. */
#include "data/augment.h"

#include "base/grow.h"
#include "base/real.h"
#include "base/textstream.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

/* Per cent. A pair that is drawn to be joined takes one or two more with it. */
static const int weights[AUGMENT_KINDS] = {[AUGMENT_JOIN] = 15,
                                           [AUGMENT_PLACEHOLDERS] = 50,
                                           [AUGMENT_NO_STOP] = 22,
                                           [AUGMENT_NOISE] = 13};
static const double SURE = 0.5;  // dice of words that translate each other
enum { MOST_PLACED = 3 };        // placeholders of a pair

/* ---- the kinds: each changes the lines of a pair, if it can ---- */

/* Cuts the marks that end a sentence, and spaces, off a line. */
static bool no_stop(char *line)
{
    size_t length = strlen(line), rest = length;
    UChar32 c;
    for (size_t at = length; at > 0; rest = at) {
        U8_PREV_UNSAFE(line, at, c);
        if (!u_hasBinaryProperty(c, UCHAR_S_TERM) && !u_isUWhiteSpace(c)) break;
    }
    line[rest] = 0;
    return rest > 0 && rest < length;
}

/* Drops a character, or swaps two. */
static bool noise(char *line, Rng *rng)
{
    int length = (int)strlen(line), at = (int)rng_below(rng, (uint32_t)(length + !length));
    if (!length) return false;
    U8_SET_CP_START_UNSAFE(line, at);
    int next = at;
    U8_FWD_1_UNSAFE(line, next);
    int end = next;
    if (end < length) U8_FWD_1_UNSAFE(line, end);
    char first[U8_MAX_LENGTH];
    size_t kept = rng_below(rng, 2) ? (size_t)(next - at) : 0;
    if (!kept) end = length + 1;  // with the NUL
    memcpy(first, line + at, kept);
    memmove(line + at, line + next, (size_t)(end - next));
    memcpy(line + at + end - next, first, kept);
    return true;
}

/* word [MOST_WORDS] (=) the protected spans of a line, as names, and its other words. */
static bool find_words(Word *word, int *count, const char *line, const Augment *a, Error *error)
{
    Spans spans = {0};
    int words, n = 0;
    bool good = dictionary_words(&a->dictionary, word, &words, line, strlen(line), error) &&
                spans_find(&spans, a->rules, line, strlen(line), NULL, NULL, error);
    for (int k = 0; good && k < words; k++) {
        int i = 0;
        while (i < spans.count &&
               (word[k].end <= spans.span[i].begin || word[k].begin >= spans.span[i].end))
            i++;
        if (i == spans.count) word[n++] = word[k];
    }
    for (int i = 0; i < spans.count && n < MOST_WORDS; i++)
        word[n++] =
            (Word){.begin = spans.span[i].begin, .end = spans.span[i].end, .name = true};
    spans_free(&spans);
    *count = n;
    return good;
}

/* Whether words are the same name on both sides, or translate each other. A placeholder would
 * hide whether a word was the first, with a capital letter. */
static bool is_alike(const Augment *a, char *const line[SIDES], const Word *s, const Word *t,
                     bool names)
{
    size_t length = s->end - s->begin;
    if (!names) return s->first == t->first && dictionary_dice(&a->dictionary, s, t) >= SURE;
    return s->name && t->name && length == t->end - t->begin &&
           !memcmp(line[SOURCE] + s->begin, line[TARGET] + t->begin, length);
}

typedef struct Place {
    size_t begin;  // of the source word
    int word[SIDES];
} Place;

/* match [MOST_WORDS] (=) the words that are alike, each to no other; returns their number. */
static int find_matches(Place *match, const Augment *a, char *const line[SIDES],
                        Word word[SIDES][MOST_WORDS], const int *count, bool names)
{
    int times[SIDES][MOST_WORDS] = {0}, other[MOST_WORDS], matches = 0;
    for (int i = 0; i < count[SOURCE]; i++)
        for (int j = 0; j < count[TARGET]; j++)
            if (is_alike(a, line, &word[SOURCE][i], &word[TARGET][j], names))
                times[SOURCE][i]++, times[TARGET][j]++, other[i] = j;
    for (int i = 0; i < count[SOURCE]; i++)
        if (times[SOURCE][i] == 1 && times[TARGET][other[i]] == 1)
            match[matches++] = (Place){word[SOURCE][i].begin, {i, other[i]}};
    return matches;
}

/* Puts placeholder `number` in place of a word, or after it. */
static bool put_placeholder(char **line, Word *word, int words, Word at, bool after, int number,
                            Error *error)
{
    size_t begin = after ? at.end : at.begin;
    char *old = *line;
    int length = asprintf(line, "%.*s%s<ph%d>%s", (int)begin, old, after ? " " : "",
                          1 + number % PLACEHOLDERS, old + at.end);
    if (length < 0) return *line = old, error_memory(error, "for placeholders");
    size_t longer = (size_t)length - strlen(old);
    free(old);
    for (int i = 0; i < words; i++)
        if (word[i].begin >= at.end) word[i].begin += longer, word[i].end += longer;
    return true;
}

/* A source word that is drawn, and the target word of the last match up to it; without one, the first of all
 * matches. */
static Place draw_place(const Place *match, int matches, const Word *word, int words, Rng *rng)
{
    const Place *last = NULL;
    int drawn = (int)rng_below(rng, (uint32_t)words);
    for (const Place *m = match; m < match + matches; m++)
        if (m->begin <= word[drawn].begin && (!last || m->begin > last->begin)) last = m;
    return last ? (Place){word[drawn].begin, {drawn, last->word[TARGET]}} : *match;
}

/* Whether the target would have two side by side that the source has not. */
static bool meet(const Place *a, const Place *b)
{
    return a->word[TARGET] == b->word[TARGET] && a->word[SOURCE] != b->word[SOURCE];
}

static int by_begin(const void *a, const void *b)
{
    const Place *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* Names that are once on each side become placeholders: one, in 20 % of the pairs with more two,
 * in 10 % three, numbered in the order of the source. Without names, two words that translate each other do. In two thirds of the
 * pairs, all words stay, and the placeholders stand after any word of the source and the
 * translation of the nearest word before it that has one; several after one word stand in the
 * order of the source on both sides. */
static bool placeholders(const Augment *a, char *line[SIDES], bool *changed, Rng *rng,
                         Error *error)
{
    Word word[SIDES][MOST_WORDS];
    Place match[MOST_WORDS], drawn[MOST_PLACED];
    int count[SIDES], placed = 0;
    for (int side = 0; side < SIDES; side++)
        if (!find_words(word[side], &count[side], line[side], a, error)) return false;
    int matches = find_matches(match, a, line, word, count, true);
    bool names = matches, after = rng_below(rng, 3);
    if (!names) matches = find_matches(match, a, line, word, count, false);
    *changed = matches;
    uint32_t draw = rng_below(rng, 10);
    int number = (int)rng_below(rng, PLACEHOLDERS);
    int wanted = (!names && !after) || draw > 2 ? 1 : draw > 0 ? 2 : 3;
    for (int tries = 4 * wanted; wanted > 0 && matches > 0 && tries; tries--) {
        int i = 0, k = (int)rng_below(rng, (uint32_t)matches);
        Place next = match[k];
        if (after) next = draw_place(match, matches, word[SOURCE], count[SOURCE], rng);
        while (i < placed && !meet(&drawn[i], &next)) i++;
        if (i < placed) continue;
        drawn[placed++] = next, wanted--;
        if (!after) match[k] = match[--matches];
    }
    qsort(drawn, (size_t)placed, sizeof *drawn, by_begin);
    while (placed--)  // each before those that stand after the same word
        for (int side = 0; side < SIDES; side++)
            if (!put_placeholder(&line[side], word[side], count[side],
                                 word[side][drawn[placed].word[side]], after, number + placed,
                                 error))
                return false;
    return true;
}

/* ---- an update ---- */

/* Draws whether the first of the pairs is changed, and how many are joined. */
static AugmentItem draw(const Augment *a, const PairIds *pair, int left, uint64_t epoch)
{
    AugmentItem item = {.pairs = 1, .kind = AUGMENT_KINDS, .result = *pair};
    item.rng = rng_stream(a->seed, RNG_AUGMENT, epoch << 32 | pair->number);
    if (rng_uniform(&item.rng) >= a->share) return item;
    do {
        item.kind = 0;
        for (int at = (int)rng_below(&item.rng, 100); (at -= weights[item.kind]) >= 0;)
            item.kind++;
    } while (item.kind == AUGMENT_PLACEHOLDERS && !a->rules);
    if (item.kind == AUGMENT_JOIN) item.pairs = at_most(2 + (int)rng_below(&item.rng, 2), left);
    return item;
}

/* Whether a space follows a sentence: not if it ends in a Chinese or Japanese character. */
static bool needs_space(const char *line, size_t end)
{
    UChar32 c = ' ';
    if (end) U8_PREV_UNSAFE(line, end, c);
    return c != ' ' && !(c >= 0x2e80 && c < 0xa4d0) && !(c >= 0xff00 && c < 0xffa0) &&
           !(c >= 0x20000 && c < 0x40000);
}

/* The text of a side without its tags, with that of the pairs that are joined; NULL if memory is short. */
static char *read_line(const Augment *a, const AugmentItem *item, CorpusSide side)
{
    TextStream line;
    bool space = false;
    if (!textstream_open(&line)) return NULL;
    for (int i = 0; i < item->pairs; i++) {
        size_t tag = 0;
        CorpusSentence next = corpus_sentence(a->text, side, a->pair[item->first + i].number);
        if (side == SOURCE)
            tag = tokenizer_tag(a->vocabulary->tokenizer[SOURCE], next.text, next.length);
        tag += tag < next.length && tag && next.text[tag] == ' ';
        if (space) putc(' ', line.out);
        fwrite(next.text + tag, 1, next.length - tag, line.out);
        space = needs_space(next.text + tag, next.length - tag);
    }
    return textstream_close(&line);
}

static bool change(char *line[SIDES], bool *changed, const Augment *a, AugmentItem *item,
                   Error *error)
{
    switch (item->kind) {
    case AUGMENT_PLACEHOLDERS:
        return !a->rules || placeholders(a, line, changed, &item->rng, error);
    case AUGMENT_NO_STOP:
        return *changed = no_stop(line[SOURCE]) && no_stop(line[TARGET]), true;
    case AUGMENT_NOISE: return *changed = noise(line[SOURCE], &item->rng), true;
    default: return *changed = item->pairs > 1, true;  // they are joined already
    }
}

/* The tag that a pair begins with; 0: none. */
static int32_t tag_of(const Augment *a, const PairIds *pair)
{
    int32_t first = pair->id[SOURCE][0];
    return tokenizer_is_tag(a->vocabulary->tokenizer[SOURCE], first) ? first : 0;
}

/* result (=) the ids of a tag, unless it is 0, and a line. *fits (=) whether it has some, and not too many. */
static bool encode(PairIds *result, bool *fits, const Augment *a, size_t number,
                   CorpusSide side, int32_t tag, const char *line, Error *error)
{
    Ids ids = {0};
    size_t most = (size_t)a->max_length;
    int32_t *to = a->id + (number * SIDES + side) * most;
    bool good =
        tokenizer_encode(a->vocabulary->tokenizer[side], &ids, line, strlen(line), error);
    *fits = good && ids.count && ids.count + !!tag < most;
    if (*fits) {
        result->id[side] = to;
        result->length[side] = (int)ids.count + !!tag + 1;
        if (tag) *to++ = tag;
        memcpy(to, ids.id, ids.count * sizeof *to);
        to[ids.count] = ID_END;
    }
    free(ids.id);
    return good;
}

/* Changes the texts of an item, and sets its result. */
static bool try_kind(Augment *a, size_t number, bool *changed, Error *error)
{
    AugmentItem *item = &a->item[number];
    PairIds result = item->result;
    int sides = item->kind == AUGMENT_NOISE ? 1 : SIDES;
    int32_t tag = tag_of(a, &a->pair[item->first]);
    for (int i = 1; i < item->pairs; i++)
        if (tag_of(a, &a->pair[item->first + i]) != tag) return true;
    char *line[SIDES] = {read_line(a, item, SOURCE), read_line(a, item, TARGET)};
    bool good =
        ((line[SOURCE] && line[TARGET]) || error_memory(error, "to change sentences")) &&
        change(line, changed, a, item, error);
    for (int side = 0; good && *changed && side < sides; side++)
        good = encode(&result, changed, a, number, (CorpusSide)side, side == SOURCE ? tag : 0,
                      line[side], error);
    if (sides == SIDES) result.number = PAIR_CHANGED;
    if (good && *changed) item->result = result;
    for (int side = 0; side < SIDES; side++) free(line[side]);
    return good;
}

/* Tries the drawn kind, then those after it, until one is possible. */
static bool change_item(void *context, size_t number, int worker, Error *error)
{
    Augment *a = context;
    AugmentItem *item = &a->item[number];
    bool changed = false;
    (void)worker;
    while (item->kind != AUGMENT_KINDS) {
        if (!try_kind(a, number, &changed, error)) return false;
        if (changed) break;
        item->kind = item->pairs > 1 ? AUGMENT_KINDS : item->kind + 1;
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

void augment_turn(const Augment *a, PairIds *pair, int count, uint64_t update)
{
    Rng rng = rng_stream(a->seed, RNG_AUGMENT, 1ull << 63 | update);  // no epoch is so large
    for (PairIds *p = pair; p < pair + count; p++) {
        if (rng_uniform(&rng) >= 0.5 || tag_of(a, p)) continue;
        *p = (PairIds){{p->id[TARGET], p->id[SOURCE]},
                       {p->length[TARGET], p->length[SOURCE]},
                       PAIR_CHANGED};
    }
}

bool augment_prepare(Augment *a, Error *error)
{
    return !vocabulary_placeholder(a->vocabulary) ||
           ((a->rules = spanrules_open(NULL, 0, NULL, error)) &&
            dictionary_count(&a->dictionary, a->text, error));
}

void augment_free(Augment *a)
{
    dictionary_free(&a->dictionary);
    spanrules_free(a->rules);
    free(a->item);
    free(a->id);
    *a = (Augment){0};
}
