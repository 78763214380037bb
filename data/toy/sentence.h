/* sentence.h -- one English sentence, its French translation, and which word translates which.
 *
 * English is written first. Each call returns the link of the words it wrote, a set of bits, one
 * a word; French pieces are then written with the link of the English words that they translate.
 * sentence_finish makes words of the pieces as French writes them:
 *
 *   elision       le la je ne de que me ce  before a vowel   l' j' n' d' qu' m' c'
 *   contraction   de le, de les, à le, à les                 du, des, au, aux
 *
 * A word made of several pieces translates whatever they translate: "l'afrique" is "africa", and
 * "n'achète" is both "not" and "buy". */
#ifndef DATA_TOY_SENTENCE_H
#define DATA_TOY_SENTENCE_H

#include "data/toy/lexicon.h"

#include <stdint.h>

enum { MAX_WORDS = 32, WORD_BYTES = 32 };

typedef uint32_t Link;  // a set of English words: bit i is word i

typedef struct Word {
    char text[WORD_BYTES];
    Link link;  // French: the English words it translates
} Word;

typedef struct Words {
    Word word[MAX_WORDS];
    int count;
} Words;

typedef struct Sentence {
    Words en, fr;
} Sentence;

/* Both take words with spaces between them; "" writes nothing. */
Link sentence_english(Sentence *sentence, const char *words);
void sentence_french(Sentence *sentence, const char *pieces, Link link);

/* The French of an expression whose English has been written with this link. */
void sentence_expression(Sentence *sentence, const Expression *expression, Link link);

/* "a" becomes "an" where it must, the pieces become words, a question gets its mark: attached
 * in English, a word of its own in French. */
void sentence_finish(Sentence *sentence, bool question);

bool starts_with_vowel(const char *french);  // as French elision sees it: a mute h is none

#endif
