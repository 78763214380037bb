/* scores.h -- BLEU and chrF of translations against a file of references, line by line. */
#pragma once

#include "data/text.h"
#include "scores/bleu.h"
#include "scores/chrf.h"

#include <stdio.h>

/* Start with the settings of both, and counts of 0. */
typedef struct Scores {
    Bleu bleu;
    Chrf chrf;  // with words: chrF2++
    long long lines;
} Scores;

/* Adds a translation of the reference's next line, unless one is longer than CODEPOINTS_LIMIT: that
 * is said on standard error. Fails if there is none. Call partner_end (input.h) after the last. */
bool scores_add_line(Scores *scores, const char *hypothesis, TextReader *reference,
                     Error *error);

/* Adds all lines of a file of translations; fails if the reference has more. */
bool scores_add_file(Scores *scores, const char *path, TextReader *reference, Error *error);

/* Three lines of text, or one JSON object. */
void scores_print(const Scores *scores, FILE *out);
void scores_print_json(const Scores *scores, FILE *out);
