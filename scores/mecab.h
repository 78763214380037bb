/* mecab.h -- the words of Japanese and Korean by MeCab (Kudo, Yamamoto and Matsumoto 2004, W04-3230),
 * where libmecab.so.2 and the dictionary are installed. */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* The text with spaces between the words of Japanese or Korean, for free(). NULL if MeCab or its
 * dictionary for the language is missing, or memory is short. */
char *mecab_split(const char *text, bool korean, Error *error);

/* "-0.996-IPA", "-0.996-KO": what sacrebleu adds to the name of the tokenization. "" if MeCab is
 * missing. */
void mecab_signature(bool korean, char *text, size_t size);
