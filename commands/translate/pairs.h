/* pairs.h -- given translations, as ./translate --score and --align read them: the targets in a file
 * of their own, line by line, or source TAB target. */
#ifndef COMMANDS_TRANSLATE_PAIRS_H
#define COMMANDS_TRANSLATE_PAIRS_H

#include "commands/translate/input.h"
#include "inference/bundle.h"

typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    FILE *news;          // for warnings, or NULL
    const char *option;  // "--score": what asks for pairs, for the sentence where there is none
    const char *done;    // "scored": what a pair that is too long is not
} Pairs;

/* Adds a pair, of which the input's line was just read. *too_long (=): a side is longer than the
 * model takes, and cut. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error);

/* The line of another file that belongs to it: the targets, or what else goes with the pairs. */
bool pairs_line(TextReader *reader, const char **line, size_t *length, Error *error);

/* At the end of the input: an error if such a file (NULL is fine) goes on. */
bool pairs_end(const Pairs *pairs, TextReader *reader, Error *error);

#endif
