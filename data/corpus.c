/* corpus.c -- a parallel corpus: reading its text, holding pairs out, comparing two, encoding.
 *
 *     bytes   T h e   c a t . | Y e s . | O h ?           id   5 9 4 0 | 7 4 0 | 8 2 0
 *     start   0                8         12      15       start 0       4       7       10
 *
 * Memory for P pairs: the text and 24 P bytes while reading. Encoding frees the pages of the
 * text as it goes. Blocks grow by half; the unused part of a block is not touched and so takes no
 * memory. 10,556,000 pairs with 1,424 MB of text take 1.17 times the text while they are read, and
 * 1.36 with the child process that learns the tokenizer (VmHWM of ./train --dry-run, Multi30k
 * repeated; 200,000 pairs: tests/data/corpus.c). */
#include "data/corpus.h"

#include "base/block.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "data/words.h"

/* ---- the text ---- */

bool corpus_add(CorpusText *text, const char *const line[SIDES], const size_t length[SIDES],
                CorpusLine where, Error *error)
{
    size_t pair = text->pairs;
    for (int side = 0; side < SIDES; side++) {
        size_t at = pair ? text->start[side][pair] : 0;
        if (!GROW(text->bytes[side], text->bytes_size[side], at + length[side]) ||
            !GROW(text->start[side], text->start_size[side], pair + 2))
            return error_memory(error, "for the corpus");
        if (length[side]) memcpy(text->bytes[side] + at, line[side], length[side]);
        text->start[side][pair] = at;
        text->start[side][pair + 1] = at + length[side];
    }
    if (!GROW(text->line, text->line_size, pair + 1))
        return error_memory(error, "for the corpus");
    text->line[pair] = where;
    text->pairs++;
    return true;
}

bool corpus_copy(CorpusText *to, const CorpusText *text, size_t pair, Error *error)
{
    const char *line[SIDES];
    size_t length[SIDES];
    for (int s = 0; s < SIDES; s++) {
        size_t end = to->pairs ? to->start[s][to->pairs] : 0;
        length[s] = corpus_sentence(text, s, pair).length;
        if (!GROW(to->bytes[s], to->bytes_size[s], end + length[s]))
            return error_memory(error, "for the corpus");
        line[s] = corpus_sentence(text, s, pair).text;  // corpus_add does not move it
    }
    return corpus_add(to, line, length, text->line[pair], error);
}

CorpusSentence corpus_sentence(const CorpusText *text, CorpusSide side, size_t pair)
{
    const size_t *start = text->start[side] + pair;
    return (CorpusSentence){text->bytes[side] + start[0], start[1] - start[0]};
}

CorpusText corpus_part(const CorpusText *text, size_t from)
{
    CorpusText part = {.line = text->line + from};
    while (from + part.pairs < text->pairs && part.line[part.pairs].file == part.line->file)
        part.pairs++;
    for (int side = 0; side < SIDES; side++)
        part.bytes[side] = text->bytes[side], part.start[side] = text->start[side] + from;
    return part;
}

/* Moves sentence `from` of a block of elements of `size` bytes to place `to` <= from. Those after
 * `from` remain readable. */
static void move(void *block, size_t *start, size_t to, size_t from, size_t size)
{
    size_t at = start[from], length = start[from + 1] - at;
    memmove((char *)block + start[to] * size, (char *)block + at * size, length * size);
    start[to + 1] = start[to] + length;
}

/* The same for a pair. text->pairs stays. */
static void text_move(CorpusText *text, size_t to, size_t from)
{
    for (int side = 0; side < SIDES; side++)
        move(text->bytes[side], text->start[side], to, from, 1);
    text->line[to] = text->line[from];
}

void corpus_characters(unsigned *times, const CorpusText *text, CorpusSide side,
                       const Tokenizer *tokenizer)
{
    unsigned code;
    for (size_t i = 0; i < text->pairs; i++) {
        CorpusSentence s = corpus_sentence(text, side, i);
        for (size_t at = tokenizer_tag(tokenizer, s.text, s.length); at < s.length;
             times[code]++)
            at += (size_t)utf8_decode(s.text + at, s.length - at, &code);
    }
}

void corpus_skip(CorpusReport *report, CorpusSkip why, CorpusLine line)
{
    CorpusSkipped *skipped = &report->skipped[why];
    if (skipped->count < CORPUS_FIRST) skipped->first[skipped->count] = line;
    skipped->count++;
}

/* ---- holding out, comparing ---- */

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t corpus_hash(uint64_t hash, CorpusSentence sentence)
{
    for (size_t i = 0; i < sentence.length; i++)
        if (!words_blank(sentence.text[i]))
            hash = hash_word(hash, (unsigned char)sentence.text[i]);
    return hash_word(hash, ' ');
}

static uint64_t source_hash(const CorpusText *text, size_t pair)
{
    return corpus_hash(HASH_START, corpus_sentence(text, SOURCE, pair));
}

enum { MANY = UINT8_MAX };

/* For free(): how often each pair's source sentence is in another text, at most MANY. */
static uint8_t *count_copies(const CorpusText *text, const CorpusText *other, Error *error)
{
    size_t count = other->pairs;
    uint64_t *hash = malloc(count * sizeof *hash);
    uint8_t *copies = calloc(text->pairs, 1);
    for (size_t i = 0; hash && i < count; i++) hash[i] = source_hash(other, i);
    if (hash) qsort(hash, count, sizeof *hash, by_hash);
    for (size_t i = 0; hash && copies && i < text->pairs; i++) {
        uint64_t own = source_hash(text, i);
        const uint64_t *first = bsearch(&own, hash, count, sizeof *hash, by_hash), *end = first;
        if (!first) continue;
        while (first > hash && first[-1] == own && end - first < MANY) first--;
        while (end < hash + count && *end == own && end - first < MANY) end++;
        copies[i] = (uint8_t)(end - first);
    }
    if (!hash || !copies) free(copies), copies = NULL, error_memory(error, "for the corpus");
    free(hash);
    return copies;
}

/* Removes the pairs whose source sentence is also in `other`, unless it would be more than a tenth. */
static bool remove_common(CorpusText *text, CorpusReport *report, const CorpusText *other,
                          Error *error)
{
    size_t kept = 0, pairs = text->pairs, to = 0;
    uint8_t *copies = count_copies(text, other, error);
    if (!copies) return false;
    for (size_t i = 0; i < pairs; i++) kept += !copies[i];
    bool few = (pairs - kept) * 10 <= pairs;
    for (size_t i = 0; few && i < pairs; i++)
        if (!copies[i]) text_move(text, to++, i);
    if (few) text->pairs = kept, report->common = pairs - kept;
    free(copies);
    return true;
}

/* The least number of copies that pairs to hold `count` out of may have: twice as many have it. */
static int copies_allowed(size_t *candidates, const uint8_t *copies, size_t pairs, size_t count)
{
    for (int most = 1;; most *= 2) {
        *candidates = 0;
        for (size_t i = 0; i < pairs; i++) *candidates += copies[i] <= most;
        if (*candidates >= 2 * count || most >= MANY) return most;
    }
}

bool corpus_split(CorpusText *held_out, CorpusText *text, CorpusReport *report, size_t count,
                  uint64_t seed, Error *error)
{
    *held_out = (CorpusText){0};
    if (count >= text->pairs)
        return error_set(error, "cannot hold out %zu of %zu pairs: none would be left", count,
                         text->pairs);
    /* Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S): each
     * candidate is taken with probability (still wanted) / (still to come). */
    Rng rng = rng_stream(seed, RNG_SHUFFLE, UINT64_MAX);  // no epoch has this number
    size_t kept = 0, wanted = count, pairs = text->pairs, candidates;
    uint8_t *copies = count_copies(text, text, error);
    if (!copies) return false;
    int most = copies_allowed(&candidates, copies, pairs, count);
    bool good = true;
    for (size_t pair = 0; good && pair < pairs; pair++) {
        if (copies[pair] > most || rng_uniform(&rng) * (double)candidates-- >= (double)wanted)
            text_move(text, kept++, pair);
        else good = corpus_copy(held_out, text, pair, error), wanted--;
    }
    free(copies);
    text->pairs = kept;
    report->held_out = count;
    good = good && (most == 1 || remove_common(text, report, held_out, error));
    report->kept = text->pairs;
    if (!good) corpus_text_free(held_out);
    return good;
}

/* 0 if the source sentence has an unknown token. */
static uint64_t ids_hash(const Corpus *corpus, size_t number)
{
    PairIds pair = corpus_pair(corpus, number);
    for (int i = 0; i < pair.length[SOURCE]; i++)
        if (pair.id[SOURCE][i] == ID_UNKNOWN) return 0;
    return hash_bytes(HASH_START, pair.id[SOURCE],
                      (size_t)pair.length[SOURCE] * sizeof(int32_t));
}

bool corpus_overlap(size_t *pairs, const Corpus *some, const Corpus *all, Error *error)
{
    uint64_t *hash = malloc(all->pairs * sizeof *hash);
    if (!hash) return error_memory(error, "for the corpus");
    for (size_t i = 0; i < all->pairs; i++) hash[i] = ids_hash(all, i);
    qsort(hash, all->pairs, sizeof *hash, by_hash);
    *pairs = 0;
    for (size_t i = 0; i < some->pairs; i++) {
        uint64_t own = ids_hash(some, i);
        *pairs += own && bsearch(&own, hash, all->pairs, sizeof *hash, by_hash) != NULL;
    }
    free(hash);
    return true;
}

PairIds corpus_pair(const Corpus *corpus, size_t number)
{
    PairIds pair = {.number = number};
    for (int side = 0; side < SIDES; side++) {
        const size_t *start = corpus->start[side] + number;
        pair.id[side] = corpus->id[side] + start[0];
        pair.length[side] = (int)(start[1] - start[0]);
    }
    return pair;
}

void corpus_text_free(CorpusText *text)
{
    for (int side = 0; side < SIDES; side++) free(text->bytes[side]), free(text->start[side]);
    free(text->line);
    *text = (CorpusText){0};
}

void corpus_free(Corpus *corpus)
{
    for (int side = 0; side < SIDES; side++) free(corpus->id[side]), free(corpus->start[side]);
    free(corpus->line);
    *corpus = (Corpus){0};
}

/* ---- encoding, one side at a time ----
 *
 * The threads share a round of sentences, whose ids are then joined in order, so the number of threads
 * does not change the result. */

enum {
    ROUND = 1 << 13,    // sentences
    RELEASE = 1 << 22,  // bytes of text to free at a time
};

typedef struct Round {
    const CorpusText *text;
    CorpusSide side;
    const Tokenizer *tokenizer;
    size_t max_length, first;  // sentence
    Ids *ids;                  // [ROUND] of the sentences from `first` on
} Round;

/* A sentence that is too long gets no ids, not even ID_END. */
static bool encode_sentence(void *context, size_t number, int worker, Error *error)
{
    (void)worker;
    const Round *round = context;
    Ids *ids = &round->ids[number];
    CorpusSentence line = corpus_sentence(round->text, round->side, round->first + number);
    ids->count = 0;
    if (line.length > TOKENIZER_MAX_TEXT) return true;
    if (!tokenizer_encode(round->tokenizer, ids, line.text, line.length, error)) return false;
    if (ids->count <= round->max_length)
        return ids_push(ids, NULL, ID_END, 0) || error_memory(error, "for the corpus");
    free(ids->id);
    *ids = (Ids){0};
    return true;
}

/* One side of the text to ids. Without keep_text, the side's text is freed. */
static bool encode_side(Corpus *corpus, CorpusText *text, Round *round, Workers *workers,
                        bool keep_text, Error *error)
{
    CorpusSide side = round->side;
    size_t released = 0, *start = malloc((text->pairs + 1) * sizeof *start);
    Ids ids = {0};
    bool good = (start && round->ids) || error_memory(error, "for the corpus");
    for (round->first = 0; good && round->first < text->pairs; round->first += ROUND) {
        size_t left = text->pairs - round->first, count = left < ROUND ? left : ROUND;
        good = workers_each(workers, count, encode_sentence, round, error);
        for (size_t i = 0; good && i < count; i++) {
            const Ids *own = &round->ids[i];
            good = GROW(ids.id, ids.size, ids.count + own->count) ||
                   error_memory(error, "for the corpus");
            if (good && own->count)
                memcpy(ids.id + ids.count, own->id, own->count * sizeof *ids.id);
            start[round->first + i] = ids.count;
            ids.count += own->count;
        }
        size_t done = text->start[side][round->first + count];
        if (!keep_text && done - released >= RELEASE) {
            block_release(text->bytes[side] + released, done - released);
            released = done;
        }
    }
    corpus->start[side] = start;
    corpus->id[side] = ids.id;
    if (!good) return false;
    start[text->pairs] = ids.count;
    if (keep_text) return true;
    free(text->bytes[side]), free(text->start[side]);
    text->bytes[side] = NULL, text->start[side] = NULL;
    return true;
}

/* Drops the pairs of which a side is too long (no ids) or empty (ID_END alone). */
static void drop_pairs(Corpus *corpus, CorpusText *text, CorpusReport *report, bool keep_text)
{
    size_t kept = 0;
    for (size_t pair = 0; pair < text->pairs; pair++) {
        const size_t *from = corpus->start[SOURCE] + pair, *to = corpus->start[TARGET] + pair;
        size_t source = from[1] - from[0], target = to[1] - to[0];
        bool all = source > 0 && target > 0;
        if (source <= 1 || target <= 1) {
            corpus_skip(report, all ? corpus_empty(source == 1, target == 1) : TOO_LONG,
                        text->line[pair]);
            continue;
        }
        for (int side = 0; side < SIDES; side++)
            move(corpus->id[side], corpus->start[side], kept, pair, sizeof(int32_t));
        if (keep_text) text_move(text, kept, pair);
        else text->line[kept] = text->line[pair];
        kept++;
    }
    corpus->pairs = report->kept = kept;
    if (keep_text) text->pairs = kept;
}

bool corpus_encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error)
{
    bool good = true;
    Round round = {.text = text,
                   .max_length = (size_t)max_length,
                   .ids = calloc(ROUND, sizeof *round.ids)};
    *corpus = (Corpus){0};
    for (int side = 0; good && side < SIDES; side++) {
        round.side = (CorpusSide)side, round.tokenizer = tokenizer[side];
        good = encode_side(corpus, text, &round, workers, keep_text, error);
    }
    for (size_t i = 0; round.ids && i < ROUND; i++) free(round.ids[i].id);
    free(round.ids);
    if (good) drop_pairs(corpus, text, report, keep_text);
    if (good && corpus->pairs == 0)
        good = error_set(error,
                         "no pair is left: %zu have more than %d tokens on a side, the "
                         "others have none",
                         report->skipped[TOO_LONG].count, max_length);
    for (int side = 0; good && side < SIDES; side++) {
        size_t count = report->tokens[side] = corpus->start[side][corpus->pairs];
        corpus->vocab_size[side] = tokenizer_vocab_size(tokenizer[side]);
        report->unknown[side] = 0;
        for (size_t i = 0; i < count; i++)
            report->unknown[side] += corpus->id[side][i] == ID_UNKNOWN;
    }
    if (good) corpus->line = text->line, text->line = NULL;
    else corpus_free(corpus);
    if (!good || !keep_text) corpus_text_free(text);
    return good;
}
