/* generate.c -- writes the toy corpus:  build/data/toy/generate DIRECTORY
 *
 * The constructions take turns, so every file holds all of them evenly. No sentence of either
 * language comes twice. */
#include "data/toy/grammar.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { SLOTS = 1 << 17, LINE_BYTES = MAX_WORDS * WORD_BYTES };

static void line_of(const Words *words, char line[LINE_BYTES])
{
    line[0] = '\0';
    for (int w = 0; w < words->count; w++)
        strcat(strcat(line, w > 0 ? " " : ""), words->text[w]);
}

/* Adds the line to a hash table; false if it is there already. */
static bool line_is_new(char *known[SLOTS], const char *line)
{
    uint32_t at = 2166136261u;  // FNV-1a
    for (const char *c = line; *c; c++) at = (at ^ (unsigned char)*c) * 16777619u;
    while (known[at %= SLOTS] && strcmp(known[at], line) != 0) at++;
    if (known[at]) return false;
    known[at] = strdup(line);
    return true;
}

/* The next sentence, its translation and their alignment. */
static void next(char en_line[LINE_BYTES], char fr_line[LINE_BYTES], char *align)
{
    static char *known[2][SLOTS];
    static uint64_t index;
    static int count;
    Clause clause[2];
    Words en, fr;
    for (bool found = false; !found;) {
        if (!meaning_choose(clause, count % CONSTRUCTIONS, index++)) continue;
        sentence_say(&en, &fr, clause);
        if (en.count < 3 || en.count > 14) continue;
        line_of(&en, en_line);
        line_of(&fr, fr_line);
        found = line_is_new(known[0], en_line);
        found = line_is_new(known[1], fr_line) && found;
    }
    count++;
    const char *start = align;
    for (int i = 0; i < en.count; i++)
        for (int j = 0; j < fr.count; j++)
            if (fr.link[j] >> i & 1)
                align += sprintf(align, "%s%d-%d", align > start ? " " : "", i, j);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name[3], *mode;  // "T": without compression; zlib writes no time into a .gz
        int pairs;
    } sets[] = {{{"test.en", "test.fr", "test.align"}, "wbT", 500},
                {{"valid.en", "valid.fr", NULL}, "wbT", 500},
                {{"train.en.gz", "train.fr.gz", NULL}, "wb9", 20000}};
    static char line[3][LINE_BYTES], path[3][4096];
    gzFile file[3];
    if (argc != 2 || argv[1][0] == '-') return fputs("usage: generate DIRECTORY\n", stderr), 2;
    for (int s = 0; s < 3; s++) {
        int files = sets[s].name[2] ? 3 : 2;
        bool good = true;
        for (int f = 0; f < files; f++) {
            snprintf(path[f], sizeof path[f], "%s/%s", argv[1], sets[s].name[f]);
            good &= (file[f] = gzopen(path[f], sets[s].mode)) != NULL;
        }
        for (int pair = 0; good && pair < sets[s].pairs; pair++) {
            next(line[0], line[1], line[2]);
            for (int f = 0; f < files; f++) good &= gzprintf(file[f], "%s\n", line[f]) > 0;
        }
        for (int f = 0; f < files; f++) good = file[f] && gzclose(file[f]) == Z_OK && good;
        if (!good) return fprintf(stderr, "generate: cannot write '%s'\n", path[0]), 1;
    }
    return 0;
}
