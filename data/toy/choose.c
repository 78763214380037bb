/* choose.c -- people, things and qualities; actions are in action.c. */
#include "data/toy/choose.h"

#include <assert.h>
#include <stddef.h>

int choose(Derivation *d, int n)
{
    return (int)rng_below(&d->rng, (uint32_t)n);
}

bool chance(Derivation *d, int percent)
{
    return choose(d, 100) < percent;
}

int choose_bit(Derivation *d, unsigned set)
{
    int member[32], count = 0;
    for (int b = 0; b < 32; b++)
        if (set & BIT(b)) member[count++] = b;
    return count == 0 ? NONE : member[choose(d, count)];
}

Phrase *phrase_new(Derivation *d, PhraseKind kind)
{
    assert(d->phrases < MAX_PHRASES);
    Phrase *p = &d->phrase[d->phrases++];
    *p = (Phrase){.kind = kind, .person = IL, .before = NONE, .after = NONE};
    return p;
}

Clause *clause_new(Derivation *d, Phrase *subject, VerbId verb)
{
    assert(d->clauses < MAX_CLAUSES);
    Clause *c = &d->clause[d->clauses++];
    *c = (Clause){.subject = subject, .verb = verb, .modal = NONE, .predicate = NONE};
    return c;
}

// ---- people -------------------------------------------------------------------------------

Phrase *choose_name(Derivation *d)
{
    Phrase *p = phrase_new(d, NAME);
    p->name[0] = &names[choose(d, name_count)];
    p->gender = p->name[0]->gender;
    return p;
}

static Phrase *choose_names(Derivation *d)
{
    Phrase *p = phrase_new(d, NAMES);
    int first = choose(d, name_count), second = choose(d, name_count - 1);
    p->name[0] = &names[first];
    p->name[1] = &names[second + (second >= first)];
    p->gender = p->name[0]->gender & p->name[1]->gender;  // one man makes it masculine
    p->person = ILS;
    p->plural = true;
    return p;
}

static Phrase *choose_pronoun(Derivation *d, unsigned limits)
{
    unsigned persons = BIT(JE) | BIT(VOUS) | BIT(IL) | BIT(NOUS) | BIT(ILS);
    if (limits & NO_I) persons &= ~BIT(JE);
    if (limits & NO_YOU) persons &= ~BIT(VOUS);
    if (limits & THIRD) persons = BIT(IL) | BIT(ILS);
    Phrase *p = phrase_new(d, PRONOUN);
    p->person = (Person)choose_bit(d, persons);
    p->plural = p->person == ILS || p->person == NOUS;
    if (p->person == IL) p->gender = (Gender)choose(d, 2);
    return p;
}

Phrase *choose_person(Derivation *d, const Phrase *subject)
{
    Phrase *p;
    if (chance(d, 40)) p = choose_noun(d, FAMILY, BIT(MY), subject);
    else p = choose_noun(d, PEOPLE, BIT(THE) | BIT(THIS) | BIT(MY), subject);
    choose_adjectives(d, p, 30, ~0u);
    return p;
}

Phrase *choose_subject(Derivation *d, unsigned limits)
{
    int roll = choose(d, 100);
    if (roll < 35) return choose_name(d);
    if (roll < 45) return choose_names(d);
    if (roll < 70 && !(limits & NO_PRONOUN)) return choose_pronoun(d, limits);
    return limits & NO_NOUN ? choose_name(d) : choose_person(d, NULL);
}

Phrase *pronoun_for(Derivation *d, const Phrase *antecedent)
{
    Phrase *p = phrase_new(d, PRONOUN);
    p->person = antecedent->person;
    p->gender = antecedent->gender;
    p->plural = antecedent->plural;
    p->thing = antecedent->kind == NOUN && !phrase_is_people(antecedent);
    return p;
}

void phrase_undress(Phrase *p)
{
    if (p->noun == noun_find("dress")) p->noun = noun_find("shirt");
}

bool phrases_share_name(const Phrase *a, const Phrase *b)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (a->name[i] && a->name[i] == b->name[j]) return true;
    return false;
}

bool phrase_is_people(const Phrase *p)
{
    return p->kind != LAND && (p->kind != NOUN || (p->noun->kinds & (PEOPLE | FAMILY)));
}

// ---- things -------------------------------------------------------------------------------

void phrase_pluralise(Phrase *p, bool plural)
{
    p->plural = plural;
    p->person = plural ? ILS : IL;
}

/* Whose it is: most often the subject's own. */
static void choose_owner(Derivation *d, Phrase *p, const Phrase *subject)
{
    if (subject && subject->kind != WHO && chance(d, 75)) {
        p->owner = subject->person;
        p->owner_gender = subject->gender;
    } else {
        p->owner = (Person)choose(d, PERSONS);
        p->owner_gender = (Gender)choose(d, 2);
    }
}

static bool determiner_suits(Determiner det, const Noun *noun, bool plural)
{
    bool people = noun->kinds & PEOPLE, family = noun->kinds & FAMILY, mass = !noun->en_plural;
    if (family) return det == MY || det == OWNED || (noun->en && plural && det == NUMBER);
    switch (det) {
    case MY:
        if (noun->kinds & (SIGHT | DESTINATION) && !(noun->kinds & HOME)) return false;
        if (noun->kinds & HOME && plural) return false;
        if (noun->kinds & SOUND && mass) return false;
        return !(noun->kinds & BIRD) && (!people || (noun->kinds & COMPANION));
    case OWNED: return !(noun->kinds & HOME && plural);
    case A: return !people || !plural;
    case NUMBER: return plural && !mass && noun->en;
    case MANY: return plural && !mass;
    case GENERAL: return plural || mass;
    default: return true;
    }
}

Phrase *choose_noun(Derivation *d, unsigned kinds, unsigned determiners, const Phrase *subject)
{
    static const Determiner often[] = {THE, THE,  THE,    A,    A,       A,    MY,
                                       MY,  THIS, NUMBER, MANY, GENERAL, OWNED};
    Phrase *p = phrase_new(d, NOUN);
    for (;;) {
        p->noun = &nouns[choose(d, noun_count)];
        if (!(p->noun->kinds & kinds)) continue;
        bool parent =
            p->noun->kinds & FAMILY && !(p->noun->adjectives & (BIT(OLD) | BIT(LITTLE)));
        bool plural = !p->noun->en || (p->noun->en_plural && !parent && chance(d, 33));
        if (determiners == BIT(GENERAL) || determiners == BIT(NUMBER) ||
            determiners == BIT(MANY))
            plural = p->noun->en_plural != NULL;
        p->determiner = often[choose(d, (int)(sizeof(often) / sizeof(*often)))];
        if (!(determiners & BIT(p->determiner))) continue;
        if (!determiner_suits(p->determiner, p->noun, plural)) continue;
        phrase_pluralise(p, plural);
        break;
    }
    p->gender = p->noun->gender;
    p->number = 2 + choose(d, 5);
    choose_owner(d, p, subject);
    bool hers = p->owner == IL && p->owner_gender == FEMININE;
    if (p->determiner == MY && !hers) phrase_undress(p);
    return p;
}

void choose_adjectives(Derivation *d, Phrase *p, int percent, unsigned among)
{
    const unsigned before_noun = BIT(RED) - 1, spoken_of = ~(BIT(TALL) - 1);
    const unsigned colours = (BIT(EXPENSIVE) - 1) & ~before_noun;
    const unsigned beside = colours | BIT(ITALIAN) | BIT(FRENCH);  // "a new red car"
    if (p->kind != NOUN || !chance(d, percent)) return;
    unsigned suit = p->noun->adjectives & among & ~spoken_of;
    if (!p->noun->en_plural) suit &= ~before_noun;
    if (p->noun->kinds & PEOPLE && p->determiner == GENERAL) return;
    int first = choose_bit(d, suit);
    if (first == NONE) return;
    if (first < RED) p->before = first;
    else p->after = first;
    if (chance(d, 25) && first < RED && first != GOOD) p->after = choose_bit(d, suit & beside);
}

Phrase *phrase_of(Derivation *d, const char *noun)
{
    Phrase *p = phrase_new(d, NOUN);
    p->noun = noun_find(noun);
    p->gender = p->noun->gender;
    p->determiner = THE;
    return p;
}

int choose_quality(Derivation *d, const Phrase *p)
{
    const unsigned states = BIT(TALL) | BIT(TIRED) | BIT(HAPPY) | BIT(SAD) | BIT(SICK);
    const unsigned alike = BIT(SAD) | BIT(SICK);  // no gender to hear or to see
    if (p->kind == NOUN) {
        unsigned never = BIT(NEW) | BIT(LITTLE) | BIT(GOOD) * phrase_is_people(p);
        unsigned said = 0;
        if (p->before != NONE) said |= BIT(p->before);
        if (p->after != NONE) said |= (BIT(EXPENSIVE) - BIT(RED)) | BIT(p->after);
        if (p->after == ITALIAN || p->after == FRENCH) said |= BIT(ITALIAN) | BIT(FRENCH);
        if (p->after == HOT || p->after == COLD) said |= BIT(HOT) | BIT(COLD);
        if (p->before == SMALL || p->before == BIG) said |= BIT(SMALL) | BIT(BIG);
        if (p->before == OLD || p->before == NEW || p->before == YOUNG)
            said |= BIT(OLD) | BIT(YOUNG);
        if (p->before == LITTLE) said |= BIT(TALL);
        if (p->before == BEAUTIFUL || p->before == GOOD) said |= BIT(BEAUTIFUL) | BIT(GOOD);
        return choose_bit(d, p->noun->adjectives & ~never & ~said);
    }
    if (p->kind == PRONOUN && (p->person == JE || p->person == NOUS))
        return choose_bit(d, alike);
    if (p->kind == PRONOUN && p->person == VOUS) return NONE;
    return choose_bit(d, states | (p->kind == NAME ? BIT(FAMOUS) : 0));
}

void adjunct_phrase(Clause *c, const char *en, const char *fr, Phrase *phrase)
{
    assert(c->adjuncts < MAX_ADJUNCTS);
    c->adjunct[c->adjuncts++] = (Adjunct){.en = en, .fr = fr, .phrase = phrase};
}

void adjunct_expression(Clause *c, const Expression *expression)
{
    assert(c->adjuncts < MAX_ADJUNCTS);
    c->adjunct[c->adjuncts++] = (Adjunct){.expression = expression};
}
