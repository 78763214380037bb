/* codepoints.h -- a sentence as Unicode code points, and their classes for the scores.
 *
 * BLEU and chrF compare texts character by character, so a sentence is decoded once into 32-bit
 * numbers. White space and lower case follow Python's str.split() and str.lower(), because
 * published scores are computed with them. */
#pragma once

#include "base/error.h"

#include <stdint.h>

typedef struct Codepoints {
    uint32_t *at;  // [length], on the heap
    int length;
} Codepoints;

/* The longest sentence that is read. It bounds the memory of a score: at most about 200 MiB for
 * chrF, and a few kilobytes for a sentence of the usual length. */
enum { CODEPOINTS_LIMIT = 1 << 20 };  // bytes of UTF-8

/* Decodes UTF-8; in lower case if `lowercase`, with Unicode's full mapping. Fails, with nothing to
 * free, if the text is not valid UTF-8 (overlong forms, surrogates and numbers past U+10FFFF
 * included) or exceeds the limit, or if memory is short. */
bool codepoints_read(Codepoints *text, const char *utf8, bool lowercase, Error *error);
void codepoints_free(Codepoints *text);

/* Both texts of a score. Free both, even if this fails. */
bool codepoints_read_pair(Codepoints pair[2], const char *hypothesis, const char *reference,
                          bool lowercase, Error *error);

/* An array for `length` code points, or NULL and an Error. */
uint32_t *codepoints_reserve(int length, Error *error);

/* White space, and the separators U+001C to U+001F. */
bool codepoints_is_space(uint32_t point);
