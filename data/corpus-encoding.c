/* corpus-encoding.c -- a parallel corpus's text to ids, a side at a time.
 *
 * A round of BLOCK · BLOCKS sentences goes through all threads, a block at a time; then the blocks
 * are put together in their order, so that the threads change nothing. */
#include "data/corpus-text.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/packed.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RELEASE = 1 << 22 };  // bytes of text to give back at a time

/* ---- sentences to ids, by all threads ---- */

enum {
    BLOCK = 256,
    BLOCKS = 64
};  // sentences that a thread takes at a time; blocks in a round

/* A block's ids, and how many of them each sentence has. */
typedef struct Block {
    Ids ids;
    size_t count[BLOCK];
    bool failed;
    Error error;
} Block;

/* A round: the sentences from `first` on, in blocks. */
typedef struct Round {
    const CorpusText *text;
    CorpusSide side;
    const Tokenizer *tokenizer;
    size_t max_length, first, sentences;
    atomic_int next;
    Block *block;  // [BLOCKS]
} Round;

/* A sentence that is too long gets no ids, not even ID_END. */
static bool encode_sentence(Block *block, const Round *round, size_t pair)
{
    size_t length, first = block->ids.count;
    const char *line = corpus_sentence(round->text, round->side, pair, &length);
    if (length > TOKENIZER_MAX_TEXT) return true;
    if (!tokenizer_encode(round->tokenizer, &block->ids, line, length, &block->error))
        return false;
    if (block->ids.count - first > round->max_length) {
        block->ids.count = first;
        return true;
    }
    if (!GROW(block->ids.id, block->ids.size, block->ids.count + 1))
        return corpus_no_memory(&block->error);
    block->ids.id[block->ids.count++] = ID_END;
    return true;
}

static void encode_blocks(void *context, int worker)
{
    Round *round = context;
    (void)worker;
    for (;;) {
        size_t number = (size_t)atomic_fetch_add(&round->next, 1), at = number * BLOCK;
        if (number >= BLOCKS || at >= round->sentences) return;
        Block *block = &round->block[number];
        block->ids.count = 0;
        for (size_t i = 0; i < BLOCK && at + i < round->sentences && !block->failed; i++) {
            size_t before = block->ids.count;
            block->failed = !encode_sentence(block, round, round->first + at + i);
            block->count[i] = block->ids.count - before;
        }
    }
}

/* Appends what a round's blocks hold. */
static bool take_round(Ids *ids, size_t *start, const Round *round, Error *error)
{
    for (size_t at = 0; at < round->sentences; at += BLOCK) {
        const Block *block = &round->block[at / BLOCK];
        if (block->failed) return error_set(error, "%s", block->error.text);
        if (!GROW(ids->id, ids->size, ids->count + block->ids.count))
            return corpus_no_memory(error);
        if (block->ids.count)
            memcpy(ids->id + ids->count, block->ids.id, block->ids.count * sizeof *ids->id);
        for (size_t i = 0; i < BLOCK && at + i < round->sentences; i++) {
            start[round->first + at + i] = ids->count;
            ids->count += block->count[i];
        }
    }
    return true;
}

/* One side of the text to ids. Unless it is to be kept, what has been encoded of the text is
 * lost. */
static bool encode_side(Corpus *corpus, CorpusText *text, Round *round, Workers *workers,
                        bool keep_text, Error *error)
{
    CorpusSide side = round->side;
    size_t released = 0;
    Ids ids = {0};
    size_t *start = malloc((text->pairs + 1) * sizeof *start);
    corpus->start[side] = start;
    bool good = start || corpus_no_memory(error);
    for (round->first = 0; good && round->first < text->pairs; round->first += BLOCK * BLOCKS) {
        size_t left = text->pairs - round->first;
        round->sentences = left < BLOCK * BLOCKS ? left : BLOCK * BLOCKS;
        atomic_store(&round->next, 0);
        if (workers) workers_run(workers, encode_blocks, round);
        else encode_blocks(round, 0);
        good = take_round(&ids, start, round, error);
        size_t done = text->start[side][round->first + round->sentences];
        if (!keep_text && done - released >= RELEASE) {
            block_release(text->bytes[side] + released, done - released);
            released = done;
        }
    }
    if (start) start[text->pairs] = ids.count;
    corpus->id[side] = ids.id;
    return good;
}

static bool encode_sides(Corpus *corpus, CorpusText *text,
                         const Tokenizer *const tokenizer[SIDES], Workers *workers,
                         int max_length, bool keep_text, Error *error)
{
    Round round = {.text = text, .max_length = (size_t)max_length};
    round.block = calloc(BLOCKS, sizeof *round.block);
    bool good = round.block || corpus_no_memory(error);
    for (int side = 0; good && side < SIDES; side++) {
        round.side = (CorpusSide)side;
        round.tokenizer = tokenizer[side];
        good = encode_side(corpus, text, &round, workers, keep_text, error);
        if (keep_text || !good) continue;
        free(text->bytes[side]), free(text->start[side]);
        text->bytes[side] = NULL, text->start[side] = NULL;
    }
    for (int i = 0; round.block && i < BLOCKS; i++) free(round.block[i].ids.id);
    free(round.block);
    return good;
}

/* ---- pairs ---- */

/* Drops the pairs of which a side is too long (no ids) or has no token (ID_END alone). Offsets
 * are moved in place: pair `to` never overtakes pair `pair`. */
static void keep_good(Corpus *corpus, CorpusText *text, CorpusReport *report, bool keep_text)
{
    size_t kept = 0, at[SIDES] = {0, 0}, next[SIDES] = {0, 0};
    for (size_t pair = 0; pair < text->pairs; pair++) {
        size_t from[SIDES], length[SIDES];
        for (int side = 0; side < SIDES; side++) {
            from[side] = next[side];
            next[side] = corpus->start[side][pair + 1];
            length[side] = next[side] - from[side];
        }
        if (length[SOURCE] == 0 || length[TARGET] == 0) {
            corpus_skip(&report->too_long, text->line[pair]);
            continue;
        }
        if (length[SOURCE] == 1 || length[TARGET] == 1) {
            corpus_skip(length[TARGET] > 1   ? &report->empty_source
                        : length[SOURCE] > 1 ? &report->empty_target
                                             : &report->empty_both,
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
    corpus->pairs = kept;
    if (keep_text) text->pairs = kept;
}

static void report_ids(CorpusReport *report, const Corpus *corpus)
{
    report->kept = corpus->pairs;
    for (int side = 0; side < SIDES; side++) {
        size_t count = corpus->start[side][corpus->pairs], unknown = 0;
        for (size_t i = 0; i < count; i++) unknown += corpus->id[side][i] == ID_UNKNOWN;
        report->tokens[side] = count;
        report->unknown[side] = unknown;
    }
}

static bool encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error)
{
    if (!encode_sides(corpus, text, tokenizer, workers, max_length, keep_text, error))
        return false;
    keep_good(corpus, text, report, keep_text);
    if (corpus->pairs == 0) {
        return error_set(error,
                         "no pair is left: %zu have more than %d tokens on a side, the "
                         "others have none",
                         report->too_long.count, max_length);
    }
    for (int side = 0; side < SIDES; side++) {
        size_t count = corpus->start[side][corpus->pairs];
        corpus->id[side] = shrunk(corpus->id[side], count, sizeof(int32_t));
        corpus->start[side] = shrunk(corpus->start[side], corpus->pairs + 1, sizeof(size_t));
    }
    size_t lines = corpus->pairs * sizeof *corpus->line;
    if (keep_text) {
        corpus->line = malloc(lines);
        if (!corpus->line) return corpus_no_memory(error);
        memcpy(corpus->line, text->line, lines);
    } else {
        corpus->line = shrunk(text->line, corpus->pairs, sizeof *corpus->line);
        text->line = NULL;
    }
    for (int side = 0; side < SIDES; side++)
        corpus->vocab_size[side] = tokenizer_vocab_size(tokenizer[side]);
    report_ids(report, corpus);
    if (keep_text) corpus_text_report(report, text);
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
