/* input.h -- the lines that ./translate reads: the texts of its command line, or standard
 * input. */
#pragma once

#include "base/json.h"
#include "base/options.h"
#include "commands/progressbar.h"
#include "data/text.h"
#include "inference/passage.h"

#include <signal.h>
#include <stdio.h>

typedef struct Input {
    const StringList *texts;  // if empty: standard input
    TextReader reader;
    FILE *news;               // for warnings, or NULL
    ProgressBar *bar;         // that is on it, or NULL; the caller sets it
    long long unknown_lines;  // with unknown words
    FILE *prompt;             // where a prompt is printed, or NULL
    bool wrapped;             // the caller sets it: lines up to an empty one are one text
    char *paragraph;          // the last of these
    size_t paragraph_size;    // allocated
    bool at_empty;            // the empty line after it is the next text
    double size;              // bytes of standard input, if it is a file; else 0
    long long lines;          // returned so far
} Input;

/* news: where to print hints and warnings, and a prompt if it and standard input are terminals;
 * NULL: nowhere. */
bool input_open(Input *input, const StringList *texts, FILE *news, Error *error);
void input_close(Input *input);  // does nothing for {0}

/* The next line; checks that it is UTF-8. The result is that of text_next, but TEXT_END if a signal
 * has ended the waiting (base/file.h). */
TextResult input_next(Input *input, const char **line, size_t *length, Error *error);

/* Whether input_next can return without waiting. A caller that collects lines must translate
 * what it has when this is false, so that a program that waits for each answer receives it. */
bool input_ready(Input *input);

/* The share of the input that input_next has returned, 0 to 1; negative if its size is
 * unknown. */
double input_share(const Input *input);

/* Names words that are not in the vocabulary, for INPUT_UNKNOWN lines at most; input_end says how
 * many more there are. what: the option whose text they are from; NULL: the line that was read
 * last. */
enum { INPUT_UNKNOWN = 10 };
void input_warn_unknown(Input *input, const StringList *words, const char *what);
void input_end(const Input *input);

/* The same of the last of `lines`. */
bool input_warn_line(Input *input, const IdLines *lines, const char *what, Error *error);

/* The next line of a file that goes with the input line by line; fails if there is none. what:
 * the lines of the input, for the error. */
bool partner_next(TextReader *reader, const char **line, size_t *length, const char *what,
                  Error *error);

/* Call this at the end of the input: fails if such a file (or NULL) has more than these
 * lines. */
bool partner_end(TextReader *reader, long long lines, const char *what, Error *error);

/* The sentence pairs of --score, --align and --head-report: sources and targets in two files, line
 * by line, or lines of source TAB target. */
typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    const volatile sig_atomic_t *stop;  // once it is not 0, no more pairs are read
} Pairs;

/* Adds the pair that begins with the line just read, and names its unknown words: both lists
 * need find_unknown. *left_out (=) whether a side was cut because it is longer than the model
 * takes, or there is none. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *left_out,
               const char *line, size_t length, Error *error);
