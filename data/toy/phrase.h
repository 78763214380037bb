/* phrase.h -- a noun phrase as a meaning, and how each language says it.
 *
 * The meaning is one; "the old tree" and "le vieil arbre" are two readings of it. Saying it in
 * English notes where each of its parts stands, and saying it in French links to those places:
 * English first, always. */
#ifndef DATA_TOY_PHRASE_H
#define DATA_TOY_PHRASE_H

#include "data/toy/sentence.h"

typedef enum {
    PRONOUN,    // she, her; it and them with an antecedent
    NAME,       // jane
    NAMES,      // jane and paul
    NOUN,       // the red car
    LAND,       // africa
    WHO,        // who likes jane? the man who likes jane
    THIS_HERE,  // this is my house
    THERE,      // there is a cat
} PhraseKind;

typedef enum {
    THE,
    A,  // a cat, cats, bread: un chat, des chats, du pain
    THIS,
    MY,      // of the owner
    OWNED,   // jane's: of a phrase
    NUMBER,  // two to six
    MANY,
    GENERAL,  // music, cats: la musique, les chats
    NO,       // there is no cat: il n'y a pas de chat
} Determiner;

enum { NONE = -1 };

struct Clause;

typedef struct Phrase {
    PhraseKind kind;
    Person person;
    Gender gender;
    bool plural;
    bool thing;  // the pronoun is "it" in English
    const Name *name[2];
    const Land *land;
    bool bare;  // the land without its article: en afrique
    const Noun *noun;
    Determiner determiner;
    int number;
    Person owner;  // MY
    Gender owner_gender;
    struct Phrase *of;        // OWNED
    int before, after;        // adjectives, in French before and after the noun, or NONE
    struct Clause *relative;  // "who sells flowers", "that paul reads", or NULL

    Link en_determiner, en_before, en_after, en_noun;  // where English said it
    Link en_relative;
} Phrase;

typedef enum { SUBJECT, OBJECT } Role;

void phrase_english(Sentence *sentence, Phrase *phrase, Role role);

/* negated: the direct object of a negated verb, where un, une, des, du become de. A pronoun is
 * said here as a subject; pronoun_object gives its form before the verb. */
void phrase_french(Sentence *sentence, const Phrase *phrase, bool negated);

/* Where English says the article of a land, as in "the united states"; 0 if it says none. */
Link land_article(const Phrase *phrase);

const char *pronoun_object(const Phrase *phrase);     // le, la, les, me, ...
const char *pronoun_recipient(const Phrase *phrase);  // lui, leur, me, ...

#endif
