/* dictionary.h -- which words of a corpus translate each other, by how often they come together.
 *
 *   dice(s,t) = 2 c(s,t) / (c(s) + c(t))     Dice 1945
 *
 * Counts words of three or more characters, or of Chinese or Japanese, in up to DICTIONARY_PAIRS
 * pairs of sentences, spread evenly over the corpus. A hash finds a counter, which
 * others may share: 8.4 MB for any corpus. */
#pragma once

#include "data/corpus.h"

enum { DICTIONARY_PAIRS = 100000, MOST_WORDS = 64 };  // of a sentence that are looked at

typedef struct Dictionary {
    uint16_t *count;               // of each word, and of each pair of words
    int sentences;                 // pairs of them that were counted
    struct UBreakIterator *words;  // ICU's, which each call clones
} Dictionary;

typedef struct Word {
    size_t begin, end;  // bytes of the text
    bool first;         // in the text
    bool name;          // it has a digit, or begins with a capital letter and is not the first
    uint64_t hash;      // in lower case; 0: it is not counted
} Word;

/* word [MOST_WORDS] (=) the words of valid UTF-8, also of languages without spaces. */
bool dictionary_words(const Dictionary *dictionary, Word *word, int *count, const char *text,
                      size_t length, Error *error);

/* Free the dictionary even if this fails. */
bool dictionary_count(Dictionary *dictionary, const CorpusText *text, Error *error);
void dictionary_free(Dictionary *dictionary);  // allowed on {0}

/* 0 to 1: how surely two words translate each other; 0 if they came together less than three
 * times, or if one is no name and more frequent than once in 50 sentences, as "you" is. */
double dictionary_dice(const Dictionary *dictionary, const Word *source, const Word *target);
