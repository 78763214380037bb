/* mecab.h -- the words of Japanese and Korean by MeCab (Kudo, Yamamoto and Matsumoto 2004, W04-3230),
 * where libmecab.so.2 and the dictionary are installed. */
#pragma once

#include "scores/codepoints.h"

typedef enum { MECAB_JAPANESE, MECAB_KOREAN } MecabLanguage;

/* Puts spaces between the words. Fails if MeCab or its dictionary for the language is missing, or
 * memory is short. */
bool mecab_split(Codepoints *text, MecabLanguage language, Error *error);

/* "-0.996-IPA", "-0.996-KO": what sacrebleu adds to the name of the tokenization. "" if MeCab is
 * missing. */
void mecab_signature(MecabLanguage language, char *text, size_t size);
