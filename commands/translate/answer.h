/* answer.h -- how a translation is written to standard output.
 *
 *   text      one line
 *   n-best    1 ||| der alte Mann ||| -0.5312        line number, text, score; one line each
 *   aligned   … ||| 0-0 1-1 2-2                      after either
 *   JSON      {"line":1,"text":"der alte Mann","score":-0.53,"log_probability":-2.12,
 *              "tokens":["▁der","▁alte","▁Mann","</s>"]}
 *             with "alignment":"0-0 1-1 2-2" if --align is given, and with "n_best":[…] if
 *             there are several translations: each is an object with the members from "text" on
 *
 * The answer to an empty line is empty: text "", score and log_probability 0, no tokens. */
#ifndef COMMANDS_TRANSLATE_ANSWER_H
#define COMMANDS_TRANSLATE_ANSWER_H

#include "data/tokenizer.h"
#include "inference/search.h"

#include <stdio.h>

typedef struct AnswerFormat {
    FILE *out;
    const Tokenizer *tokenizer;  // the target's
    bool json;
    bool several;  // an n-best list, even if it has only one entry
} AnswerFormat;

/* One translation of a line. */
typedef struct AnswerText {
    const Hypothesis *hypothesis;
    char *text, *links;  // owned; links NULL: no alignment
} AnswerText;

/* Writes the answers [count], best first, for line `number` of the input. */
void answer_write(const AnswerFormat *format, const AnswerText *answers, int count,
                  long long number);
void answers_free(AnswerText *answers, int count);  // does nothing for NULL

#endif
