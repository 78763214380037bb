/* meaning.h -- what a sentence of the toy corpus means, and the constructions that choose it.
 *
 * A construction returns false if what it chose makes no good sentence; the next derivation is
 * tried then. */
#ifndef DATA_TOY_MEANING_H
#define DATA_TOY_MEANING_H

#include "data/toy/choose.h"

/* One clause, or two with a conjunction. */
typedef struct Meaning {
    Clause *first, *second;
    const Expression *conjunction;
    bool question;
} Meaning;

typedef bool Construction(Derivation *derivation, Meaning *meaning);

// simple.c
Construction construct_statement, construct_travel, construct_movement, construct_negation,
    construct_frequency, construct_yes_no;
Construction construct_where, construct_when_why, construct_what_who, construct_object_pronoun;
Construction construct_modal, construct_quality, construct_hunger;

// things.c
Construction construct_existence, construct_position, construct_identity, construct_gift;
Construction construct_possession, construct_comparison, construct_order;

// compound.c
Construction construct_antecedent, construct_opinion, construct_who_relative;
Construction construct_that_relative, construct_reason;

#endif
