/* generate.c -- writes the toy corpus:  build/data/toy/generate DIRECTORY
 *
 *   train.en.gz train.fr.gz   20,000 pairs: line i of one translates line i of the other
 *   valid.en valid.fr            500 pairs
 *   test.en test.fr              500 pairs; the first one is jane's visit to africa
 *   test.align                   which word translates which: "0-0 1-1 2-2", from 0, English first
 *
 * It reads data/toy/lexicon.txt and data/toy/grammar.txt. The constructions take turns, so
 * every file holds all of them evenly. No sentence of either language comes twice. A word that
 * fewer than COMMON training sentences hold is removed with all its sentences, until none is
 * left. */
#include "data/toy/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TRAIN = 20000, VALID = 500, TEST = 500, ALL = TRAIN + VALID + TEST };
enum { POOL = 80000, COMMON = 40, STEP = 5, MAX_DERIVATIONS = 1 << 17 };

static Sentence pool[POOL];
static int count;

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("generate: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

uint32_t text_number(TextMap *map, const char *text)
{
    uint32_t at = 2166136261u, number;  // FNV-1a
    for (const char *c = text; *c; c++) at = (at ^ (unsigned char)*c) * 16777619u;
    while ((number = map->slot[at %= TEXT_SLOTS]) > 0) {
        if (strcmp(map->text[number - 1], text) == 0) return number - 1;
        at++;
    }
    if (map->count == TEXT_SLOTS / 2) die("there are too many texts");
    map->text[map->count] = strdup(text);
    map->slot[at] = ++map->count;
    return map->count - 1;
}

static const char *line_of(const Words *words)
{
    static char line[MAX_WORDS * WORD_BYTES];
    line[0] = '\0';
    for (int w = 0; w < words->count; w++)
        strcat(strcat(line, w > 0 ? " " : ""), words->text[w]);
    return line;
}

/* Adds the sentence after the last of the pool if neither side is known. */
static bool pool_add(void)
{
    static TextMap known[2];
    uint32_t en = known[0].count, fr = known[1].count;
    bool new_en = text_number(&known[0], line_of(&pool[count].en)) == en;
    bool new_fr = text_number(&known[1], line_of(&pool[count].fr)) == fr;
    count += new_en && new_fr;
    return new_en && new_fr;
}

/* Fills the pool with distinct sentences; the constructions take turns. */
static void pool_fill(const Grammar *g)
{
    uint64_t next[MAX_CONSTRUCTIONS] = {0}, turns = (uint64_t)g->constructions;
    grammar_derive(g, &pool[0], g->symbol[JANE].rule, 0);
    pool_add();
    for (int before = 0; before < count && count < POOL;) {
        before = count;
        for (uint64_t c = 0; c < turns && count < POOL; c++)
            for (bool found = false; !found && next[c] < MAX_DERIVATIONS; next[c]++)
                found =
                    grammar_derive(g, &pool[count], g->construction[c], next[c] * turns + c) &&
                    pool_add();
    }
}

/* Adds to the counts of the words of a sentence; the count of the rarest. */
static int words_count(int counts[2][TEXT_SLOTS / 2], const Sentence *sentence, int add)
{
    static TextMap vocabulary[2];
    const Words *side[2] = {&sentence->en, &sentence->fr};
    int rarest = ALL;
    for (int s = 0; s < 2; s++)
        for (int w = 0; w < side[s]->count; w++) {
            int *counted = &counts[s][text_number(&vocabulary[s], side[s]->text[w])];
            if ((*counted += add) < rarest) rarest = *counted;
        }
    return rarest;
}

/* Keeps the sentences whose words are all common in the training set, which follows the first
 * TEST + VALID sentences. The rarest words go first: others become more common by that. */
static void pool_prune(void)
{
    static int counts[2][TEXT_SLOTS / 2];
    for (int common = STEP, kept, rare; common <= COMMON; count = kept) {
        memset(counts, 0, sizeof counts);
        for (int i = TEST + VALID; i < ALL && i < count; i++) words_count(counts, &pool[i], 1);
        kept = rare = 0;
        for (int i = 0; i < count; i++)
            if (words_count(counts, &pool[i], 0) >= common) pool[kept++] = pool[i];
            else if (i < ALL) rare++;
        if (rare == 0) common += STEP;
    }
    if (count < ALL) die("the grammar gives only %d sentences", count);
}

static const char *alignment(const Sentence *sentence)
{
    static char line[1024];
    size_t length = 0;
    for (int en = 0; en < sentence->en.count; en++)
        for (int fr = 0; fr < sentence->fr.count; fr++)
            if (sentence->fr.link[fr] >> en & 1)
                length += (size_t)sprintf(line + length, "%s%d-%d", length ? " " : "", en, fr);
    return line;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *mode;  // "T": without compression; zlib writes no time into a .gz
        int first, last;
    } files[] = {{"test.en", "wbT", 0, TEST},
                 {"test.fr", "wbT", 0, TEST},
                 {"test.align", "wbT", 0, TEST},
                 {"valid.en", "wbT", TEST, TEST + VALID},
                 {"valid.fr", "wbT", TEST, TEST + VALID},
                 {"train.en.gz", "wb9", TEST + VALID, ALL},
                 {"train.fr.gz", "wb9", TEST + VALID, ALL}};
    static Grammar grammar;
    if (argc != 2 || argv[1][0] == '-') die("usage: generate DIRECTORY");
    grammar_read(&grammar, "data/toy/lexicon.txt", "data/toy/grammar.txt");
    pool_fill(&grammar);
    pool_prune();
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], files[f].name);
        gzFile file = gzopen(path, files[f].mode);
        bool good = file != NULL;
        for (int i = files[f].first; good && i < files[f].last; i++)
            good = gzprintf(file, "%s\n",
                            strstr(path, ".align") ? alignment(&pool[i])
                            : strstr(path, ".fr")  ? line_of(&pool[i].fr)
                                                   : line_of(&pool[i].en)) > 0;
        if (!good || gzclose(file) != Z_OK) die("cannot write '%s'", path);
    }
    return 0;
}
