/* dictionary.h -- which words of a corpus translate each other, by how often they come together.
 *
 *   dice(s,t) = 2 c(s,t) / (c(s) + c(t))     Dice 1945
 *
 * Counts words of letters alone, three or more, in up to DICTIONARY_PAIRS pairs of sentences, spread
 * evenly over the corpus. A hash finds a counter, which others may share: 8.4 MB for any corpus. */
#pragma once

#include "data/corpus.h"

enum { DICTIONARY_PAIRS = 100000 };

typedef struct Dictionary {
    uint16_t *count;  // of each word, and of each pair of words
} Dictionary;

/* A word of a text: from the first letter or digit between white space to the last. */
typedef struct Word {
    size_t begin, end;  // bytes of the text
    bool first;         // in the text
    bool name;          // it has a digit, or begins with a capital letter and is not the first
    uint64_t hash;      // of its letters in lower case; 0: it is not counted
} Word;

/* The next word of valid UTF-8: start with {0}. False: there is none. */
bool word_next(Word *word, const char *text, size_t length);

bool dictionary_count(Dictionary *dictionary, const CorpusText *text, Error *error);
void dictionary_free(Dictionary *dictionary);  // allowed on {0}

/* 0 to 1: how surely two words translate each other; 0 if they came together less than three
 * times, or if one is no name and more frequent than once in 50 sentences, as "you" is. */
double dictionary_dice(const Dictionary *dictionary, const Word *source, const Word *target);
