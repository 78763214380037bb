/* generate.c -- writes the toy corpus:  build/data/toy/generate DIRECTORY
 *
 * The constructions take turns, so every file holds all of them evenly. No sentence of either
 * language comes twice. */
#include "data/toy/grammar.h"

#include <stdio.h>
#include <zlib.h>

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
            corpus_next(line[0], line[1], line[2]);
            for (int f = 0; f < files; f++) good &= gzprintf(file[f], "%s\n", line[f]) > 0;
        }
        for (int f = 0; f < files; f++) good = file[f] && gzclose(file[f]) == Z_OK && good;
        if (!good) return fprintf(stderr, "generate: cannot write '%s'\n", path[0]), 1;
    }
    return 0;
}
