/* choose.h -- the random pieces that constructions are made of: people, things, places, times and
 * whole actions ("reads the red book every day"), each sensible in itself. */
#ifndef DATA_TOY_CHOOSE_H
#define DATA_TOY_CHOOSE_H

#include "base/rng.h"
#include "data/toy/clause.h"

enum { MAX_PHRASES = 16, MAX_CLAUSES = 4 };

/* Everything that one sentence means; sets of determiners are bits. */
typedef struct Derivation {
    Rng rng;
    Phrase phrase[MAX_PHRASES];
    Clause clause[MAX_CLAUSES];
    int phrases, clauses;
} Derivation;

int choose(Derivation *d, int n);  // 0 .. n-1
bool chance(Derivation *d, int percent);
int choose_bit(Derivation *d, unsigned set);  // one of its bits, or NONE if it is empty

Phrase *phrase_new(Derivation *d, PhraseKind kind);
Clause *clause_new(Derivation *d, Phrase *subject, VerbId verb);

/* Who acts. */
enum { NO_I = 1, NO_YOU = 2, NO_PRONOUN = 4, THIRD = 8, NO_NOUN = 16 };
Phrase *choose_subject(Derivation *d, unsigned limits);
Phrase *choose_name(Derivation *d);
Phrase *choose_person(Derivation *d, const Phrase *subject);  // a noun: the boy, my sister
Phrase *pronoun_for(Derivation *d, const Phrase *antecedent);
bool phrase_is_people(const Phrase *phrase);
bool phrases_share_name(const Phrase *a, const Phrase *b);

/* A noun of these kinds with one of these determiners; subject: whose "my" it most often is, or
 * NULL. choose_adjectives adds what suits it. */
Phrase *choose_noun(Derivation *d, unsigned kinds, unsigned determiners, const Phrase *subject);
void choose_adjectives(Derivation *d, Phrase *phrase, int percent, unsigned among);
void phrase_pluralise(Phrase *phrase, bool plural);
void phrase_undress(Phrase *phrase);                 // a shirt, where a dress would be unusual
Phrase *phrase_of(Derivation *d, const char *noun);  // the ...

/* What one does: fills in the object, the places and the tense of clause->verb, and a time. */
enum { IN_PRESENT = 1, NO_TIME = 2, DEFINITE = 4, NO_POSSESSIVE = 8 };
void choose_action(Derivation *d, Clause *clause, unsigned limits);
VerbId choose_verb(Derivation *d);
void choose_time(Derivation *d, Clause *clause, unsigned habit);

/* What is said of somebody or something with "is": an adjective, or NONE if none suits. */
int choose_quality(Derivation *d, const Phrase *phrase);

void adjunct_phrase(Clause *clause, const char *en, const char *fr, Phrase *phrase);
void adjunct_expression(Clause *clause, const Expression *expression);

#endif
