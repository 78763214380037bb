/* things.c -- constructions that tell what there is, where it is, whose it is, what it is like and
 * who gets it; one function each, with an example. */
#include "data/toy/meaning.h"

#include <stddef.h>
#include <string.h>

// there are two cats under the table; there is no milk on the table
bool construct_existence(Derivation *d, Meaning *m)
{
    Phrase *there = phrase_new(d, THERE);
    Clause *c = m->first = clause_new(d, there, TO_BE);
    const Place *place = &positions[choose(d, position_count)];
    bool negated = chance(d, 30);
    unsigned among = negated ? BIT(NO) | BIT(A) : BIT(A) | BIT(A) | BIT(NUMBER) | BIT(MANY);
    c->object = choose_noun(d, place->kinds & ~FAMILY, among & ~BIT(NO), NULL);
    if (strcmp(place->en, "on") == 0 && c->object->determiner == MANY) return false;
    choose_adjectives(d, c->object, negated ? 25 : 45, ~(BIT(GOOD) | BIT(EXPENSIVE)));
    if (negated) {
        if (c->object->determiner != A) return false;
        c->object->determiner = NO;
        c->polarity = NEGATED;
    } else if (chance(d, 25)) {
        c->question = YES_NO;
        m->question = true;
    }
    adjunct_phrase(c, place->en, place->fr, phrase_of(d, place->noun));
    return true;
}

// the black cat is under the bed; where are my shoes?
bool construct_position(Derivation *d, Meaning *m)
{
    const Place *place = &positions[choose(d, position_count)];
    if (place->kinds & PEOPLE && chance(d, 50)) return false;
    unsigned kinds = place->kinds & ~(FURNITURE | FLOWER);
    if (!kinds) return false;
    Phrase *p = choose_noun(d, kinds, BIT(THE) | BIT(MY), NULL);
    if (!p->noun->en_plural && p->determiner == THE && p->noun->kinds & DRINK)
        p->determiner = MY;
    choose_adjectives(d, p, 40, ~(BIT(GOOD) | BIT(EXPENSIVE)));
    Clause *c = m->first = clause_new(d, p, TO_BE);
    if (chance(d, 30)) {
        c->question = WHERE_IS;
        m->question = true;
        return true;
    }
    int roll = choose(d, 4);
    if (roll == 0) c->polarity = NEGATED;
    if (roll == 1) c->question = YES_NO, m->question = true;
    adjunct_phrase(c, place->en, place->fr, phrase_of(d, place->noun));
    return true;
}

// this is not a new car; these are my old friends; paul is my brother
bool construct_identity(Derivation *d, Meaning *m)
{
    const unsigned things = ANIMAL | READING | CLOTHES | VEHICLE | HOME | SIGHT | SONG | FILM;
    Phrase *subject, *p;
    if (chance(d, 65)) {
        subject = phrase_new(d, THIS_HERE);
        p = chance(d, 30) ? choose_person(d, NULL)
                          : choose_noun(d, things, BIT(A) | BIT(MY), NULL);
        if (p->determiner == THE || p->determiner == THIS) return false;
        choose_adjectives(d, p, 60, ~0u);
        phrase_pluralise(subject, p->plural);
    } else {
        subject = choose_name(d);
        p = choose_noun(d, FAMILY | PEOPLE, BIT(MY), NULL);
        phrase_pluralise(p, false);
        if (!p->noun->en || p->gender != subject->gender) return false;
        choose_adjectives(d, p, 30, ~0u);
    }
    Clause *c = m->first = clause_new(d, subject, TO_BE);
    c->object = p;
    int roll = choose(d, 3);
    if (roll == 0) c->polarity = NEGATED;
    if (roll == 1) c->question = YES_NO, m->question = true;
    return true;
}

// paul gives a red flower to his mother; she gave them a book
bool construct_gift(Derivation *d, Meaning *m)
{
    Phrase *subject = choose_subject(d, 0);
    Clause *c = m->first = clause_new(d, subject, chance(d, 60) ? TO_GIVE : TO_SHOW);
    if (chance(d, 25)) c->polarity = NEGATED;
    if (c->polarity == AFFIRMED && chance(d, 15) && subject->person != JE)
        c->question = YES_NO, m->question = true;
    choose_action(d, c, DEFINITE * (c->polarity != AFFIRMED || c->verb == TO_SHOW) | NO_TIME);
    if (chance(d, 40)) {
        Phrase *p = c->recipient = phrase_new(d, PRONOUN);
        p->person = (Person)choose(d, PERSONS);
        p->gender = p->person == IL ? (Gender)choose(d, 2) : MASCULINE;
        bool ours = p->person == JE || p->person == NOUS;
        bool we = subject->person == JE || subject->person == NOUS;
        if ((ours && we) || (p->person == VOUS && subject->person == VOUS)) return false;
    } else {
        Phrase *p = chance(d, 35) ? choose_name(d) : choose_person(d, subject);
        if (phrases_share_name(p, subject)) return false;
        if (p->noun && p->noun == subject->noun) return false;
        adjunct_phrase(c, "to", "à", p);
    }
    const Phrase *to = c->recipient ? c->recipient : c->adjunct[0].phrase;
    bool her = c->recipient && to->person == IL && to->gender == FEMININE;
    if (her && c->object->determiner == A && c->object->plural)
        return false;  // "gives her books"
    if (c->verb == TO_GIVE && to->gender == MASCULINE) phrase_undress(c->object);
    if (chance(d, c->tense == PRESENT ? 15 : 50)) choose_time(d, c, ONCE);
    return true;
}

// jane's brother lives in london; the teacher's car is red
bool construct_possession(Derivation *d, Meaning *m)
{
    bool kin = chance(d, 45);
    Phrase *p = choose_noun(d, kin ? FAMILY : PET | CLOTHES | VEHICLE | HOME, BIT(OWNED), NULL);
    if (chance(d, 60)) {
        p->of = choose_name(d);
    } else {
        p->of = choose_noun(d, PEOPLE | FAMILY, BIT(THE) | BIT(MY), NULL);
        phrase_pluralise(p->of, false);
        if (!p->of->noun->en || p->of->noun == p->noun) return false;
    }
    if (p->of->kind == NOUN && kin && p->of->noun->kinds & FAMILY) return false;
    if (p->of->gender == MASCULINE) phrase_undress(p);
    choose_adjectives(d, p, 25, ~(BIT(GOOD) | BIT(EXPENSIVE)));
    Clause *c;
    if (kin && chance(d, 60)) {
        c = m->first = clause_new(d, p, choose_verb(d));
        choose_action(d, c, NO_POSSESSIVE);
    } else if (chance(d, 50)) {
        c = m->first = clause_new(d, p, TO_BE);
        c->predicate = choose_quality(d, p);
    } else {
        static const VerbId known[] = {TO_KNOW, TO_SEE, TO_MEET, TO_HELP, TO_WAIT};
        static const VerbId owned[] = {TO_SEE, TO_LIKE, TO_LOOK_FOR, TO_FIND, TO_BUY};
        c = m->first = clause_new(d, choose_subject(d, 0),
                                  kin ? known[choose(d, 5)] : owned[choose(d, 5)]);
        if (chance(d, 20)) c->polarity = NEGATED;
        bool loose = c->verb == TO_LOOK_FOR || c->verb == TO_FIND;
        if (loose && p->noun->kinds & (VEHICLE | HOME)) return false;
        c->object = p;
        const Phrase *s = c->subject;
        if (phrases_share_name(s, p->of)) return false;
        if (p->of->noun && p->of->noun == s->noun) return false;
        if (verbs[c->verb].en_past && chance(d, 40)) c->tense = PAST;
    }
    return c->verb != TO_BE || c->predicate != NONE;
}

// the red dress is more expensive than the blue hat; clara is more famous than my sister
bool construct_comparison(Derivation *d, Meaning *m)
{
    static const AdjectiveId among[] = {EXPENSIVE, EXPENSIVE, INTERESTING,
                                        FAMOUS,    DIFFICULT, BEAUTIFUL};
    AdjectiveId id = among[choose(d, 6)];
    Phrase *a, *b;
    if (id == FAMOUS) {
        a = choose_subject(d, NO_PRONOUN);
        b = choose_subject(d, NO_PRONOUN);
        if (a->kind != NOUN || b->kind != NOUN || a->noun == b->noun) {
            if (a->kind == b->kind && (a->kind == NOUN || a->name[0] == b->name[0]))
                return false;
        }
        if (a->kind == NAMES || b->kind == NAMES) return false;
        if (a->after == FAMOUS || b->after == FAMOUS) return false;
    } else {
        a = choose_noun(d, ~(PEOPLE | FAMILY | DRINK), BIT(THE) | BIT(THIS) | BIT(MY), NULL);
        b = choose_noun(d, a->noun->kinds & ~TASTE, BIT(THE) | BIT(MY), NULL);
        if (!a->noun->en_plural || !b->noun->en_plural) return false;
        if (!(a->noun->adjectives & b->noun->adjectives & BIT(id))) return false;
        phrase_pluralise(b, (a->plural && b->determiner != MY) || !b->noun->en);
        unsigned others =
            ~(BIT(EXPENSIVE) | BIT(INTERESTING) | BIT(DIFFICULT) | BIT(BEAUTIFUL));
        choose_adjectives(d, a, 50, others & ~BIT(GOOD));
        choose_adjectives(d, b, 50, others & ~BIT(GOOD));
        bool before = a->before != NONE && b->before != NONE && a->before != b->before;
        bool after = a->after != NONE && b->after != NONE && a->after != b->after;
        bool mine = a->determiner == THIS && b->determiner == MY;
        if (a->noun == b->noun && !before && !after && !mine) return false;
    }
    Clause *c = m->first = clause_new(d, a, TO_BE);
    c->predicate = (int)id;
    c->than = true;
    if (chance(d, 20)) c->question = YES_NO, m->question = true;
    if (!m->question && chance(d, 20)) c->polarity = NEGATED;
    adjunct_phrase(c, "than", "que", b);
    return true;
}

// open the window; do not eat the red apples
bool construct_order(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_VISIT, TO_READ, TO_WRITE,   TO_BUY,    TO_EAT,
                                   TO_DRINK, TO_WEAR, TO_WATCH,   TO_LISTEN, TO_WAIT,
                                   TO_HELP,  TO_OPEN, TO_CLOSE,   TO_SING,   TO_GIVE,
                                   TO_SHOW,  TO_GO,   TO_LOOK_FOR};
    Clause *c = m->first = clause_new(d, NULL, among[choose(d, 18)]);
    if (chance(d, 45)) c->polarity = NEGATED;
    bool to = c->verb == TO_GIVE || c->verb == TO_SHOW;
    choose_action(d, c, IN_PRESENT | NO_TIME | NO_POSSESSIVE | (to ? DEFINITE : 0));
    if (to)
        adjunct_phrase(c, "to", "à", chance(d, 50) ? choose_name(d) : choose_person(d, NULL));
    if (c->object && c->object->kind == NOUN && c->object->determiner == MY)
        c->object->owner = VOUS;
    if (c->verb == TO_OPEN || c->verb == TO_CLOSE || c->verb == TO_LISTEN || c->verb == TO_READ)
        if (chance(d, 40)) choose_time(d, c, ONCE);
    return true;
}
