/* grammar.h -- the lexicon and the rules of the toy corpus in memory, and what they derive.
 *
 * lexicon.txt and grammar.txt explain their own form. Every name in them is a symbol. */
#ifndef DATA_TOY_GRAMMAR_H
#define DATA_TOY_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_WORDS = 32, WORD_BYTES = 32, MAX_SYMBOLS = 576, MAX_NAMED = 96, MAX_PATH = 4 };
enum { MAX_CONSTRUCTIONS = 32 };

/* Texts get the numbers 0, 1, ... in the order in which they come. */
enum { TEXT_SLOTS = 1 << 18 };
typedef struct TextMap {
    char *text[TEXT_SLOTS / 2];
    uint32_t count, slot[TEXT_SLOTS];  // hash table: number + 1, or 0
} TextMap;

typedef uint32_t Link;  // a set of English words: bit i is word i

typedef struct Words {
    char text[MAX_WORDS][WORD_BYTES];
    Link link[MAX_WORDS];  // French: the English words that it translates
    int count;
} Words;

typedef struct Sentence {
    Words en, fr;
} Sentence;

typedef struct Set {  // of symbols
    uint64_t bits[MAX_SYMBOLS / 64];
} Set;

/* A clause, a phrase or an entry of the lexicon. Symbols of slots and forms are below
 * MAX_NAMED. */
typedef struct Node {
    Set features;
    struct Node *slot[MAX_NAMED];
    Link link[MAX_NAMED];  // where English said what is in the slot
    char *form[MAX_NAMED];
} Node;

/* One name may be several of these. */
typedef struct Symbol {
    Set group;     // its members; otherwise the symbol itself
    Set excluded;  // the values of the same feature
    Node *entry, *table;
    int size;  // entries of the table
    int rule;  // its first step; 0: none
    bool slot, known;
} Symbol;

/* The symbols that the program knows by name, in the order of known_names. */
enum { SELF, UP, WANTED, WORD, NEXT, RESULT, DEFAULT, SANDHI, ENGLISH };
enum { FRENCH = ENGLISH + 1, QUESTION, JANE, KNOWN };

typedef struct Term {  // "subject.noun.boy", or text in quotes or braces
    char mark;         // the character before it
    int slot[MAX_PATH], slots;
    int symbol;  // the last name, if it is no slot; or -1
    int weight;
    char *text;
} Term;

enum { CHANCE, HAS, SAME, SHARE };                                        // tests
enum { SAY = 4, CALL, CREATE, ASSIGN, CHANGE, DRAW, DONE, FAIL, AGAIN };  // effects

/* One word of a rule. */
typedef struct Op {
    int kind, percent, terms;
    bool negated;
    Term *term;
} Op;

typedef struct Step {
    Op *op;
    int tests, ops;  // the tests come first
    bool otherwise, last;
} Step;

typedef struct Grammar {
    TextMap names;
    Symbol symbol[MAX_SYMBOLS];
    Node entry[400];
    Term term[4000];
    Op op[2000];
    Step step[1000];
    int construction[MAX_CONSTRUCTIONS], constructions, entries, terms, ops, steps;
} Grammar;

void grammar_read(Grammar *grammar, const char *lexicon, const char *rules);  // a zeroed one

/* What a rule derives from stream number `index` of random numbers: a function of its arguments
 * alone. False if these choices lead to no sentence. */
bool grammar_derive(const Grammar *grammar, Sentence *sentence, int rule, uint64_t index);

/* sentence.c: text is words with underscores between them. */
Link sentence_english(Sentence *sentence,
                      const char *text);  // "'s" is attached to the last word
void sentence_french(Sentence *sentence, const char *text, Link link);
void sentence_sandhi(Words *fr, const char *word, const char *next, const char *result);
void sentence_finish(Sentence *sentence, bool question);  // "an", apostrophes, question marks

/* generate.c: ends the program with a message; the number of a text in a map, which adds new
 * texts. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint32_t text_number(TextMap *map, const char *text);

#endif
