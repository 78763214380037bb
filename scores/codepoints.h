/* codepoints.h -- a sentence as Unicode code points, and their classes for the scores.
 *
 * BLEU and chrF compare texts character by character, so a sentence is decoded once into 32-bit
 * numbers. White space and lower case follow Python's str.split() and str.lower(), because
 * published scores are computed with them. */
#pragma once

#include "base/error.h"

typedef struct Codepoints {
    uint32_t *at;  // [length], on the heap
    int length;
} Codepoints;

/* The longest sentence that is read. It bounds the memory of a score: at most about 256 MiB for
 * chrF, and a few kilobytes for a sentence of the usual length. */
enum { CODEPOINTS_LIMIT = 1 << 20 };  // bytes of UTF-8

/* The text with white space between its words, for free(); NULL and an Error if it fails. There may
 * be several spaces between two words, and some at both ends. */
typedef char *SplitText(const void *context, const char *text, Error *error);

void codepoints_free(Codepoints *text);

/* A translation and its references. */
typedef struct Comparison {
    Codepoints *text;  // [1+references] the translation first; on the heap
    int references;
} Comparison;

/* Decodes UTF-8; in lower case if `lowercase`, with Unicode's full mapping; then split into words, if
 * split is not NULL. Fails if a text is not valid UTF-8 (overlong forms, surrogates and numbers past
 * U+10FFFF included) or exceeds the limit, or if memory is short. Free it, even if this fails. */
bool comparison_read(Comparison *c, const char *hypothesis, const char *const *reference,
                     int references, bool lowercase, SplitText *split, const void *context,
                     Error *error);
void comparison_free(Comparison *c);

/* Of the numbers of references of all comparisons so far, for the signature of a score: 0 for none,
 * else the number, or REFERENCES_VARY. */
enum { REFERENCES_VARY = -1 };
int references_join(int before, int references);

/* "nrefs:2", or "nrefs:var"; no comparison counts as one reference. */
void references_format(int references, char *text, size_t size);

/* An array for `length` code points, or NULL and an Error. */
uint32_t *codepoints_reserve(int length, Error *error);

/* White space, and the separators U+001C to U+001F. */
bool codepoints_is_space(uint32_t point);

/* A text in Unicode's composed form, NFC, so that é is equal to e with an accent that follows it, for
 * free(); NULL if memory is short. The scores themselves compare code points, as sacrebleu does. */
char *composed(const char *text, size_t length);
