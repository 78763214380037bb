/* simple.c -- constructions of one clause, one function each, with an example. */
#include "data/toy/meaning.h"

#include <stddef.h>

static const Expression today = {"today", "aujourd'hui", "00", 0};

// jane visits africa in september
bool construct_statement(Derivation *d, Meaning *m)
{
    VerbId verb = choose_verb(d);
    m->first = clause_new(d, choose_subject(d, 0), verb);
    choose_action(d, m->first, 0);
    return true;
}

// clara went to africa by plane last year; do they live in the united states?
bool construct_travel(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_VISIT, TO_VISIT, TO_VISIT, TO_GO,
                                   TO_GO,    TO_LIVE,  TO_COME};
    Clause *c = m->first = clause_new(d, choose_subject(d, 0), among[choose(d, 7)]);
    if (chance(d, 20)) c->polarity = NEGATED;
    if (chance(d, 20) && c->subject->person != JE) c->question = YES_NO, m->question = true;
    choose_action(d, c, 0);
    const Phrase *where = c->object ? c->object : c->adjunct[0].phrase;
    return where && where->kind == LAND;
}

// anna went to the market by bus on friday; did the girls stay at home?
bool construct_movement(Derivation *d, Meaning *m)
{
    VerbId verb = chance(d, 70) ? TO_GO : TO_STAY;
    Clause *c = m->first = clause_new(d, choose_subject(d, THIRD), verb);
    if (chance(d, 20)) c->polarity = NEGATED;
    if (chance(d, 20)) c->question = YES_NO, m->question = true;
    choose_action(d, c, 0);
    return c->tense == PAST;
}

// the boy does not open the green door
bool construct_negation(Derivation *d, Meaning *m)
{
    m->first = clause_new(d, choose_subject(d, 0), choose_verb(d));
    m->first->polarity = NEGATED;
    choose_action(d, m->first, 0);
    return true;
}

// clara never drinks coffee; paul often watches french films
bool construct_frequency(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_VISIT, TO_READ, TO_WRITE,  TO_EAT,  TO_DRINK,
                                   TO_WATCH, TO_BUY,  TO_LISTEN, TO_HELP, TO_SING,
                                   TO_PLAY,  TO_GO,   TO_WORK};
    VerbId verb = among[choose(d, (int)(sizeof(among) / sizeof(*among)))];
    Clause *c = m->first = clause_new(d, choose_subject(d, 0), verb);
    if (chance(d, 40)) c->polarity = NEVER;
    else c->frequency = &frequencies[choose(d, frequency_count)];
    choose_action(d, c, IN_PRESENT | NO_TIME);
    if (!c->object || c->object->kind != NOUN) return true;
    bool always_new = verb == TO_BUY || verb == TO_EAT || verb == TO_DRINK || verb == TO_WRITE;
    if (always_new && c->object->determiner != A) return false;
    if (c->object->determiner == A && c->object->noun->en_plural)
        phrase_pluralise(c->object, true);
    return c->object->determiner != NUMBER;
}

// does david speak italian?
bool construct_yes_no(Derivation *d, Meaning *m)
{
    Clause *c = m->first = clause_new(d, choose_subject(d, NO_I), choose_verb(d));
    c->question = YES_NO;
    m->question = true;
    choose_action(d, c, 0);
    return true;
}

// where do you buy bread? where did they find the blue dress?
bool construct_where(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_LIVE, TO_WORK, TO_LIVE, TO_WORK, TO_BUY,
                                   TO_MEET, TO_PLAY, TO_SEE,  TO_WAIT, TO_FIND};
    VerbId verb = among[choose(d, 10)];
    Clause *c = m->first = clause_new(d, choose_subject(d, NO_I), verb);
    c->question = WHERE;
    m->question = true;
    if (verb == TO_LIVE || verb == TO_WORK) return true;
    choose_action(d, c, NO_TIME);
    return c->tense == PAST || verb == TO_BUY || verb == TO_PLAY;
}

// when will paul visit italy? why does anna not like this film?
bool construct_when_why(Derivation *d, Meaning *m)
{
    static const VerbId once[] = {TO_VISIT, TO_SEE,  TO_BUY,  TO_SELL, TO_MEET,
                                  TO_GO,    TO_WORK, TO_READ, TO_PLAY};
    bool when = chance(d, 50);
    VerbId verb = when ? once[choose(d, 9)] : choose_verb(d);
    Clause *c = m->first = clause_new(d, choose_subject(d, NO_I), verb);
    c->question = when ? WHEN : WHY;
    m->question = true;
    if (!when && chance(d, 50)) c->polarity = NEGATED;
    choose_action(d, c, NO_TIME);
    if (when) return c->tense != PRESENT || verb == TO_WORK || verb == TO_PLAY;
    if (verb == TO_SEE || verb == TO_FIND) return false;
    return verb != TO_COME && !(verb == TO_HAVE && c->polarity == AFFIRMED);
}

// what does emma eat every morning? how many books does she buy? who speaks japanese?
bool construct_what_who(Derivation *d, Meaning *m)
{
    static const VerbId things[] = {TO_EAT,   TO_DRINK, TO_READ, TO_BUY,      TO_SELL,
                                    TO_WATCH, TO_WRITE, TO_SING, TO_LOOK_FOR, TO_SEE};
    m->question = true;
    if (chance(d, 40)) {
        Phrase *who = phrase_new(d, WHO);
        Clause *c = m->first = clause_new(d, who, choose_verb(d));
        choose_action(d, c, NO_POSSESSIVE);
        return true;
    }
    if (chance(d, 30)) {
        Clause *c = m->first = clause_new(d, choose_subject(d, NO_I), TO_HAVE);
        c->question = HOW_MANY;
        c->object = choose_noun(d, PET | CLOTHES | SMALL_THING | VEHICLE, BIT(MANY), NULL);
        if (chance(d, 30)) {
            static const char *const kin[] = {"brother", "sister", "friend"};
            c->object->noun = noun_find(kin[choose(d, 3)]);
        }
        return true;
    }
    VerbId verb = things[choose(d, 10)];
    Clause *c = m->first = clause_new(d, choose_subject(d, NO_I), verb);
    c->question = WHAT;
    choose_action(d, c, NO_TIME);
    c->object = NULL;
    unsigned habit = verb == TO_BUY ? ONCE : verbs[verb].habit;
    if (habit && chance(d, 70)) choose_time(d, c, habit);
    return true;
}

// i do not see them; paul met her yesterday
bool construct_object_pronoun(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_SEE,  TO_SEE,  TO_KNOW,     TO_HELP,
                                   TO_MEET, TO_WAIT, TO_LOOK_FOR, TO_LISTEN};
    VerbId verb = among[choose(d, 8)];
    Clause *c = m->first = clause_new(d, choose_subject(d, 0), verb);
    if (chance(d, 40)) c->polarity = NEGATED;
    if (chance(d, 20) && c->subject->person != JE) c->question = YES_NO, m->question = true;
    Phrase *p = c->object = phrase_new(d, PRONOUN);
    p->person = (Person)choose(d, PERSONS);
    p->plural = p->person == ILS || p->person == NOUS;
    if (p->person == IL) p->gender = (Gender)choose(d, 2);
    bool first = p->person == JE || p->person == NOUS;
    bool mine = c->subject->person == JE || c->subject->person == NOUS;
    if (first && mine) return false;  // "we see me"
    if (p->person == VOUS && c->subject->person == VOUS) return false;
    if (p->person == IL || p->person == ILS) {  // "paul m'a vu(e)": nobody could tell
        if (verbs[verb].en_past && chance(d, 30)) c->tense = PAST;
    }
    if (c->tense == PRESENT && verbs[verb].future && chance(d, 30)) c->tense = FUTURE;
    if (verbs[verb].habit && chance(d, c->tense == FUTURE ? 95 : 35))
        choose_time(d, c, verbs[verb].habit);
    return true;
}

// anna wants to visit the old castle; he cannot sell this house
bool construct_modal(Derivation *d, Meaning *m)
{
    VerbId verb = choose_verb(d);
    Clause *c = m->first = clause_new(d, choose_subject(d, 0), verb);
    c->modal = (int[]){TO_WANT, CAN, MUST}[choose(d, 3)];
    if (chance(d, 35)) c->polarity = NEGATED;
    if (chance(d, 20) && c->subject->person != JE && c->modal != MUST &&
        c->polarity == AFFIRMED)
        c->question = YES_NO, m->question = true;
    choose_action(d, c, IN_PRESENT | NO_TIME);
    if (verb == TO_LIKE || verb == TO_LOVE || verb == TO_COME || verb == TO_KNOW) return false;
    if (verb == TO_WEAR && c->object->plural && c->object->determiner == A) return false;
    if (c->object && c->object->kind == NOUN && c->object->determiner == NUMBER &&
        c->modal != TO_WANT)
        return false;
    if (c->modal != TO_WANT && (verb == TO_HAVE || verb == TO_LOOK_FOR)) return false;
    return !(c->modal == MUST && verb == TO_SEE) && !(c->modal != CAN && verb == TO_FIND);
}

// the old houses are not expensive; clara is happy today; is the museum open?
bool construct_quality(Derivation *d, Meaning *m)
{
    Phrase *p;
    if (chance(d, 35)) {
        p = choose_subject(d, NO_YOU);
    } else {
        p = choose_noun(d, ~0u & ~FAMILY, BIT(THE) | BIT(THIS) | BIT(MY), NULL);
        choose_adjectives(d, p, 35, ~(BIT(GOOD) | BIT(BEAUTIFUL)));
    }
    Clause *c = m->first = clause_new(d, p, TO_BE);
    c->predicate = choose_quality(d, p);
    if (c->predicate == NONE) return false;
    if (chance(d, 30)) c->polarity = NEGATED;
    if (c->polarity == AFFIRMED && chance(d, 25) && p->person != JE) {
        c->question = YES_NO;
        m->question = true;
    }
    bool passing = c->predicate >= TIRED;
    if (passing && chance(d, 35)) adjunct_expression(c, &today);
    return true;
}

// anna is hungry: anna a faim
bool construct_hunger(Derivation *d, Meaning *m)
{
    Clause *c = m->first = clause_new(d, choose_subject(d, 0), TO_BE);
    c->need = &needs[choose(d, need_count)];
    int roll = choose(d, 3);
    if (roll == 1) c->polarity = NEGATED;
    if (roll == 2 && c->subject->person != JE) c->question = YES_NO, m->question = true;
    bool now = c->polarity == NEGATED || chance(d, 20);
    if (chance(d, 30)) adjunct_expression(c, now ? &today : &times[1 + choose(d, 4)]);
    return true;
}
