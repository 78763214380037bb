/* corpus.c -- the pairs of the toy corpus, one after another; see grammar.h. */
#include "data/toy/grammar.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 1 << 17 };

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

void corpus_next(char en_line[LINE_BYTES], char fr_line[LINE_BYTES], char *align)
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
