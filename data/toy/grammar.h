/* grammar.h -- the words of the toy corpus, the meaning of a sentence, and the sentence. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t Set;  // an entry of the lexicon begins with one; the last of a table is empty
typedef enum Person { JE, VOUS, IL, NOUS, ILS } Person;  // "you" is always vous
typedef enum Gender { M, F } Gender;

// clang-format off
// Kinds of nouns. TASTE: liked in general; PUBLIC: not "my".
enum { PEOPLE = 1 << 0, FAMILY = 1 << 1, CHILD = 1 << 2, PET = 1 << 3, BIRD = 1 << 4,
       READING = 1 << 5, LETTER = 1 << 6, FOOD = 1 << 7, BEVERAGE = 1 << 8, CLOTHES = 1 << 9,
       VEHICLE = 1 << 10, FURNITURE = 1 << 11, FLOWER = 1 << 12, SIGHT = 1 << 13,
       HOME = 1 << 14, DESTINATION = 1 << 15, SOUND = 1 << 16, THING = 1 << 17, TASTE = 1 << 18,
       PUBLIC = 1 << 19, LANDS = 1 << 20, PASTIME = 1 << 21 };
enum { SMALL = 1 << 0, BIG = 1 << 1, OLD = 1 << 2, BEAUTIFUL = 1 << 3, NEW = 1 << 4,
       YOUNG = 1 << 5, GOOD = 1 << 6, LITTLE = 1 << 7, RED = 1 << 8, BLUE = 1 << 9,
       GREEN = 1 << 10, BLACK = 1 << 11, WHITE = 1 << 12, EXPENSIVE = 1 << 13,
       INTERESTING = 1 << 14, TALL = 1 << 15, TIRED = 1 << 16, HAPPY = 1 << 17, SAD = 1 << 18,
       SICK = 1 << 19 };
#define PRENOMINAL (SMALL | BIG | OLD | BEAUTIFUL | NEW | YOUNG | GOOD | LITTLE)
#define COLOUR (RED | BLUE | GREEN | BLACK | WHITE)
#define STATE (TALL | TIRED | HAPPY | SAD | SICK)
// Determiners. SOME: the partitive, in place of A; GENERAL: "cats" in "she likes cats".
enum { THE = 1 << 0, A = 1 << 1, MY = 1 << 2, THIS = 1 << 3, GENERAL = 1 << 4, SOME = 1 << 5,
       NO = 1 << 6 };
enum { VISIT = 1 << 0, SEE = 1 << 1, READ = 1 << 2, WRITE = 1 << 3, BUY = 1 << 4, EAT = 1 << 5,
       DRINK = 1 << 6, LIKE = 1 << 7, WEAR = 1 << 8, LOOK = 1 << 9, FIND = 1 << 10,
       LISTEN = 1 << 11, HELP = 1 << 12, KNOW = 1 << 13, HAVE = 1 << 14, PLAY = 1 << 15,
       LIVE = 1 << 16, WORK = 1 << 17, GO = 1 << 18, CAN = 1 << 19, MUST = 1 << 20,
       BE = 1 << 21 };
// Tenses; how often one does it, or a time of every day; a verb with être; an adverb.
enum { PRESENT = 1 << 0, PAST = 1 << 1, FUTURE = 1 << 2, DAILY = 1 << 3, YEARLY = 1 << 4,
       ONCE = 1 << 5, EVERY = 1 << 6, ETRE = 1 << 7, NEVER = 1 << 8 };
// clang-format on

typedef struct Noun {
    Set is;
    const char *one, *many, *fr;  // NULL: it has no singular or no plural
    Gender gender;
    Set adjectives;  // that suit it
} Noun;

typedef struct Adjective {
    Set is;
    const char *en, *fr[2];
} Adjective;

typedef struct Verb {
    Set is;
    const char *en, *third, *past;  // "": none
    const char *preposition[2];     // of its object: English, French
    const char *present[5], *infinitive, *future, *participle;
    Set use;  // FUTURE: it has one here; ETRE; how often one does it
    Set determiners, objects;
} Verb;

typedef struct Determiner {
    Set is;
    const char *en[2], *fr[3];  // singular, plural; masculine, feminine, plural
} Determiner;

typedef struct Position {
    Set is;  // the kinds of what is there
    const char *preposition[2];
    int noun;
} Position;

typedef struct Pair {       // "... looks for the key but ... does not find it"
    Set is, first, second;  // the kinds of the key; verbs
    bool but, swap;         // swap: "... but it does not find ..."
} Pair;

typedef struct Expression {  // is said as a whole
    Set is;
    const char *en, *fr, *in;  // in: French after "in" or "to"
} Expression;

// The nouns that name places come first.
enum { GARDEN, KITCHEN, STREET, HOUSE, TABLE, BED, CHURCH, STATION };
extern const Noun nouns[], names[];
extern const Adjective adjectives[];
extern const Determiner determiners[], possessives[6];  // my your his our their her
extern const Verb verbs[];                              // the first: be, have
extern const Position positions[];
extern const Pair pairs[];
extern const Expression lands[], times[], adverbs[], conjunctions[];

typedef uint32_t Link;  // a set of English words: bit i is word i

typedef enum Category { NONE, COMMON, NAME, PRONOUN, LAND } Category;

typedef struct Phrase {
    Category category;
    Person person;
    Gender gender;
    bool thing;              // a pronoun for a thing
    const Noun *noun;        // or a name
    const Expression *land;  // or a pastime
    const Determiner *determiner;
    const Adjective *before, *after;  // the noun, in French
    Link determiner_at, before_at, after_at, noun_at;
} Phrase;

typedef enum Question { STATEMENT, YES_NO, WHERE, WHEN, WHY, WHAT } Question;

typedef struct Clause {  // a meaning, and where English says it
    Question question;
    Phrase subject, object;
    const Verb *verb, *modal;
    Set tense;
    bool negated, there;             // there: "there is"
    const char *const *preposition;  // of the object
    const Adjective *predicate;
    const Expression *adverb, *time, *conjunction;
    struct Clause *second;
    Link asked_at, aux_at, not_at, there_at, verb_at, preposition_at, predicate_at;
    Link adverb_at, time_at, conjunction_at;
} Clause;

/* choose.c: chooses a meaning with stream number `index` of random numbers, a function of the
 * arguments alone; false if what it chose makes no sense. */
enum { CONSTRUCTIONS = 12 };
bool meaning_choose(Clause clause[2], int construction, uint64_t index);

enum { MAX_WORDS = 32, WORD_BYTES = 32 };

typedef struct Words {
    char text[MAX_WORDS][WORD_BYTES];
    Link link[MAX_WORDS];  // French: the English words that it translates
    int count;
} Words;

/* Says a meaning in both languages. */
void sentence_say(Words *en, Words *fr, Clause *meaning);

/* corpus.c: the next sentence of the corpus, its translation and their alignment. The test set's 500
 * are the first, then 500 for validation. */
enum { LINE_BYTES = MAX_WORDS * WORD_BYTES };
void corpus_next(char en[LINE_BYTES], char fr[LINE_BYTES], char *align);
