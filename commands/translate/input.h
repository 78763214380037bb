/* input.h -- the lines that ./translate is given: the texts of its command line, or its standard
 * input, line by line. */
#ifndef COMMANDS_TRANSLATE_INPUT_H
#define COMMANDS_TRANSLATE_INPUT_H

#include "base/options.h"
#include "data/text.h"

#include <stdio.h>

typedef struct Input {
    const StringList *texts;  // none in it: standard input
    int next;                 // of the texts
    TextReader reader;
    FILE *prompt;     // where a terminal's user is told that it is their turn, or NULL
    double size;      // bytes of standard input, if it is a file; else 0
    long long lines;  // handed out so far
} Input;

/* prompt: used if standard input and it are terminals; NULL: never. */
bool input_open(Input *input, const StringList *texts, FILE *prompt, Error *error);
void input_close(Input *input);  // fine on {0}

/* The next line, checked to be UTF-8; as text_next. */
TextResult input_next(Input *input, const char **line, size_t *length, Error *error);

/* Whether the next line can be had without waiting. Who collects lines to work on them together
 * stops where it cannot: so whoever asks line by line is answered line by line. */
bool input_ready(Input *input);

/* Which part of the input was handed out, 0 to 1; negative where that cannot be known. */
double input_share(const Input *input);

#endif
