/* scores.h -- BLEU and chrF of translations against a file of references, line by line. */
#pragma once

#include "commands/translate/request.h"
#include "data/text.h"
#include "scores/bleu.h"
#include "scores/chrf.h"

#include <stdio.h>

typedef struct Scores {
    Bleu bleu;
    Chrf chrf;      // with words: chrF2++
    bool composed;  // compare texts in the form NFC (scores/composed.h)
    TextReader reference;
    Error failure;         // why a translation was not scored: none after it is
    size_t spaces, bytes;  // of the references
} Scores;

/* Opens the references that the request names; the caller closes them. */
bool scores_open(Scores *scores, const Request *request, Error *error);

/* Adds a translation of the next reference, unless one is longer than CODEPOINTS_LIMIT: that is
 * said on standard error. Returns false after a failure, which scores_end reports. */
bool scores_add(Scores *scores, const char *hypothesis);

/* Adds all lines of a file of translations. */
bool scores_add_file(Scores *scores, const char *path, Error *error);

/* Prints three lines of text, or one JSON object. Fails if there are more references. */
bool scores_end(Scores *scores, FILE *out, bool json, Error *error);
