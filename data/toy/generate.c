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
#include "data/toy/grammar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TRAIN = 20000, VALID = 500, TEST = 500, ALL = TRAIN + VALID + TEST };
enum { POOL = 80000, COMMON = 40, STEP = 5, TABLE = 1 << 18, MAX_DERIVATIONS = 1 << 17 };

// ---- a set of texts, with a count each ------------------------------------------------------

typedef struct Entry {
    char *text;
    int count;
} Entry;

typedef struct Set {
    Entry entry[TABLE];
} Set;

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "generate: there is not enough memory\n");
        exit(1);
    }
    return memory;
}

/* The entry of a text, which is added with count 0 if it is not there. */
static Entry *set_entry(Set *set, const char *text)
{
    uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t e = hash % TABLE;
    while (set->entry[e].text && strcmp(set->entry[e].text, text) != 0) e = (e + 1) % TABLE;
    if (!set->entry[e].text) {
        set->entry[e].text = allocate(strlen(text) + 1);
        strcpy(set->entry[e].text, text);
    }
    return &set->entry[e];
}

static void set_free(Set *set)
{
    for (int e = 0; e < TABLE; e++) free(set->entry[e].text);
    free(set);
}

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

/* True the first time that neither side has been seen. */
static bool is_new(Set *seen[2], const Sentence *sentence)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    char line[2][MAX_WORDS * WORD_BYTES];
    for (int s = 0; s < 2; s++) {
        words_line(line[s], side[s]);
        if (set_entry(seen[s], line[s])->count > 0) return false;
    }
    for (int s = 0; s < 2; s++) set_entry(seen[s], line[s])->count++;
    return true;
}

/* Fills the pool with distinct sentences, the constructions taking turns; returns how many. */
static int pool_fill(Sentence *pool)
{
    Set *seen[2] = {allocate(sizeof(Set)), allocate(sizeof(Set))};
    int *next = allocate((size_t)construction_count * sizeof(int));
    int count = 0;
    grammar_jane(&pool[count++]);
    is_new(seen, &pool[0]);
    for (bool more = true; more && count < POOL;) {
        more = false;
        for (int c = 0; c < construction_count && count < POOL; c++)
            while (next[c] < MAX_DERIVATIONS) {
                if (!grammar_sentence(&pool[count], c, (uint64_t)next[c]++)) continue;
                if (!is_new(seen, &pool[count])) continue;
                count++;
                more = true;
                break;
            }
    }
    set_free(seen[0]);
    set_free(seen[1]);
    free(next);
    return count;
}

static void count_words(Set *counts[2], const Sentence *sentence)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < side[s]->count; w++)
            set_entry(counts[s], side[s]->word[w].text)->count++;
}

static bool has_rare_word(Set *counts[2], const Sentence *sentence, int common)
{
    const Words *side[2] = {&sentence->en, &sentence->fr};
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < side[s]->count; w++)
            if (set_entry(counts[s], side[s]->word[w].text)->count < common) return true;
    return false;
}

/* Keeps the sentences whose words are all common in the training set, which is what follows the
 * first TEST + VALID, up to ALL; returns how many are left. The rarest words go first, since what
 * remains becomes more common by that. */
static int pool_prune(Sentence *pool, int count)
{
    for (int common = STEP; common <= COMMON;) {
        Set *counts[2] = {allocate(sizeof(Set)), allocate(sizeof(Set))};
        for (int i = TEST + VALID; i < ALL && i < count; i++) count_words(counts, &pool[i]);
        int kept = 0;
        bool rare = false;
        for (int i = 0; i < count; i++) {
            bool drop = has_rare_word(counts, &pool[i], common);
            if (drop && i < ALL) rare = true;
            if (!drop) pool[kept++] = pool[i];
        }
        set_free(counts[0]);
        set_free(counts[1]);
        count = kept;
        if (!rare) common += STEP;
    }
    return count;
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
    Sentence *pool = allocate(POOL * sizeof(Sentence));
    int count = pool_prune(pool, pool_fill(pool));
    Error error;
    bool good = count >= ALL || error_set(&error, "the grammar gives only %d sentences", count);
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
