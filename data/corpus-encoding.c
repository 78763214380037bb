/* corpus-encoding.c -- a parallel corpus's text to ids, a side at a time. */
#include "data/corpus-text.h"

#include "base/packed.h"
#include "data/grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RELEASE = 1 << 22 };  // bytes of text to give back at a time

/* Gives the memory of bytes[*from..to) back, as far as it is whole pages; what is in them is lost.
 * The block itself is still to be freed. */
static void release(char *bytes, size_t *from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)bytes + *from + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + to) / page * page;
    if (end <= begin) return;
    madvise((void *)begin, end - begin, MADV_DONTNEED);
    *from = end - (uintptr_t)bytes;
}

/* One side of the text to ids. A sentence that is too long gets no ids, not even ID_END. Unless
 * it is to be kept, what has been encoded of the text is lost. */
static bool encode_side(Corpus *corpus, CorpusText *text, CorpusSide side,
                        const Tokenizer *tokenizer, int max_length, bool keep_text,
                        Error *error)
{
    size_t released = 0;
    Ids ids = {0};
    size_t *start = malloc((text->pairs + 1) * sizeof *start);
    corpus->start[side] = start;
    if (!start) return corpus_no_memory(error);
    bool good = true;
    for (size_t pair = 0; good && pair < text->pairs; pair++) {
        size_t length;
        const char *line = corpus_sentence(text, side, pair, &length);
        start[pair] = ids.count;
        size_t done = text->start[side][pair];
        if (!keep_text && done - released >= RELEASE)
            release(text->bytes[side], &released, done);
        if (length > TOKENIZER_MAX_TEXT) continue;
        good = tokenizer_encode(tokenizer, &ids, line, length, error);
        if (!good) break;
        if (ids.count - start[pair] > (size_t)max_length) {
            ids.count = start[pair];
            continue;
        }
        good = GROW(ids.id, ids.size, ids.count + 1) || corpus_no_memory(error);
        if (good) ids.id[ids.count++] = ID_END;
    }
    start[text->pairs] = ids.count;
    corpus->id[side] = ids.id;
    return good;
}

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
                   const Tokenizer *const tokenizer[SIDES], int max_length, bool keep_text,
                   Error *error)
{
    for (int side = 0; side < SIDES; side++) {
        if (!encode_side(corpus, text, side, tokenizer[side], max_length, keep_text, error)) {
            return false;
        }
        if (keep_text) continue;
        free(text->bytes[side]), free(text->start[side]);
        text->bytes[side] = NULL, text->start[side] = NULL;
    }
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
                   const Tokenizer *const tokenizer[SIDES], int max_length, bool keep_text,
                   Error *error)
{
    *corpus = (Corpus){0};
    bool good = encode(corpus, text, report, tokenizer, max_length, keep_text, error);
    if (!good) corpus_free(corpus);
    if (!good || !keep_text) corpus_text_free(text);
    return good;
}
