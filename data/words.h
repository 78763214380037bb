/* words.h -- where the words of a text are: between blanks; and in scripts that put none between words,
 * such as Chinese, Japanese and Thai, where ICU's word breaks say, by its dictionaries. "work?" is one
 * word, "車を" two. */
#pragma once

#include "base/error.h"

static inline bool words_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether a character is of a script that puts no spaces between its words. */
bool words_unspaced(unsigned code);

/* Whether Chinese and Japanese write a character without spaces around it: 語 。 ５. Thai has spaces between
 * its sentences. */
bool words_spaceless(unsigned code);

/* Whether a character stands before what it belongs to: an opening bracket or quotation mark, ②. */
bool words_opening(unsigned code);

/* Whether a character is a letter or a digit of a script that puts spaces between its words. */
bool words_letter(unsigned code);

/* Whether a text has a number from 0 to 9: as a digit of any script, not in a longer number, or as a word of the
 * language, or what begins a word, of which the last letter may be another. */
bool words_say(const char *text, int number, const char *language);

/* Whether valid UTF-8 has a letter. */
bool words_has_letter(const char *text, size_t length);

/* Whether a list of words, with white space between them, has this one. */
bool words_listed(const char *list, const char *word, size_t length);

/* Whether the first letter of a text is of a script that is written from right to left. */
bool words_right_to_left(const char *text);

/* What a text's letters are, in bytes of UTF-8. */
typedef struct Spacing {
    size_t letters, unspaced;  // unspaced: of scripts without spaces between words
    size_t han;                // of these, Chinese characters
    size_t spaces;             // that are between two letters of these
} Spacing;

/* *spacing (+=) the letters and spaces of a text */
void spacing_add(Spacing *spacing, const char *text, size_t length);

/* Whether most of the letters are of scripts without spaces, and words are not divided by spaces, as a
 * segmenter of Chinese does; spaces between clauses, as in Thai, and those around other scripts are no
 * matter. */
static inline bool spacing_is_unspaced(const Spacing *s)
{
    enum { WORD = 16 };  // bytes: about five letters
    return 2 * s->unspaced > s->letters && WORD * s->spaces < s->unspaced;
}

/* Whether it is Chinese: Japanese has kana, too. */
static inline bool spacing_is_chinese(const Spacing *s)
{
    return spacing_is_unspaced(s) && 10 * s->han > 9 * s->unspaced;
}

/* The number, from 0, of the word that each byte of text [length] belongs to, for free(); NULL on error. A
 * blank has that of the word before it, or 0. *words (=) how many there are. characters: each code
 * point is a word. */
int *words_number(int *words, const char *text, size_t length, bool characters, Error *error);
