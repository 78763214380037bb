/* mecab.h -- the words of Japanese and Korean by MeCab (Kudo, Yamamoto and Matsumoto 2004, W04-3230),
 * where libmecab.so.2 and the dictionary are installed. */
#pragma once

#include "scores/codepoints.h"

/* Puts spaces between the words of Japanese or Korean. Fails if MeCab or its dictionary for the
 * language is missing, or memory is short. */
bool mecab_split(Codepoints *text, bool korean, Error *error);

/* "-0.996-IPA", "-0.996-KO": what sacrebleu adds to the name of the tokenization. "" if MeCab is
 * missing. */
void mecab_signature(bool korean, char *text, size_t size);
