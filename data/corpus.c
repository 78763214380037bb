/* corpus.c -- a parallel corpus: first as text, then as ids.
 *
 *     bytes   T h e   c a t . | Y e s . | O h ?           id   5 9 4 0 | 7 4 0 | 8 2 0
 *     start   0                8         12      15       start 0       4       7       10
 *
 * Memory, for P pairs: the text and 24 P bytes while reading; then the pages of the text are given
 * back as its ids come. Blocks grow by half; what is not yet used of them is not touched, so takes
 * no memory. Measured (VmHWM of ./train --dry-run, Multi30k repeated):
 *
 *     10,556,000 pairs, 1,424 MB of text: read 1.17 times the text, 1.36 with the child that learns
 *     the tokenizer, which takes 0.27 GB of its own at most: from a million sentences
 *     1,508,000 pairs, 203 MB of text: 1.5 times in all, with 0.1 GB of the program and its model
 *     200,000 pairs, 36 MB of text, in units of it and without the program's own memory: 1.15 read,
 *     1.23 encoded as words (tests/data/corpus-encoding.c) */
#include "data/corpus-text.h"

#include "base/grow.h"
#include "base/rng.h"
#include "data/textmap.h"

#include <stdlib.h>
#include <string.h>

bool corpus_no_memory(Error *error)
{
    return error_set(error, "out of memory while reading the corpus");
}

void corpus_skip(CorpusSkipped *skipped, CorpusLine line)
{
    if (skipped->count < CORPUS_FIRST) skipped->first[skipped->count] = line;
    skipped->count++;
}

bool corpus_text_add(Growing *growing, const char *const line[SIDES],
                     const size_t length[SIDES], CorpusLine where, Error *error)
{
    CorpusText *text = growing->text;
    size_t pair = text->pairs;
    for (int side = 0; side < SIDES; side++) {
        size_t at = pair ? text->start[side][pair] : 0;
        if (!GROW(text->bytes[side], growing->bytes_room[side], at + length[side]) ||
            !GROW(text->start[side], growing->start_room[side], pair + 2))
            return corpus_no_memory(error);
        memcpy(text->bytes[side] + at, line[side], length[side]);
        text->start[side][pair] = at;
        text->start[side][pair + 1] = at + length[side];
    }
    if (!GROW(text->line, growing->line_room, pair + 1)) return corpus_no_memory(error);
    text->line[pair] = where;
    text->pairs++;
    return true;
}

void corpus_text_shrink(CorpusText *text)
{
    for (int side = 0; side < SIDES; side++) {
        text->bytes[side] = shrunk(text->bytes[side], text->start[side][text->pairs], 1);
        text->start[side] = shrunk(text->start[side], text->pairs + 1, sizeof(size_t));
    }
    text->line = shrunk(text->line, text->pairs, sizeof *text->line);
}

void corpus_text_report(CorpusReport *report, const CorpusText *text)
{
    report->kept = text->pairs;
    for (int side = 0; side < SIDES; side++)
        report->bytes[side] = text->start[side][text->pairs];
}

const char *corpus_sentence(const CorpusText *text, CorpusSide side, size_t pair,
                            size_t *length)
{
    size_t from = text->start[side][pair];
    *length = text->start[side][pair + 1] - from;
    return text->bytes[side] + from;
}

static const char *sentence_at(const void *context, size_t i, size_t *length)
{
    const CorpusText *text = context;
    if (i < text->pairs) return corpus_sentence(text, SOURCE, i, length);
    return corpus_sentence(text, TARGET, i - text->pairs, length);
}

Sentences corpus_sentences(const CorpusText *text)
{
    return (Sentences){.count = 2 * text->pairs, .at = sentence_at, .context = text};
}

static const char *source_at(const void *context, size_t i, size_t *length)
{
    return corpus_sentence(context, SOURCE, i, length);
}

static const char *target_at(const void *context, size_t i, size_t *length)
{
    return corpus_sentence(context, TARGET, i, length);
}

Sentences corpus_side_sentences(const CorpusText *text, CorpusSide side)
{
    return (Sentences){
        .count = text->pairs, .at = side == SOURCE ? source_at : target_at, .context = text};
}

void corpus_text_move(CorpusText *text, size_t to, size_t from)
{
    for (int side = 0; side < SIDES; side++) {
        size_t *start = text->start[side];
        size_t at = start[from], length = start[from + 1] - at;
        memmove(text->bytes[side] + start[to], text->bytes[side] + at, length);
        start[to + 1] = start[to] + length;
    }
    text->line[to] = text->line[from];
}

bool corpus_split(CorpusText *held_out, CorpusText *text, CorpusReport *report, size_t count,
                  uint64_t seed, Error *error)
{
    *held_out = (CorpusText){0};
    if (count >= text->pairs) {
        return error_set(error, "cannot hold out %zu of %zu pairs: none would be left", count,
                         text->pairs);
    }
    /* Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S): each
     * pair is taken with the chance (still wanted) / (still to come). */
    Growing growing = {.text = held_out};
    Rng rng = rng_stream(seed, RNG_SHUFFLE, UINT64_MAX);  // no epoch has this number
    size_t kept = 0, wanted = count, pairs = text->pairs;
    for (size_t pair = 0; pair < pairs; pair++) {
        if (rng_uniform(&rng) * (double)(pairs - pair) >= (double)wanted) {
            corpus_text_move(text, kept++, pair);
            continue;
        }
        const char *line[SIDES];
        size_t length[SIDES];
        for (int s = 0; s < SIDES; s++) line[s] = corpus_sentence(text, s, pair, &length[s]);
        if (!corpus_text_add(&growing, line, length, text->line[pair], error)) {
            corpus_text_free(held_out);
            return false;
        }
        wanted--;
    }
    text->pairs = kept;
    corpus_text_shrink(text);
    if (count > 0) corpus_text_shrink(held_out);
    corpus_text_report(report, text);
    report->held_out = count;
    return true;
}

static const char *source_ids(const Corpus *corpus, size_t pair, size_t *bytes)
{
    const size_t *start = corpus->start[SOURCE] + pair;
    *bytes = (start[1] - start[0]) * sizeof(int32_t);
    return (const char *)(corpus->id[SOURCE] + start[0]);
}

bool corpus_overlap(size_t *pairs, const Corpus *some, const Corpus *all, Error *error)
{
    TextMap sentences = {0};
    size_t bytes;
    bool good = true;
    *pairs = 0;
    for (size_t i = 0; good && i < some->pairs; i++) {
        uint32_t number;
        const char *ids = source_ids(some, i, &bytes);
        good = textmap_add(&sentences, &number, ids, bytes, error);
    }
    bool *there = good ? calloc(sentences.count + 1, sizeof *there) : NULL;
    good = good && (there || corpus_no_memory(error));
    for (size_t i = 0; good && i < all->pairs; i++) {
        const char *ids = source_ids(all, i, &bytes);
        uint32_t number = textmap_find(&sentences, ids, bytes);
        if (number != TEXTMAP_NONE) there[number] = true;
    }
    for (size_t i = 0; good && i < some->pairs; i++) {
        const char *ids = source_ids(some, i, &bytes);
        *pairs += there[textmap_find(&sentences, ids, bytes)];
    }
    free(there);
    textmap_free(&sentences);
    return good;
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
