/* clause.h -- who does what, when and where, as a meaning, and how each language says it.
 *
 * English                                         French
 *   does not, did not, will not, cannot, never      ne ... pas, ne ... jamais, around the verb
 *   she does not buy it                             elle ne l'achète pas: the pronoun first
 *   paul bought the letters; paul bought them       paul a acheté les lettres; paul les a achetées
 *   jane went                                       jane est allée: agrees with the subject
 *   does jane buy, where does jane buy, what ...    est-ce que jane achète, où est-ce que ...
 *   often visits                                    visite souvent
 *   is hungry                                       a faim */
#ifndef DATA_TOY_CLAUSE_H
#define DATA_TOY_CLAUSE_H

#include "data/toy/phrase.h"

typedef enum { AFFIRMED, NEGATED, NEVER } Polarity;

typedef enum { STATEMENT, YES_NO, WHERE, WHEN, WHY, WHAT, HOW_MANY, WHERE_IS } Question;

/* "under" and "sous" before a phrase; or an expression that needs no preposition. */
typedef struct Adjunct {
    const char *en, *fr;
    Phrase *phrase;
    const Expression *expression;
    Link link;
} Adjunct;

enum { MAX_ADJUNCTS = 4 };

typedef struct Clause {
    Phrase *subject;  // NULL: an order
    VerbId verb;
    int modal;  // TO_WANT, CAN, MUST, or NONE
    Tense tense;
    Polarity polarity;
    Question question;
    const Expression *frequency;  // often, ... or NULL
    Phrase *object;               // or NULL
    bool
        relative_object;  // the object is the noun that the clause describes: "that paul reads"
    Phrase *recipient;    // a pronoun: gives her a book, or NULL
    int predicate;        // with TO_BE: an adjective, or NONE
    int than;             // a comparison: more PREDICATE than the adjunct
    const Expression *need;  // with TO_BE: hungry -> faim
    struct Clause *that;     // thinks that ..., or NULL
    Adjunct adjunct[MAX_ADJUNCTS];
    int adjuncts;

    Link en_question, en_auxiliary, en_not, en_verb, en_modal, en_frequency, en_predicate,
        en_that;
} Clause;

void clause_english(Sentence *sentence, Clause *clause);
void clause_french(Sentence *sentence, const Clause *clause);

#endif
