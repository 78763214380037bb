/* answer.h -- how a translation is written down.
 *
 *   text      one line
 *   n-best    1 ||| der alte Mann ||| -0.5312        number of the line, text, score; one line each
 *   aligned   … ||| 0-0 1-1 2-2                      behind either
 *   JSON      {"line":1,"text":"der alte Mann","score":-0.53,"log_probability":-2.12,
 *              "tokens":["▁der","▁alte","▁Mann","</s>"]}
 *             with "alignment":"0-0 1-1 2-2" where that was asked for; and, where several were,
 *             "n_best":[…] of all, each an object with these members from "text" on
 *
 * An empty line of input has an empty line as its answer: text "", score and log_probability 0, no
 * tokens. */
#ifndef COMMANDS_TRANSLATE_ANSWER_H
#define COMMANDS_TRANSLATE_ANSWER_H

#include "inference/bundle.h"
#include "inference/search.h"

#include <stdio.h>

typedef struct AnswerFormat {
    FILE *out;  // NULL: nothing is written
    const Bundle *bundle;
    const IdLines *lines;  // the sources, for unknown words (copying.h)
    bool json;
    bool several;  // n-best was asked for, even if there is one only
} AnswerFormat;

/* Writes the answer to line s of the lines, which is number `number` of the input; *best (=) its
 * first text, to be freed. translation NULL: the line is empty. links: of each hypothesis, or NULL. */
bool answer_write(const AnswerFormat *format, const Translation *translation,
                  char *const *links, int s, long long number, char **best, Error *error);

#endif
