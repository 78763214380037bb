/* generate.c -- writes the toy corpus:  build/data/toy/generate DIRECTORY
 *
 *   train.en.gz train.fr.gz   20,000 pairs, line i of the one translating line i of the other
 *   valid.en valid.fr            500 pairs
 *   test.en test.fr              500 pairs, the first of them jane's visit to africa
 *   test.align                   which word translates which: "0-0 1-1 2-2", from 0, English first
 *
 * The constructions of the grammar take turns, so that every file holds all of them evenly. No
 * sentence of either language comes twice, and every word is common: a word that fewer than
 * COMMON training sentences hold takes all its sentences with it, until none such is left. */
#include "base/error.h"
#include "base/grow.h"
#include "data/toy/grammar.h"
#include "data/toy/textmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TRAIN = 20000, VALID = 500, TEST = 500, ALL = TRAIN + VALID + TEST };
enum { POOL = 80000, COMMON = 40, STEP = 5, MAX_DERIVATIONS = 1 << 17 };

// ---- choosing the sentences -----------------------------------------------------------------

static void words_line(char line[MAX_WORDS * WORD_BYTES], const Words *words)
{
    size_t length = 0;
    for (int w = 0; w < words->count; w++) {
        if (w > 0) line[length++] = ' ';
        strcpy(line + length, words->word[w].text);
        length += strlen(words->word[w].text);
    }
}

/* *is_new: neither side has been seen before. */
static bool see(TextMap seen[2], const Sentence *sentence, bool *is_new, Error *error)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    char line[2][MAX_WORDS * WORD_BYTES];
    *is_new = true;
    for (int s = 0; s < 2; s++) {
        words_line(line[s], side[s]);
        if (textmap_find(&seen[s], line[s], strlen(line[s])) != TEXTMAP_NONE) *is_new = false;
    }
    for (int s = 0; s < 2 && *is_new; s++) {
        uint32_t number;
        if (!textmap_add(&seen[s], &number, line[s], strlen(line[s]), error)) return false;
    }
    return true;
}

/* The next new sentence of a construction; *found: there is one. */
static bool next_sentence(Sentence *sentence, int construction, int *derivation,
                          TextMap seen[2], bool *found, Error *error)
{
    *found = false;
    while (!*found && *derivation < MAX_DERIVATIONS)
        if (grammar_sentence(sentence, construction, (uint64_t)(*derivation)++) &&
            !see(seen, sentence, found, error))
            return false;
    return true;
}

/* Fills the pool with *count distinct sentences, the constructions taking turns. */
static bool pool_fill(Sentence *pool, int *count, Error *error)
{
    TextMap seen[2] = {{0}, {0}};
    int *next = calloc((size_t)construction_count, sizeof *next);
    bool good = next || error_set(error, "there is not enough memory"), more = true, found;
    *count = 0;
    if (good) {
        grammar_jane(&pool[(*count)++]);
        good = see(seen, &pool[0], &found, error);
    }
    while (good && more) {
        more = false;
        for (int c = 0; c < construction_count && *count < POOL && good; c++) {
            good = next_sentence(&pool[*count], c, &next[c], seen, &found, error);
            if (good && found) ++*count, more = true;
        }
    }
    for (int s = 0; s < 2; s++) textmap_free(&seen[s]);
    free(next);
    return good;
}

/* How often the words of a language come. */
typedef struct Counts {
    TextMap words;
    int *count;  // [words.count]
    size_t room;
} Counts;

static void counts_free(Counts *counts)
{
    textmap_free(&counts->words);
    free(counts->count);
}

static bool count_words(Counts counts[2], const Sentence *sentence, Error *error)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < side[s]->count; w++) {
            Counts *c = &counts[s];
            const char *text = side[s]->word[w].text;
            uint32_t number, before = c->words.count;
            if (!textmap_add(&c->words, &number, text, strlen(text), error)) return false;
            if (!GROW(c->count, c->room, c->words.count))
                return error_set(error, "there is not enough memory");
            if (number == before) c->count[number] = 0;
            c->count[number]++;
        }
    return true;
}

static bool has_rare_word(const Counts counts[2], const Sentence *sentence, int common)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < side[s]->count; w++) {
            const char *text = side[s]->word[w].text;
            uint32_t number = textmap_find(&counts[s].words, text, strlen(text));
            if (number == TEXTMAP_NONE || counts[s].count[number] < common) return true;
        }
    return false;
}

/* Keeps of the *count sentences those whose words are all common in the training set, which is
 * what follows the first TEST + VALID, up to ALL. The rarest words go first, since what remains
 * becomes more common by that. */
static bool pool_prune(Sentence *pool, int *count, Error *error)
{
    bool good = true;
    for (int common = STEP; good && common <= COMMON;) {
        Counts counts[2] = {{.room = 0}, {.room = 0}};
        for (int i = TEST + VALID; i < ALL && i < *count && good; i++)
            good = count_words(counts, &pool[i], error);
        int kept = 0;
        bool rare = false;
        for (int i = 0; i < *count && good; i++) {
            bool drop = has_rare_word(counts, &pool[i], common);
            if (drop && i < ALL) rare = true;
            if (!drop) pool[kept++] = pool[i];
        }
        for (int s = 0; s < 2; s++) counts_free(&counts[s]);
        *count = kept;
        if (!rare) common += STEP;
    }
    return good;
}

// ---- writing them ---------------------------------------------------------------------------

/* The lines i0 .. i1-1 of one side, gzipped if the name says so: zlib writes no time into it. */
static bool write_side(const char *directory, const char *name, const Sentence *pool, int i0,
                       int i1, bool french, Error *error)
{
    char path[4096], line[MAX_WORDS * WORD_BYTES];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    gzFile file = gzopen(path, strstr(name, ".gz") ? "wb9" : "wbT");
    if (!file) return error_set(error, "cannot write '%s': %s", path, strerror(errno));
    bool good = true;
    for (int i = i0; i < i1; i++) {
        words_line(line, french ? &pool[i].fr : &pool[i].en);
        good = gzputs(file, line) > 0 && gzputs(file, "\n") > 0 && good;
    }
    good = gzclose(file) == Z_OK && good;
    return good || error_set(error, "cannot write '%s' to its end", path);
}

static bool write_alignment(const char *directory, const Sentence *pool, Error *error)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/test.align", directory);
    FILE *file = fopen(path, "wb");
    if (!file) return error_set(error, "cannot write '%s': %s", path, strerror(errno));
    for (int i = 0; i < TEST; i++) {
        const char *space = "";
        for (int en = 0; en < pool[i].en.count; en++)
            for (int fr = 0; fr < pool[i].fr.count; fr++)
                if (pool[i].fr.word[fr].link & BIT(en)) {
                    fprintf(file, "%s%d-%d", space, en, fr);
                    space = " ";
                }
        fputc('\n', file);
    }
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    return good || error_set(error, "cannot write '%s' to its end", path);
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: generate DIRECTORY\n");
        return 2;
    }
    Error error;
    int count;
    Sentence *pool = malloc(POOL * sizeof *pool);
    bool good = pool || error_set(&error, "there is not enough memory");
    good = good && pool_fill(pool, &count, &error) && pool_prune(pool, &count, &error);
    if (good && count < ALL)
        good = error_set(&error, "the grammar gives only %d sentences", count);
    static const struct {
        const char *name;
        int first, last;
        bool french;
    } files[] = {
        {"test.en", 0, TEST, false},
        {"test.fr", 0, TEST, true},
        {"valid.en", TEST, TEST + VALID, false},
        {"valid.fr", TEST, TEST + VALID, true},
        {"train.en.gz", TEST + VALID, ALL, false},
        {"train.fr.gz", TEST + VALID, ALL, true},
    };
    for (int f = 0; f < 6 && good; f++)
        good = write_side(argv[1], files[f].name, pool, files[f].first, files[f].last,
                          files[f].french, &error);
    good = good && write_alignment(argv[1], pool, &error);
    if (!good) fprintf(stderr, "generate: %s\n", error.text);
    free(pool);
    return good ? 0 : 1;
}
