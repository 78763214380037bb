/* corpus-encoding.c -- the text of a parallel corpus to ids, one side at a time.
 *
 * The threads share a round of CHUNK · CHUNKS sentences, chunk by chunk. The chunks are then
 * joined in order, so the number of threads does not change the result. */
#include "data/corpus-text.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/packed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 256,        // sentences that a thread takes at a time
    CHUNKS = 64,        // chunks in a round
    RELEASE = 1 << 22,  // bytes of text to free at a time
};

/* ---- sentences to ids, by all threads ---- */

/* The ids of a chunk, and the number of ids of each sentence. */
typedef struct Chunk {
    Ids ids;
    size_t count[CHUNK];
    bool failed;
    Error error;
} Chunk;

/* The sentences first .. first+sentences-1 of a side. */
typedef struct Round {
    const CorpusText *text;
    CorpusSide side;
    const Tokenizer *tokenizer;
    size_t max_length, first, sentences;
    atomic_int next;
    Chunk *chunk;  // [CHUNKS]
} Round;

/* A sentence that is too long gets no ids, not even ID_END. */
static bool encode_sentence(Chunk *chunk, const Round *round, size_t pair)
{
    Ids *ids = &chunk->ids;
    size_t length, first = ids->count;
    const char *line = corpus_sentence(round->text, round->side, pair, &length);
    if (length > TOKENIZER_MAX_TEXT) return true;
    if (!tokenizer_encode(round->tokenizer, ids, line, length, &chunk->error)) return false;
    if (ids->count - first > round->max_length) {
        ids->count = first;
        return true;
    }
    if (!GROW(ids->id, ids->size, ids->count + 1)) return corpus_no_memory(&chunk->error);
    ids->id[ids->count++] = ID_END;
    return true;
}

static void encode_chunks(void *context, int worker)
{
    Round *round = context;
    (void)worker;
    for (;;) {
        size_t number = (size_t)atomic_fetch_add(&round->next, 1), at = number * CHUNK;
        if (number >= CHUNKS || at >= round->sentences) return;
        Chunk *chunk = &round->chunk[number];
        chunk->ids.count = 0;
        for (size_t i = 0; i < CHUNK && at + i < round->sentences && !chunk->failed; i++) {
            size_t before = chunk->ids.count;
            chunk->failed = !encode_sentence(chunk, round, round->first + at + i);
            chunk->count[i] = chunk->ids.count - before;
        }
    }
}

/* Appends the ids of a round's chunks. */
static bool join_chunks(Ids *ids, size_t *start, const Round *round, Error *error)
{
    for (size_t at = 0; at < round->sentences; at += CHUNK) {
        const Chunk *chunk = &round->chunk[at / CHUNK];
        if (chunk->failed) return error_set(error, "%s", chunk->error.text);
        if (!GROW(ids->id, ids->size, ids->count + chunk->ids.count))
            return corpus_no_memory(error);
        if (chunk->ids.count)
            memcpy(ids->id + ids->count, chunk->ids.id, chunk->ids.count * sizeof *ids->id);
        for (size_t i = 0; i < CHUNK && at + i < round->sentences; i++) {
            start[round->first + at + i] = ids->count;
            ids->count += chunk->count[i];
        }
    }
    return true;
}

/* One side of the text to ids. Without keep_text, the side's text is freed. */
static bool encode_side(Corpus *corpus, CorpusText *text, Round *round, Workers *workers,
                        bool keep_text, Error *error)
{
    CorpusSide side = round->side;
    size_t released = 0;
    Ids ids = {0};
    size_t *start = corpus->start[side] = malloc((text->pairs + 1) * sizeof *start);
    bool good = start || corpus_no_memory(error);
    for (round->first = 0; good && round->first < text->pairs; round->first += CHUNK * CHUNKS) {
        size_t left = text->pairs - round->first;
        round->sentences = left < CHUNK * CHUNKS ? left : CHUNK * CHUNKS;
        atomic_store(&round->next, 0);
        if (workers) workers_run(workers, encode_chunks, round);
        else encode_chunks(round, 0);
        good = join_chunks(&ids, start, round, error);
        size_t done = text->start[side][round->first + round->sentences];
        if (!keep_text && done - released >= RELEASE) {
            block_release(text->bytes[side] + released, done - released);
            released = done;
        }
    }
    corpus->id[side] = ids.id;
    if (!good) return false;
    start[text->pairs] = ids.count;
    if (keep_text) return true;
    free(text->bytes[side]), free(text->start[side]);
    text->bytes[side] = NULL, text->start[side] = NULL;
    return true;
}

static bool encode_sides(Corpus *corpus, CorpusText *text,
                         const Tokenizer *const tokenizer[SIDES], Workers *workers,
                         int max_length, bool keep_text, Error *error)
{
    Round round = {.text = text, .max_length = (size_t)max_length};
    round.chunk = calloc(CHUNKS, sizeof *round.chunk);
    if (!round.chunk) return corpus_no_memory(error);
    bool good = true;
    for (int side = 0; good && side < SIDES; side++) {
        round.side = (CorpusSide)side;
        round.tokenizer = tokenizer[side];
        good = encode_side(corpus, text, &round, workers, keep_text, error);
    }
    for (int i = 0; i < CHUNKS; i++) free(round.chunk[i].ids.id);
    free(round.chunk);
    return good;
}

/* ---- pairs ---- */

/* Drops the pairs of which a side is too long (no ids) or empty (ID_END alone). Offsets are
 * moved in place, as `kept` never overtakes `pair`. */
static void drop_pairs(Corpus *corpus, CorpusText *text, CorpusReport *report, bool keep_text)
{
    size_t kept = 0, at[SIDES] = {0, 0}, next[SIDES] = {0, 0};
    for (size_t pair = 0; pair < text->pairs; pair++) {
        size_t from[SIDES], length[SIDES];
        for (int side = 0; side < SIDES; side++) {
            from[side] = next[side];
            next[side] = corpus->start[side][pair + 1];
            length[side] = next[side] - from[side];
        }
        size_t source = length[SOURCE], target = length[TARGET];
        if (source <= 1 || target <= 1) {
            corpus_skip(report,
                        source == 0 || target == 0 ? TOO_LONG
                        : target > 1               ? EMPTY_SOURCE
                        : source > 1               ? EMPTY_TARGET
                                                   : EMPTY_BOTH,
                        text->line[pair]);
            continue;
        }
        for (int side = 0; side < SIDES; side++) {
            memmove(corpus->id[side] + at[side], corpus->id[side] + from[side],
                    length[side] * sizeof(int32_t));
            corpus->start[side][kept] = at[side];
            at[side] += length[side];
            corpus->start[side][kept + 1] = at[side];
        }
        if (keep_text) corpus_text_move(text, kept, pair);
        else text->line[kept] = text->line[pair];
        kept++;
    }
    corpus->pairs = report->kept = kept;
    if (keep_text) text->pairs = kept;
}

/* Frees the unused part of each side's blocks, and counts its tokens. */
static void finish_side(Corpus *corpus, CorpusReport *report, CorpusSide side,
                        const Tokenizer *tokenizer)
{
    size_t count = corpus->start[side][corpus->pairs];
    corpus->id[side] = shrunk(corpus->id[side], count, sizeof(int32_t));
    corpus->start[side] = shrunk(corpus->start[side], corpus->pairs + 1, sizeof(size_t));
    corpus->vocab_size[side] = tokenizer_vocab_size(tokenizer);
    report->tokens[side] = count;
    report->unknown[side] = 0;
    for (size_t i = 0; i < count; i++)
        report->unknown[side] += corpus->id[side][i] == ID_UNKNOWN;
}

static bool encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error)
{
    if (!encode_sides(corpus, text, tokenizer, workers, max_length, keep_text, error))
        return false;
    drop_pairs(corpus, text, report, keep_text);
    if (corpus->pairs == 0)
        return error_set(error,
                         "no pair is left: %zu have more than %d tokens on a side, the "
                         "others have none",
                         report->skipped[TOO_LONG].count, max_length);
    for (int side = 0; side < SIDES; side++)
        finish_side(corpus, report, (CorpusSide)side, tokenizer[side]);
    corpus->line = shrunk(text->line, corpus->pairs, sizeof *corpus->line);
    text->line = NULL;
    return true;
}

bool corpus_encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error)
{
    *corpus = (Corpus){0};
    bool good = encode(corpus, text, report, tokenizer, workers, max_length, keep_text, error);
    if (!good) corpus_free(corpus);
    if (!good || !keep_text) corpus_text_free(text);
    return good;
}
