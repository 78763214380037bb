/* corpus.c -- a parallel corpus: first as text, then as ids.
 *
 *     bytes   T h e   c a t . | Y e s . | O h ?           id   5 9 4 0 | 7 4 0 | 8 2 0
 *     start   0                8         12      15       start 0       4       7       10
 *
 * Memory, for P pairs: the text and 24 P bytes while reading; then the pages of the text are
 * given back as its ids come. 200,000 pairs of 179 bytes took 1.15 times their text to read and
 * 1.25 times to encode as words (tests/corpus.c). Blocks grow by half; what is not yet used of
 * them is not touched, so takes no memory. */
#include "data/corpus.h"

#include "base/packed.h"
#include "base/rng.h"
#include "data/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool no_memory(Error *error)
{
    return error_set(error, "out of memory while reading the corpus");
}

/* Makes room for `wanted` elements of `size` bytes in *block, which has room for *has. */
static bool grow(void **block, size_t *has, size_t wanted, size_t size)
{
    if (wanted <= *has) return true;
    size_t room = *has + *has / 2 < wanted ? wanted : *has + *has / 2;
    if (room < 1024) room = 1024;
    void *grown = room > SIZE_MAX / size ? NULL : realloc(*block, room * size);
    if (!grown) return false;
    *block = grown, *has = room;
    return true;
}

/* Gives back the part of a block that is not used; what is left may be empty. */
static void *shrunk(void *block, size_t count, size_t size)
{
    void *smaller = realloc(block, count ? count * size : 1);
    return smaller ? smaller : block;
}

static void skip(CorpusSkipped *skipped, CorpusLine line)
{
    if (skipped->count < CORPUS_FIRST) skipped->first[skipped->count] = line;
    skipped->count++;
}

/* ---- reading ---- */

/* A text that grows: how much room its blocks have. */
typedef struct Growing {
    CorpusText *text;
    size_t bytes_room[SIDES], start_room[SIDES], line_room;
} Growing;

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t') return false;
    }
    return true;
}

static bool append(Growing *growing, const char *const line[SIDES], const size_t length[SIDES],
                   CorpusLine where, Error *error)
{
    CorpusText *text = growing->text;
    size_t pair = text->pairs;
    for (int side = 0; side < SIDES; side++) {
        size_t at = pair ? text->start[side][pair] : 0;
        void *bytes = text->bytes[side], *start = text->start[side];
        bool good = grow(&bytes, &growing->bytes_room[side], at + length[side], 1);
        good = grow(&start, &growing->start_room[side], pair + 2, sizeof(size_t)) && good;
        text->bytes[side] = bytes, text->start[side] = start;
        if (!good) return no_memory(error);
        memcpy(text->bytes[side] + at, line[side], length[side]);
        text->start[side][pair] = at;
        text->start[side][pair + 1] = at + length[side];
    }
    void *lines = text->line;
    bool good = grow(&lines, &growing->line_room, pair + 1, sizeof *text->line);
    text->line = lines;
    if (!good) return no_memory(error);
    text->line[pair] = where;
    text->pairs++;
    return true;
}

/* Takes a pair into the text, or counts why not. */
static bool take_pair(Growing *growing, CorpusReport *report, const char *const line[SIDES],
                      const size_t length[SIDES], CorpusLine where, Error *error)
{
    report->read++;
    bool source = is_blank(line[SOURCE], length[SOURCE]);
    bool target = is_blank(line[TARGET], length[TARGET]);
    if (source && target) {
        skip(&report->empty_both, where);
    } else if (source) {
        skip(&report->empty_source, where);
    } else if (target) {
        skip(&report->empty_target, where);
    } else {
        return append(growing, line, length, where, error);
    }
    return true;
}

/* Counts the lines that are left, after the `lines` that were read. */
static bool count_rest(size_t *lines, TextReader *reader, Error *error)
{
    const char *line;
    size_t length;
    TextResult result;
    while ((result = text_next(reader, &line, &length, error)) == TEXT_LINE) (*lines)++;
    return result == TEXT_END;
}

static bool read_two(Growing *growing, CorpusReport *report, TextReader reader[SIDES], int file,
                     Error *error)
{
    const char *line[SIDES];
    size_t length[SIDES], lines[SIDES] = {0, 0};
    for (;;) {
        TextResult result[SIDES];
        for (int side = 0; side < SIDES; side++) {
            result[side] = text_next(&reader[side], &line[side], &length[side], error);
            if (result[side] == TEXT_ERROR) return false;
            lines[side] += result[side] == TEXT_LINE;
        }
        if (result[SOURCE] == TEXT_END && result[TARGET] == TEXT_END) return true;
        if (result[SOURCE] != result[TARGET]) break;
        CorpusLine where = {.file = (unsigned)file, .line = lines[SOURCE]};
        if (!take_pair(growing, report, line, length, where, error)) return false;
    }
    int longer = lines[SOURCE] > lines[TARGET] ? SOURCE : TARGET;
    if (!count_rest(&lines[longer], &reader[longer], error)) return false;
    return error_set(error, "%s has %zu lines but %s has %zu: they must match line by line",
                     reader[SOURCE].name, lines[SOURCE], reader[TARGET].name, lines[TARGET]);
}

static bool read_files(Growing *growing, CorpusReport *report, const char *source,
                       const char *target, int file, Error *error)
{
    TextReader reader[SIDES];
    if (!text_open(&reader[SOURCE], source, error)) return false;
    bool good = text_open(&reader[TARGET], target, error);
    if (good) {
        good = read_two(growing, report, reader, file, error);
        text_close(&reader[TARGET]);
    }
    text_close(&reader[SOURCE]);
    return good;
}

static bool read_tsv(Growing *growing, CorpusReport *report, const char *path, int file,
                     Error *error)
{
    TextReader reader;
    if (!text_open(&reader, path, error)) return false;
    const char *line;
    size_t length;
    TextResult result;
    while ((result = text_next(&reader, &line, &length, error)) == TEXT_LINE) {
        const char *end = line + length, *tab = memchr(line, '\t', length);
        if (!tab && !is_blank(line, length)) {
            error_set(error, "%s:%zu: there is no TAB: a line is source TAB target", path,
                      reader.line);
            result = TEXT_ERROR;
            break;
        }
        const char *target = tab ? tab + 1 : end;
        const char *next = memchr(target, '\t', (size_t)(end - target));
        const char *const text[SIDES] = {line, target};
        const size_t count[SIDES] = {tab ? (size_t)(tab - line) : 0,
                                     (size_t)((next ? next : end) - target)};
        CorpusLine where = {.file = (unsigned)file, .line = reader.line};
        if (!take_pair(growing, report, text, count, where, error)) {
            result = TEXT_ERROR;
            break;
        }
    }
    text_close(&reader);
    return result == TEXT_END;
}

static bool read_all(Growing *growing, CorpusReport *report, const CorpusFiles *files,
                     Error *error)
{
    if (files->sources != files->targets) {
        return error_set(error,
                         "there are %d source files but %d target files: give one target "
                         "for every source",
                         files->sources, files->targets);
    }
    if (files->sources + files->tsvs == 0) return error_set(error, "no corpus was given");
    if (files->sources + files->tsvs > CORPUS_MAX_FILES) {
        return error_set(error, "a corpus has at most %d files", CORPUS_MAX_FILES);
    }
    for (int i = 0; i < files->sources; i++) {
        if (!read_files(growing, report, files->source[i], files->target[i], i, error)) {
            return false;
        }
    }
    for (int i = 0; i < files->tsvs; i++) {
        if (!read_tsv(growing, report, files->tsv[i], files->sources + i, error)) return false;
    }
    if (growing->text->pairs > 0) return true;
    const char *first = files->sources ? files->source[0] : files->tsv[0];
    return report->read == 0
               ? error_set(error, "%s is empty: there is nothing to learn from", first)
               : error_set(error, "%s has no pair with text on both sides", first);
}

static void text_shrink(CorpusText *text)
{
    for (int side = 0; side < SIDES; side++) {
        text->bytes[side] = shrunk(text->bytes[side], text->start[side][text->pairs], 1);
        text->start[side] = shrunk(text->start[side], text->pairs + 1, sizeof(size_t));
    }
    text->line = shrunk(text->line, text->pairs, sizeof *text->line);
}

static void report_text(CorpusReport *report, const CorpusText *text)
{
    report->kept = text->pairs;
    for (int side = 0; side < SIDES; side++)
        report->bytes[side] = text->start[side][text->pairs];
}

bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files, Error *error)
{
    *text = (CorpusText){0};
    *report = (CorpusReport){0};
    Growing growing = {.text = text};
    if (!read_all(&growing, report, files, error)) {
        corpus_text_free(text);
        return false;
    }
    text_shrink(text);
    report_text(report, text);
    return true;
}

/* ---- sentences ---- */

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

/* Moves pair `from` of the text down to place `to` <= from; text->pairs stays, and the pairs
 * behind `from` can still be read. */
static void move_pair(CorpusText *text, size_t to, size_t from)
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
            move_pair(text, kept++, pair);
            continue;
        }
        const char *line[SIDES];
        size_t length[SIDES];
        for (int s = 0; s < SIDES; s++) line[s] = corpus_sentence(text, s, pair, &length[s]);
        if (!append(&growing, line, length, text->line[pair], error)) {
            corpus_text_free(held_out);
            return false;
        }
        wanted--;
    }
    text->pairs = kept;
    text_shrink(text);
    if (count > 0) text_shrink(held_out);
    report_text(report, text);
    return true;
}

/* ---- encoding ---- */

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
    if (!start) return no_memory(error);
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
        void *id = ids.id;
        good = grow(&id, &ids.size, ids.count + 1, sizeof *ids.id) || no_memory(error);
        ids.id = id;
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
            skip(&report->too_long, text->line[pair]);
            continue;
        }
        if (length[SOURCE] == 1 || length[TARGET] == 1) {
            skip(length[TARGET] > 1   ? &report->empty_source
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
        if (keep_text) move_pair(text, kept, pair);
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
                   const Tokenizer *tokenizer, int max_length, bool keep_text, Error *error)
{
    for (int side = 0; side < SIDES; side++) {
        if (!encode_side(corpus, text, side, tokenizer, max_length, keep_text, error)) {
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
    if (!keep_text) {
        corpus->line = shrunk(text->line, corpus->pairs, sizeof *corpus->line);
        text->line = NULL;
    }
    corpus->vocab_size = tokenizer_vocab_size(tokenizer);
    report_ids(report, corpus);
    if (keep_text) report_text(report, text);
    return true;
}

bool corpus_encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *tokenizer, int max_length, bool keep_text, Error *error)
{
    *corpus = (Corpus){0};
    bool good = encode(corpus, text, report, tokenizer, max_length, keep_text, error);
    if (!good) corpus_free(corpus);
    if (!good || !keep_text) corpus_text_free(text);
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
