/* input.h -- the lines that ./translate reads: the texts of its command line, or standard
 * input; with --score and --align sentence pairs: the targets in another file, line by line, or
 * lines of source TAB target. */
#ifndef COMMANDS_TRANSLATE_INPUT_H
#define COMMANDS_TRANSLATE_INPUT_H

#include "base/options.h"
#include "data/text.h"
#include "inference/bundle.h"

#include <signal.h>
#include <stdio.h>

typedef struct Input {
    const StringList *texts;  // if empty: standard input
    int next;                 // the next text
    TextReader reader;
    FILE *prompt;     // where a prompt is printed, or NULL
    double size;      // bytes of standard input, if it is a file; else 0
    long long lines;  // returned so far
} Input;

/* prompt: where to print a prompt if it and standard input are terminals; NULL: never. */
bool input_open(Input *input, const StringList *texts, FILE *prompt, Error *error);
void input_close(Input *input);  // does nothing for {0}

/* The next line; checks that it is UTF-8. The result is that of text_next. */
TextResult input_next(Input *input, const char **line, size_t *length, Error *error);

/* Whether input_next can return without waiting. A caller that collects lines must translate
 * what it has when this is false, so that a program that waits for each answer receives it. */
bool input_ready(Input *input);

/* The share of the input that input_next has returned, 0 to 1; negative if its size is
 * unknown. */
double input_share(const Input *input);

/* The next line of a file that goes with the input line by line; fails if there is none. what:
 * the lines of the input, for the error. */
bool partner_next(TextReader *reader, const char **line, size_t *length, const char *what,
                  Error *error);

/* Call this at the end of the input: fails if such a file has more than these lines. */
bool partner_end(TextReader *reader, long long lines, const char *what, Error *error);

typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    FILE *news;          // for warnings, or NULL
    const char *option;  // "--score", for the error about a line that is no pair
    const char *done;    // "scored", for the warning that a long pair is not
    const volatile sig_atomic_t *stop;  // once it is not 0, no more pairs are read
} Pairs;

/* Adds the pair that begins with the line just read. *too_long (=) whether a side was cut
 * because it is longer than the model takes. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error);

/* partner_end for a file (or NULL) that goes with the pairs. */
bool pairs_end(const Pairs *pairs, TextReader *reader, Error *error);

#endif
