/* scores.h -- BLEU and chrF of translations, line by line against a file of references. */
#ifndef COMMANDS_TRANSLATE_SCORES_H
#define COMMANDS_TRANSLATE_SCORES_H

#include "data/text.h"
#include "inference/bleu.h"
#include "inference/chrf.h"

#include <stdio.h>

typedef struct Scores {
    Bleu bleu;
    Chrf chrf, chrf_words;  // chrF2 and chrF2++
    long long lines;
} Scores;

void scores_start(Scores *scores, Tokenization tokenization, bool lowercase);

/* Counts a translation against the reader's next line; an error if there is none. */
bool scores_add_line(Scores *scores, const char *hypothesis, TextReader *reference,
                     Error *error);

/* An error if the reader has a line left. */
bool scores_end(const Scores *scores, TextReader *reference, Error *error);

/* Three lines for people, or one JSON object. */
void scores_print(const Scores *scores, FILE *out);
void scores_print_json(const Scores *scores, FILE *out);

#endif
