/* codepoints.h -- a sentence as Unicode code points, and what the scores ask about them.
 *
 * BLEU and chrF compare texts character by character, so a sentence is decoded once into 32-bit
 * numbers and worked on in that form. The rules for white space and lower case are those of
 * Python's str.split() and str.lower(), because published scores come from there. */
#ifndef INFERENCE_CODEPOINTS_H
#define INFERENCE_CODEPOINTS_H

#include "base/error.h"

#include <stdint.h>

typedef struct Codepoints {
    uint32_t *at;  // [length], on the heap
    int length;
} Codepoints;

/* The longest sentence that is read. It bounds the memory of everything that is computed from
 * one: about 200 MiB for chrF, and a few kilobytes for a sentence of the usual length. */
enum { CODEPOINTS_LIMIT = 1 << 20 };  // bytes of UTF-8

/* Decodes. Fails, with nothing to free, where the text is not valid UTF-8 (overlong forms,
 * surrogates and numbers past U+10FFFF included), longer than the limit, or memory is short. */
bool codepoints_read(Codepoints *text, const char *utf8, Error *error);
void codepoints_free(Codepoints *text);

/* Lower case with Unicode's full mapping. Fails if memory is short; the text then stays. */
bool codepoints_lower(Codepoints *text, Error *error);

/* An array for `length` code points, or NULL and an Error. */
uint32_t *codepoints_reserve(int length, Error *error);

bool codepoints_is_space(uint32_t point);  // white space, and the separators U+001C to U+001F
bool codepoints_is_punctuation(uint32_t point);  // categories Pc Pd Ps Pe Pi Pf Po
bool codepoints_is_symbol(uint32_t point);       // categories Sm Sc Sk So
bool codepoints_is_number(uint32_t point);       // categories Nd Nl No

#endif
