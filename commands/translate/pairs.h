/* pairs.h -- the sentence pairs of ./translate --score and --align: sources and targets in two
 * files, line by line, or lines of source TAB target. */
#ifndef COMMANDS_TRANSLATE_PAIRS_H
#define COMMANDS_TRANSLATE_PAIRS_H

#include "commands/translate/input.h"
#include "inference/bundle.h"

typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    FILE *news;          // for warnings, or NULL
    const char *option;  // "--score", for the error about a line that is no pair
    const char *done;    // "scored", for the warning that a long pair is not
} Pairs;

/* Adds the pair that begins with the line just read. *too_long (=) whether a side was cut
 * because it is longer than the model takes. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error);

/* The next line of another file that goes with the pairs; fails if there is none. */
bool pairs_line(TextReader *reader, const char **line, size_t *length, Error *error);

/* Call this at the end of the input: fails if such a file (or NULL) has more lines. */
bool pairs_end(const Pairs *pairs, TextReader *reader, Error *error);

#endif
