/* action.c -- what people do: an object the verb can take, where, in which tense, and when.
 *
 * The time must suit: one eats an apple every day but buys a house last year, and one does not
 * visit africa every morning. */
#include "data/toy/choose.h"

#include <stddef.h>
#include <string.h>

#define DET(a) BIT(a)

static const Expression at_home = {"at home", "à la maison", "001112", 0};
static const Expression at_school = {"at school", "à l' école", "001112", 0};
static const Expression to_school = {"to school", "à l' école", "001112", 0};

void choose_time(Derivation *d, Clause *c, unsigned habit)
{
    unsigned member[64];
    int count = 0;
    for (int t = 0; t < time_count; t++) {
        unsigned use = times[t].use;
        if (!(use & WITH(c->tense))) continue;
        bool suits =
            c->tense == PRESENT ? use & habit & 0xff : !(use & YEARLY) || habit & YEARLY;
        // "does not work every week" would leave open how often one does
        if (c->polarity != AFFIRMED && strncmp(times[t].en, "every ", 6) == 0) suits = false;
        if (suits) member[count++] = (unsigned)t;
    }
    if (count) adjunct_expression(c, &times[member[choose(d, count)]]);
}

/* The determiners that go well with the verb, when its object is a noun. */
static unsigned determiners_of(VerbId verb)
{
    switch (verb) {
    case TO_VISIT: return DET(THE) | DET(A) | DET(THIS);
    case TO_BUY: return DET(THE) | DET(A) | DET(THIS) | DET(NUMBER);
    case TO_WRITE:
    case TO_SING:
    case TO_LISTEN: return DET(THE) | DET(A) | DET(THIS);
    case TO_WATCH: return DET(THE) | DET(A) | DET(THIS);
    case TO_EAT: return DET(THE) | DET(A) | DET(MY) | DET(NUMBER);
    case TO_DRINK: return DET(A) | DET(MY);
    case TO_LIKE: return DET(GENERAL) | DET(THE) | DET(THIS) | DET(MY);
    case TO_LOVE: return DET(GENERAL);
    case TO_WEAR: return DET(A) | DET(MY) | DET(THE);
    case TO_LOOK_FOR: return DET(THE) | DET(MY);
    case TO_FIND: return DET(THE) | DET(MY) | DET(A);
    case TO_WAIT: return DET(THE) | DET(MY);
    case TO_HELP:
    case TO_KNOW: return DET(THE) | DET(THIS) | DET(MY);
    case TO_MEET: return DET(THE) | DET(A) | DET(MY);
    case TO_OPEN:
    case TO_CLOSE: return DET(THE) | DET(THIS);
    case TO_HAVE: return DET(A) | DET(NUMBER) | DET(MANY);
    default: return DET(THE) | DET(A) | DET(THIS) | DET(MY);
    }
}

/* The adjectives one would say of the object: nobody writes an old letter. */
static unsigned adjectives_of(VerbId verb)
{
    switch (verb) {
    case TO_WRITE: return BIT(BEAUTIFUL) | BIT(GOOD) | BIT(INTERESTING);
    case TO_OPEN: return ~(BIT(OPEN) | BIT(CLOSED));
    case TO_LIKE:
    case TO_LOVE: return ~(BIT(GOOD) | BIT(LITTLE));
    default: return ~0u;
    }
}

static bool is_child(const Phrase *p)
{
    if (!p || !p->noun) return false;
    bool boy_or_girl = p->noun->kinds & PEOPLE && p->noun->adjectives & BIT(LITTLE);
    return boy_or_girl || p->before == LITTLE || p->noun == noun_find("child");
}

/* Children drink milk, and have bicycles rather than cars and houses. */
static void suit_child(Phrase *p, VerbId verb)
{
    bool grown = p->noun == noun_find("coffee") || p->noun == noun_find("wine");
    if (grown) p->noun = noun_find("milk");
    bool owns = verb == TO_BUY || verb == TO_SELL || verb == TO_HAVE;
    if (owns && p->noun->kinds & (VEHICLE | BOAT | HOME)) p->noun = noun_find("bicycle");
    p->gender = p->noun->gender;
}

static void choose_object(Derivation *d, Clause *c, unsigned limits)
{
    unsigned determiners = determiners_of(c->verb), kinds = verbs[c->verb].objects;
    if (limits & DEFINITE) determiners &= DET(THE) | DET(THIS) | DET(MY) | DET(GENERAL);
    if (limits & NO_POSSESSIVE && !(kinds & FAMILY)) determiners &= ~DET(MY);
    if (c->polarity != AFFIRMED) determiners &= ~(DET(NUMBER) | DET(MANY));
    Phrase *p = choose_noun(d, kinds, determiners, c->subject);
    bool one = c->verb == TO_WAIT || c->verb == TO_OPEN;
    if (one && p->plural && p->noun->en && p->determiner != MY) phrase_pluralise(p, false);
    if (c->verb == TO_WEAR) {
        bool several = c->subject && (c->subject->person == NOUS || c->subject->person == ILS);
        if (several && p->determiner == THE) p->determiner = limits & NO_POSSESSIVE ? A : MY;
        phrase_pluralise(p, several || !p->noun->en);
        if (!c->subject || c->subject->gender == MASCULINE) phrase_undress(p);
    }
    if (c->verb == TO_HAVE && p->noun->kinds & CLOTHES) {
        phrase_pluralise(p, true);
        if (c->subject->gender == MASCULINE) phrase_undress(p);
    }
    if (is_child(c->subject)) suit_child(p, c->verb);
    bool trade = c->verb == TO_BUY || c->verb == TO_SELL;
    if (trade && p->noun->kinds & FOOD && !p->noun->en_plural) p->determiner = A;
    bool worn = c->verb == TO_WEAR && p->determiner == A;  // nobody says that one wears shoes
    choose_adjectives(d, p, worn ? 100 : 50, adjectives_of(c->verb));
    c->object = p;
}

static Phrase *choose_land(Derivation *d)
{
    Phrase *p = phrase_new(d, LAND);
    p->land = &lands[choose(d, land_count)];
    return p;
}

/* "en afrique", "au canada", "à paris": the preposition takes the place of the article. */
static void land_adjunct(Derivation *d, Clause *c, const char *en, bool from)
{
    Phrase *p = choose_land(d);
    p->bare = true;
    adjunct_phrase(c, en, from ? p->land->from : p->land->in, p);
}

static unsigned go_somewhere(Derivation *d, Clause *c)
{
    if (chance(d, 45)) {
        land_adjunct(d, c, "to", false);
        if (chance(d, 25)) adjunct_expression(c, &vehicles[2]);
        return YEARLY;
    }
    if (chance(d, 15)) {
        adjunct_expression(c, &to_school);
    } else {
        Phrase *p = choose_noun(d, DESTINATION, DET(THE), NULL);
        phrase_pluralise(p, false);
        adjunct_phrase(c, "to", "à", p);
    }
    if (chance(d, 25)) adjunct_expression(c, &vehicles[chance(d, 50) ? 1 : 3]);
    return DAILY;
}

static void live_somewhere(Derivation *d, Clause *c)
{
    if (chance(d, 60)) {
        land_adjunct(d, c, "in", false);
        return;
    }
    Phrase *p = choose_noun(d, TOWN | HOME, DET(A) | DET(THIS), NULL);
    phrase_pluralise(p, false);
    if (p->noun == noun_find("hotel")) p->noun = noun_find("house");
    p->gender = p->noun->gender;
    choose_adjectives(d, p, 100,
                      BIT(SMALL) | BIT(BIG) | BIT(OLD) | BIT(BEAUTIFUL) | BIT(WHITE));
    adjunct_phrase(c, "in", "dans", p);
}

static void work_somewhere(Derivation *d, Clause *c)
{
    int place = choose(d, workplace_count + 2);
    if (place < workplace_count)
        adjunct_phrase(c, workplaces[place].en, workplaces[place].fr,
                       phrase_of(d, workplaces[place].noun));
    else adjunct_expression(c, place == workplace_count ? &at_home : &at_school);
}

VerbId choose_verb(Derivation *d)
{
    static const VerbId among[] = {TO_VISIT, TO_VISIT,  TO_SEE,  TO_READ, TO_READ,     TO_WRITE,
                                   TO_BUY,   TO_BUY,    TO_SELL, TO_EAT,  TO_EAT,      TO_DRINK,
                                   TO_LIKE,  TO_LIKE,   TO_LOVE, TO_WEAR, TO_LOOK_FOR, TO_FIND,
                                   TO_WATCH, TO_LISTEN, TO_WAIT, TO_HELP, TO_KNOW,     TO_MEET,
                                   TO_OPEN,  TO_CLOSE,  TO_SING, TO_HAVE, TO_PLAY,     TO_SPEAK,
                                   TO_GO,    TO_GO,     TO_LIVE, TO_COME, TO_WORK,     TO_STAY};
    return among[choose(d, (int)(sizeof(among) / sizeof(*among)))];
}

static void choose_tense(Derivation *d, Clause *c)
{
    const Verb *verb = &verbs[c->verb];
    // "we went", "you went": the French would need their gender and number.
    bool agrees = verb->etre && c->subject && c->subject->kind == PRONOUN &&
                  c->subject->person != IL && c->subject->person != ILS;
    int roll = choose(d, 100);
    if (roll < 25 && verb->en_past && !agrees) c->tense = PAST;
    else if (roll < 45 && verb->future) c->tense = FUTURE;
}

void choose_action(Derivation *d, Clause *c, unsigned limits)
{
    unsigned habit = verbs[c->verb].habit;
    if (!(limits & IN_PRESENT)) choose_tense(d, c);
    switch (c->verb) {
    case TO_GO: habit = go_somewhere(d, c); break;
    case TO_LIVE: live_somewhere(d, c); break;
    case TO_COME: land_adjunct(d, c, "from", true); break;
    case TO_WORK: work_somewhere(d, c); break;
    case TO_STAY: adjunct_expression(c, &at_home); break;
    case TO_PLAY: adjunct_expression(c, &pastimes[choose(d, pastime_count)]); break;
    case TO_SPEAK: adjunct_expression(c, &languages[choose(d, language_count)]); break;
    case TO_VISIT:
        if (chance(d, 60)) c->object = choose_land(d);
        else choose_object(d, c, limits);
        break;
    default: choose_object(d, c, limits);
    }

    const Phrase *object = c->object;
    bool indefinite = object && object->kind == NOUN && object->determiner == A;
    bool consumed = c->verb == TO_EAT || c->verb == TO_DRINK || c->verb == TO_WRITE;
    if (consumed && !indefinite) habit = c->verb == TO_WRITE ? 0 : ONCE;
    if (consumed && c->tense != PRESENT) {
        static const Expression day[] = {{"yesterday", "hier", "00", 0},
                                         {"tomorrow", "demain", "00", 0}};
        if (!(limits & NO_TIME)) adjunct_expression(c, &day[c->tense == FUTURE]);
        return;
    }
    if ((c->verb == TO_BUY || c->verb == TO_SELL) && object->kind == NOUN) {
        bool food = object->noun->kinds & (FOOD | FLOWER);
        habit = food ? (indefinite ? DAILY : ONCE) : YEARLY * (c->tense != PRESENT) | ONCE;
    }
    if (c->verb == TO_WORK && c->tense == PRESENT) habit = DAILY;
    if (c->verb == TO_MEET && c->tense != PRESENT) habit |= YEARLY;
    if (habit && !(limits & NO_TIME) && chance(d, c->tense == FUTURE ? 90 : 60))
        choose_time(d, c, habit);
}
