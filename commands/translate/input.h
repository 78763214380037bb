/* input.h -- the lines that ./translate reads: the texts of its command line, or standard
 * input. */
#ifndef COMMANDS_TRANSLATE_INPUT_H
#define COMMANDS_TRANSLATE_INPUT_H

#include "base/options.h"
#include "data/text.h"

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

#endif
