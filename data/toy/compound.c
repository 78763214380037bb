/* compound.c -- constructions of two clauses, one function each, with an example. */
#include "data/toy/meaning.h"

#include <stddef.h>
#include <string.h>

static const Expression but = {"but", "mais", "00", 0}, and = {"and", "et", "00", 0};
static const Expression because = {"because", "parce que", "0001", 0};

// jane likes the red car but she does not buy it; paul opened the door and he closed it
bool construct_antecedent(Derivation *d, Meaning *m)
{
    static const struct {
        VerbId first, second;
        unsigned kinds;
        bool but, past;
    } pairs[] = {
        {TO_LIKE, TO_BUY, CLOTHES | VEHICLE | FURNITURE | FLOWER, true, false},
        {TO_SEE, TO_BUY, CLOTHES | VEHICLE | FLOWER | FOOD, true, true},
        {TO_FIND, TO_BUY, CLOTHES | FLOWER, true, true},
        {TO_BUY, TO_READ, READING & ~WRITING, true, false},
        {TO_BUY, TO_EAT, FOOD, false, true},
        {TO_SEE, TO_EAT, FOOD, true, true},
        {TO_LOOK_FOR, TO_FIND, SMALL_THING | PET | CLOTHES, true, false},
        {TO_SEE, TO_KNOW, PEOPLE, true, false},
        {TO_MEET, TO_KNOW, PEOPLE, true, false},
        {TO_KNOW, TO_SEE, PEOPLE, true, false},
        {TO_WEAR, TO_LIKE, CLOTHES, true, false},
        {TO_LISTEN, TO_LIKE, SONG, true, false},
        {TO_LISTEN, TO_LIKE, SONG, false, false},
        {TO_WATCH, TO_LIKE, FILM, true, false},
        {TO_READ, TO_LIKE, READING, true, false},
        {TO_FIND, TO_READ, READING, false, false},
        {TO_FIND, TO_SELL, CLOTHES | SMALL_THING, false, true},
        {TO_OPEN, TO_CLOSE, OPENING, false, true},
        {TO_LIKE, TO_WEAR, CLOTHES, true, false},
        {TO_BUY, TO_WEAR, CLOTHES, true, false},
        {TO_LIKE, TO_SING, SONG, true, false},
    };
    int n = choose(d, (int)(sizeof(pairs) / sizeof(*pairs)));
    Phrase *subject = choose_subject(d, 0);
    Clause *a = m->first = clause_new(d, subject, pairs[n].first);
    unsigned determiners =
        BIT(THE) | BIT(THIS) | (a->verb == TO_BUY ? BIT(A) | BIT(NUMBER) : 0);
    if (a->verb == TO_LOOK_FOR) determiners = BIT(THE) | BIT(MY);
    if (a->verb == TO_KNOW) determiners = BIT(MY) | BIT(THIS);
    if (a->verb == TO_FIND) determiners = BIT(THE) | BIT(A);
    a->object = choose_noun(d, pairs[n].kinds, determiners, subject);
    bool mass = !a->object->noun->en_plural;
    if (mass && a->object->determiner != THE) return false;
    if (pairs[n].kinds & (PEOPLE | READING) && a->object->plural && chance(d, 50)) return false;
    if ((pairs[n].second == TO_WEAR || a->verb == TO_WEAR) && subject->gender == MASCULINE)
        phrase_undress(a->object);
    bool worn = pairs[n].second == TO_WEAR || a->verb == TO_WEAR;
    if (worn && subject->plural && !a->object->plural) return false;  // one hat for two
    bool disliked = pairs[n].second == TO_LIKE && pairs[n].but;
    choose_adjectives(d, a->object, 55, disliked ? ~(BIT(GOOD) | BIT(BEAUTIFUL)) : ~0u);

    Clause *b = m->second = clause_new(d, pronoun_for(d, subject), pairs[n].second);
    b->object = pronoun_for(d, a->object);
    m->conjunction = pairs[n].but ? &but : &and;
    if (pairs[n].but) b->polarity = NEGATED;
    if (pairs[n].past && chance(d, 50)) a->tense = b->tense = PAST;
    if (pairs[n].but && b->tense == PRESENT && b->verb != TO_KNOW && b->verb != TO_LIKE &&
        chance(d, 45)) {
        b->modal = (int[]){TO_WANT, CAN}[choose(d, 2)];
        if (b->verb == TO_FIND || b->verb == TO_SEE) b->modal = CAN;
        if (b->verb == TO_READ) b->modal = chance(d, 50) ? TO_WANT : NONE;
    }
    return true;
}

// jane thinks that the white dress is expensive; i know that they live in rome
bool construct_opinion(Derivation *d, Meaning *m)
{
    Clause *c = m->first =
        clause_new(d, choose_subject(d, 0), chance(d, 55) ? TO_THINK : TO_KNOW_THAT);
    Meaning inner = {0};
    if (chance(d, 65)) {
        if (!construct_quality(d, &inner)) return false;
    } else {
        inner.first = clause_new(d, choose_subject(d, 0), choose_verb(d));
        choose_action(d, inner.first, 0);
    }
    c->that = inner.first;
    if (c->subject->kind != PRONOUN && c->that->subject->kind == c->subject->kind) return false;
    if (phrases_share_name(c->subject, c->that->subject)) return false;
    bool own =
        c->subject->person == JE || c->subject->person == NOUS || c->subject->person == VOUS;
    return !inner.question && !(own && c->subject->person == c->that->subject->person);
}

// the woman who sells flowers is my neighbour; the children who play football are tired
bool construct_who_relative(Derivation *d, Meaning *m)
{
    Phrase *head = choose_noun(d, PEOPLE, BIT(THE), NULL);
    Phrase *who = phrase_new(d, WHO);
    who->noun = head->noun;
    who->person = head->person, who->gender = head->gender, who->plural = head->plural;
    static const VerbId among[] = {TO_SELL, TO_READ, TO_WRITE,   TO_DRINK, TO_EAT,
                                   TO_WEAR, TO_WAIT, TO_HELP,    TO_PLAY,  TO_SPEAK,
                                   TO_LIVE, TO_COME, TO_WORK,    TO_WATCH, TO_LISTEN,
                                   TO_HAVE, TO_BUY,  TO_LOOK_FOR};
    Clause *relative = clause_new(d, who, among[choose(d, 18)]);
    choose_action(d, relative, NO_TIME | NO_POSSESSIVE);
    if (relative->tense == FUTURE || (relative->object && relative->object->noun == head->noun))
        return false;
    head->relative = relative;
    if (chance(d, 40)) {
        Clause *c = m->first = clause_new(d, choose_subject(d, NO_NOUN), TO_KNOW);
        if (chance(d, 30)) c->polarity = NEGATED;
        c->object = head;
        return true;
    }
    Clause *c = m->first = clause_new(d, head, TO_BE);
    if (chance(d, 50)) {
        c->predicate = choose_quality(d, head);
        if (chance(d, 20)) c->polarity = NEGATED;
    } else {
        c->object = choose_noun(d, FAMILY | PEOPLE, BIT(MY), NULL);
        phrase_pluralise(c->object, head->plural);
        if (!c->object->noun->en || c->object->gender != head->gender) return false;
        const char *noun = c->object->noun->en;
        bool young = strcmp(head->noun->en, "child") == 0 ||
                     strcmp(head->noun->en, "student") == 0 ||
                     head->noun->adjectives & BIT(LITTLE);
        bool kin = strcmp(noun, "brother") == 0 || strcmp(noun, "sister") == 0 ||
                   strcmp(noun, "friend") == 0;
        if (head->plural && !kin) return false;
        if (c->object->noun == head->noun || (young && !kin)) return false;
    }
    return true;
}

// the letter that paul wrote is interesting; i like the dress that you wear
bool construct_that_relative(Derivation *d, Meaning *m)
{
    static const VerbId among[] = {TO_READ,  TO_WRITE, TO_BUY,  TO_SELL,     TO_WEAR, TO_WATCH,
                                   TO_VISIT, TO_SING,  TO_FIND, TO_LOOK_FOR, TO_BUY,  TO_WRITE};
    VerbId verb = among[choose(d, 12)];
    Phrase *head = choose_noun(d, verbs[verb].objects, BIT(THE), NULL);
    if (!head->noun->en_plural && verb != TO_BUY) return false;
    Clause *relative = clause_new(d, choose_subject(d, 0), verb);
    relative->object = head;
    relative->relative_object = true;
    if (verb == TO_WEAR && relative->subject->plural && !head->plural) return false;
    if (verbs[verb].en_past && chance(d, 65)) relative->tense = PAST;
    head->relative = relative;
    int quality = choose_quality(d, head);
    if (quality == NONE) return false;
    if (chance(d, 30) && verb != TO_LOOK_FOR && head->noun->kinds & (TASTE | CLOTHES)) {
        Clause *c = m->first = clause_new(d, choose_subject(d, 0), TO_LIKE);
        if (chance(d, 30)) c->polarity = NEGATED;
        c->object = head;
        bool same =
            c->subject->person == relative->subject->person && c->subject->kind == PRONOUN;
        return !same && !phrases_share_name(c->subject, relative->subject);
    }
    Clause *c = m->first = clause_new(d, head, TO_BE);
    c->predicate = quality;
    if (chance(d, 25)) c->polarity = NEGATED;
    return true;
}

// paul does not work today because he is sick; we eat bread because we are hungry
bool construct_reason(Derivation *d, Meaning *m)
{
    static const VerbId tiring[] = {TO_WORK, TO_PLAY, TO_STAY, TO_GO,
                                    TO_STAY, TO_HELP, TO_SING};
    int roll = choose(d, 5);
    Phrase *subject = choose_subject(d, roll >= 2 ? NO_YOU : 0);
    Clause *a = m->first = clause_new(d, subject, TO_EAT);
    if (roll == 1) a->verb = TO_DRINK;
    if (roll >= 2) a->verb = tiring[choose(d, 7)];
    if (a->verb != TO_STAY && (roll >= 2 || chance(d, 40))) a->polarity = NEGATED;
    choose_action(d, a, IN_PRESENT | NO_TIME);
    if (roll < 2 && a->object->determiner == NUMBER) return false;
    if (roll >= 2 && chance(d, 40)) choose_time(d, a, ONCE);

    Clause *b = m->second = clause_new(d, pronoun_for(d, subject), TO_BE);
    m->conjunction = &because;
    if (roll < 2) {
        b->need = &needs[roll];
        b->polarity = a->polarity;
        return true;
    }
    bool told = subject->kind == PRONOUN && (subject->person == JE || subject->person == NOUS);
    b->predicate = (int[]){SICK, SAD, TIRED}[choose(d, told ? 2 : 3)];
    return true;
}
