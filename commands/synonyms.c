/* synonyms.c -- names of options in JoeyNMT, fairseq, Marian, OpenNMT and Hugging Face's
 * transformers, and in older versions of these programs. */
#include "commands/synonyms.h"

#include <stddef.h>

// clang-format off
const Synonym option_synonyms[] = {
    {"fold-case", "lowercase", NULL},
    {"attention-score", "score", NULL},
    {"whole-words", "words", NULL},
    {"learning-rate", "lr", NULL},
    {"beam", "beam-size", NULL},
    {NULL, NULL, NULL},
};
// clang-format on
