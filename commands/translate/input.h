/* input.h -- the lines that ./translate reads: the texts of its command line, or standard
 * input. */
#pragma once

#include "commands/progressbar.h"
#include "commands/translate/request.h"
#include "data/text.h"
#include "inference/align.h"
#include "inference/passage.h"

typedef struct Input {
    const StringList *texts;  // if empty: standard input
    TextReader reader;
    TextReader target;        // the translations of the lines, if they are in a file; or {0}
    TextReader gold;          // their links, or {0}
    long long gold_links;     // read so far
    FILE *news;               // for warnings, or NULL
    ProgressBar bar;          // that is on it; the caller starts it
    long long unknown_lines;  // with unknown words
    bool prompt;              // a prompt is printed
    bool wrapped;             // the caller sets it: lines up to an empty one are one text
    char *paragraph;          // the last of these
    size_t paragraph_size;    // allocated
    const char *after;        // the line after it, which is the next text; or NULL
    size_t after_length;
    Fence fence;
    long long fence_line;  // the number of the line that began it
    bool code;         // the last line is of a block of code, its first and last ones included
    long long lines;   // returned so far
    long long line;    // the number of the last of them, or of the first line of a paragraph
    StringList ahead;  // the lines by which input_is_pairs decided
    int again;         // of these, how many input_next has returned once more
    const char *mark;  // between the columns of the first pair; NULL: none was read
    bool sources;      // input_is_pairs decided that there are none
} Input;

/* Opens what the request names. news: where to print hints and warnings, and a prompt if it and
 * standard input are terminals; NULL: nowhere. */
bool input_open(Input *input, const Request *request, FILE *news, Error *error);
void input_close(Input *input);  // does nothing for {0}

/* The next line; checks that it is UTF-8. The result is that of text_next, but TEXT_END if a signal
 * has ended the waiting (base/file.h). Sets input->code of standard input. */
TextResult input_next(Input *input, const char **line, size_t *length, Error *error);

/* *pairs (=) whether the input is pairs: there is a target, or the first line that is not empty has two
 * columns. The lines up to it, at most 100, stay the next ones. If there are none, input_next warns of the
 * first line that has two columns. */
bool input_is_pairs(Input *input, bool *pairs, Error *error);

/* The next pair as text: a line and that of the target, or the first two columns of a line, between
 * which a TAB or " ||| " stands. *both (=) whether it has two columns, which the first line that is not
 * empty must have; NULL: all must. The result is that of input_next. */
TextResult input_next_columns(Input *input, const char *line[SIDES], size_t length[SIDES],
                              bool *both, Error *error);

/* Adds the same to the lines of each side, which need find_unknown, and names its unknown words.
 * *left_out (=) whether a side was cut because it is longer than the model takes, or there is none. */
TextResult input_next_pair(Input *input, const Bundle *bundle, IdLines *source, IdLines *target,
                           bool *left_out, Error *error);

/* links (=) the gold links of the next pair, which has so many words on each side. *left_out (=) whether
 * its line has others, which is said; in the first line that is an error. */
bool input_next_gold(Input *input, Links *links, bool *left_out, int sources, int targets,
                     Error *error);

/* Call this at the end of the pairs: fails if the target or the gold links have more lines. */
bool input_end_pairs(Input *input, Error *error);

/* Whether input_next can return without waiting. A caller that collects lines must translate
 * what it has when this is false, so that a program that waits for each answer receives it. */
bool input_ready(Input *input);

/* The share of the input that input_next has returned, 0 to 1; negative if its size is
 * unknown. */
double input_share(const Input *input);

/* Names words that are not in the vocabulary, for the first lines that have some; input_end says
 * how many more there are. what: the option whose text they are from; NULL: the last line. */
void input_warn_unknown(Input *input, const StringList *words, const char *what);
void input_end(Input *input);

/* The same of the last of `lines`. */
bool input_warn_line(Input *input, const IdLines *lines, const char *what, Error *error);

/* The next line of a file that goes with the input line by line; fails if there is none. what:
 * the lines of the input, for the error. */
bool partner_next(TextReader *reader, const char **line, size_t *length, const char *what,
                  Error *error);

/* Call this at the end of the input: fails if such a file (or {0}) has more lines. */
bool partner_end(TextReader *reader, const char *what, Error *error);
