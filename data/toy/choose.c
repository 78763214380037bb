/* choose.c -- chooses what a sentence means. */
#include "base/rng.h"
#include "data/toy/grammar.h"

#include <string.h>

enum { SEED = 2017, ANY = 0x7fffffff };

static Rng rng;

static int below(int n)
{
    return (int)rng_below(&rng, (uint32_t)n);
}

static bool chance(int percent)
{
    return below(100) < percent;
}

/* One of the entries of a table whose sets share something with `wanted`, or NULL. */
static const void *draw(const void *table, size_t size, Set wanted)
{
    const void *suits[100];
    int count = 0;
    for (const char *entry = table; *(const Set *)(const void *)entry; entry += size)
        if (*(const Set *)(const void *)entry & wanted) suits[count++] = entry;
    return count ? suits[below(count)] : NULL;
}
#define DRAW(table, wanted) draw(table, sizeof *(table), wanted)

static bool determiner_suits(Set determiner, const Noun *noun, bool plural)
{
    if (noun->is & FAMILY) return determiner == MY;
    if (determiner == A) return !plural || !(noun->is & PEOPLE);
    if (determiner == MY) return !(noun->is & PUBLIC || (plural && noun->is & (HOME | PEOPLE)));
    return determiner != GENERAL || plural || !noun->many;
}

/* A noun of these kinds with one of these determiners; "my" may be the owner's. */
static bool noun_choose(Phrase *p, Set kinds, Set wanted, const Phrase *owner)
{
    static const Set often[] = {THE, THE, THE, A, A, A, MY, MY, THIS, GENERAL};
    const Phrase *own = owner && chance(75) ? owner : NULL;
    bool plural, suits = false;
    Set is = 0;
    for (int tries = 0; tries < 100 && !suits; tries++) {
        p->noun = DRAW(nouns, kinds);
        plural = p->noun->many && (!p->noun->one || chance(33));
        is = often[below(sizeof often / sizeof *often)] & wanted;
        suits = is && determiner_suits(is, p->noun, plural);
    }
    p->category = COMMON;
    p->person = plural ? ILS : IL;
    p->gender = p->noun->gender;
    if (is == A && !p->noun->many) is = SOME;
    p->determiner = DRAW(determiners, is);
    int of = own ? (int)own->person : below(6);
    if (own && own->person == IL && own->gender == F) of = 5;
    if (is == MY) p->determiner = &possessives[of];
    return suits;
}

/* Some of the wanted adjectives that suit the noun, if there are any. */
static void adjectives_choose(Phrase *p, Set wanted)
{
    Set suits = p->noun->adjectives & wanted & ~(Set)STATE;
    const Adjective *a = DRAW(adjectives, p->noun->many ? suits : suits & ~(Set)PRENOMINAL);
    if (a && a->is & PRENOMINAL) p->before = a;
    else p->after = a;
    if (p->before && a->is != GOOD && chance(25)) p->after = DRAW(adjectives, suits & (COLOUR));
}

static void pronoun_choose(Phrase *p)
{
    *p = (Phrase){.category = PRONOUN, .person = (Person)below(ILS + 1)};
    if (p->person == IL) p->gender = (Gender)below(2);
}

/* Somebody whose gender or number English does not tell. */
static bool indefinite(const Phrase *p)
{
    return p->category == PRONOUN && p->person != IL && p->person != ILS;
}

static bool subject_choose(Clause *c)
{
    Phrase *p = &c->subject;
    int roll = below(100);
    *p = (Phrase){.category = NAME, .person = IL, .noun = DRAW(names, ANY)};
    p->gender = p->noun->gender;
    if (roll < 40) pronoun_choose(p);
    else if (roll < 75) {
        if (!noun_choose(p, PEOPLE | FAMILY, THE | THIS | MY, NULL)) return false;
        if (chance(30)) adjectives_choose(p, ANY);
    }
    return p->person != JE || !c->question;
}

static bool object_choose(Clause *c)
{
    Phrase *o = &c->object;
    const Phrase *subject = &c->subject;
    const Verb *v = c->verb;
    if (v->is == PLAY || (v->objects & LANDS && chance(50))) {
        *o = (Phrase){.category = LAND, .land = DRAW(lands, v->objects)};
        return true;
    }
    if (v->objects & PEOPLE && chance(50)) {
        pronoun_choose(o);
        if (c->tense == PAST && indefinite(o)) c->tense = PRESENT;
        return o->person % NOUS > VOUS || o->person % NOUS != subject->person % NOUS;
    }
    if (!noun_choose(o, v->objects, v->determiners, subject) || o->noun == subject->noun)
        return false;
    bool child = subject->noun && subject->noun->is & CHILD;
    bool several = o->person == ILS && o->noun->one;
    if (v->is == WEAR && several != (subject->person >= NOUS)) return false;
    if (v->is & (GO | LIVE | WORK) && several) return false;
    if (child && (v->is == WORK || o->noun->is & (VEHICLE | HOME))) return false;
    if (chance(45) && v->is != GO) adjectives_choose(o, v->is == LIKE ? ANY & ~GOOD : ANY);
    return true;
}

/* Completes a subject and a verb, or gives up. */
static bool act(Clause *c, bool time)
{
    const Verb *v = c->verb;
    Set often = v->use;
    c->preposition = v->preposition;
    bool past = *v->past && !(v->use & ETRE && indefinite(&c->subject));
    if (!c->modal && !c->adverb)
        c->tense = past && chance(35) ? PAST : v->use & FUTURE && chance(40) ? FUTURE : PRESENT;
    if (!object_choose(c)) return false;
    bool some = c->object.determiner && c->object.determiner->is & (A | SOME);
    if (v->is == GO && c->object.category == LAND) often = YEARLY;
    if (v->is & (EAT | DRINK | WRITE | READ) && !some) often = ONCE;
    if (v->is == BUY && !(some && c->object.noun->is & (FOOD | FLOWER))) often = ONCE;
    if (c->adverb) return often & (DAILY | YEARLY);
    often &= DAILY | YEARLY | ONCE;
    for (bool suits = !time || !often || (c->tense != FUTURE && chance(45)); !suits;) {
        Set is = (c->time = DRAW(times, c->tense))->is;
        suits = c->tense != PRESENT || is & often;
        if ((is & YEARLY && !(often & YEARLY)) || (is & EVERY && c->negated)) suits = false;
    }
    return true;
}

#define ANY_VERB (CAN - 1)

/* jane visits africa in september; clara never drinks coffee; can he not see the boat? */
static bool statement(Clause *c)
{
    int roll = below(100);
    c->verb = DRAW(verbs, ANY_VERB);
    if (roll < 20) c->modal = DRAW(verbs, CAN | MUST);
    else if (roll < 40) c->adverb = DRAW(adverbs, ANY);
    c->negated = !c->adverb && chance(35);
    if (!c->adverb && chance(20)) c->question = YES_NO;
    if (c->modal && (c->question || c->verb->is & (LIKE | KNOW | HAVE))) return false;
    return subject_choose(c) && act(c, !c->modal);
}

/* where do you buy bread? why does anna not like these films? */
static bool question(Clause *c)
{
    static const Set verb_sets[] = {[WHERE] = LIVE | WORK | BUY | SEE | FIND,
                                    [WHEN] = VISIT | SEE | BUY | GO | WORK | PLAY,
                                    [WHY] = ANY_VERB & ~(SEE | FIND | HAVE),
                                    [WHAT] = EAT | DRINK | READ | BUY | WRITE | LOOK};
    c->question = (Question)(WHERE + below(4));
    c->verb = DRAW(verbs, verb_sets[c->question]);
    c->negated = c->question == WHY && chance(50);
    if (!subject_choose(c) || !act(c, c->question == WHAT)) return false;
    bool place = c->question == WHERE && c->verb->is & (LIVE | WORK);
    if (c->question == WHAT || place) c->object = (Phrase){0};
    if (c->question == WHEN && !(c->verb->is & (WORK | PLAY))) return c->tense != PRESENT;
    return c->question != WHERE || place || c->verb->is == BUY || c->tense == PAST;
}

/* the old houses are not expensive; is clara happy today? */
static bool quality(Clause *c)
{
    c->verb = DRAW(verbs, BE);
    c->negated = chance(30);
    if (!c->negated && chance(25)) c->question = YES_NO;
    Set kinds = SIGHT | TASTE | FURNITURE | THING | LETTER;
    if (chance(50)) {
        if (!subject_choose(c)) return false;
    } else if (!noun_choose(&c->subject, kinds, THE | THIS | MY, NULL)) return false;
    else if (chance(35)) adjectives_choose(&c->subject, ANY);
    const Phrase *p = &c->subject;
    Set suits = p->category == COMMON ? p->noun->adjectives & ~(Set)(NEW | LITTLE) : STATE;
    if (p->before) suits &= ~(Set)(PRENOMINAL | TALL);  // its adjectives say enough
    if (p->after) suits &= ~(COLOUR | p->after->is);
    if (suits & TIRED) suits &= ~(Set)(GOOD | YOUNG);
    c->predicate = DRAW(adjectives, indefinite(p) ? SAD | SICK : suits);
    return c->predicate && p->person != VOUS;
}

/* there are two cats under the table; the cat is not in the garden */
static bool position(Clause *c)
{
    const Position *position = DRAW(positions, ANY);
    c->there = chance(50);
    Set kinds = position->is & (c->there ? ~(Set)FAMILY : ~(Set)(FURNITURE | FLOWER));
    c->verb = DRAW(verbs, BE);
    c->negated = chance(30);
    if (!noun_choose(&c->subject, kinds, c->there ? A : THE | MY, NULL)) return false;
    if (chance(40)) adjectives_choose(&c->subject, ANY & ~(GOOD | EXPENSIVE));
    if (c->there && c->negated) c->subject.determiner = DRAW(determiners, NO);
    if (!c->negated && chance(40)) c->question = YES_NO;
    c->preposition = position->preposition;
    const Noun *place = &nouns[position->noun];
    c->object = (Phrase){.category = COMMON, .person = IL, .noun = place};
    c->object.gender = place->gender;
    c->object.determiner = DRAW(determiners, THE);
    return true;
}

static void pronoun_for(Phrase *p, const Phrase *antecedent)
{
    *p = (Phrase){
        .category = PRONOUN, .person = antecedent->person, .gender = antecedent->gender};
    p->thing = antecedent->category == COMMON && !(antecedent->noun->is & (PEOPLE | FAMILY));
}

/* jane likes the red car but she does not buy it; he knows the boys but they do not know him */
static bool antecedent(Clause *c)
{
    const Pair *pair = DRAW(pairs, ANY);
    Clause *second = c->second = c + 1;
    c->verb = DRAW(verbs, pair->first);
    second->verb = DRAW(verbs, pair->second);
    Set both = (THE | THIS | MY) & c->verb->determiners & second->verb->determiners;
    if (!subject_choose(c) || (pair->swap && indefinite(&c->subject))) return false;
    if (!noun_choose(&c->object, pair->is, both, &c->subject)) return false;
    if (c->object.noun == c->subject.noun) return false;
    bool each = second->verb->is == WEAR && c->subject.person >= NOUS;
    if (each && c->object.person == IL) return false;
    if (chance(50)) adjectives_choose(&c->object, ANY & ~(GOOD | BEAUTIFUL));
    c->preposition = c->verb->preposition;
    second->preposition = second->verb->preposition;
    c->conjunction = &conjunctions[pair->but];
    second->negated = pair->but;
    pronoun_for(&second->subject, pair->swap ? &c->object : &c->subject);
    pronoun_for(&second->object, pair->swap ? &c->subject : &c->object);
    if (*c->verb->past && *second->verb->past && chance(40)) c->tense = second->tense = PAST;
    else if (second->verb->is & (BUY | FIND | WEAR) && pair->but && chance(45))
        second->modal = DRAW(verbs, CAN);
    return true;
}

/* my sister does not see the red car because she is tired */
static bool reason(Clause *c)
{
    Clause *second = c->second = c + 1;
    c->negated = true;
    c->verb = DRAW(verbs, SEE | READ | WRITE | EAT | DRINK | LISTEN | HELP | PLAY | WORK | GO);
    if (!subject_choose(c) || c->subject.person == VOUS || !act(c, chance(40))) return false;
    c->conjunction = &conjunctions[2];
    second->verb = DRAW(verbs, BE);
    pronoun_for(&second->subject, &c->subject);
    second->predicate = DRAW(adjectives, SAD | SICK | (indefinite(&c->subject) ? 0 : TIRED));
    return c->tense == PRESENT;
}

bool meaning_choose(Clause clause[2], int construction, uint64_t index)
{
    static bool (*const all[CONSTRUCTIONS])(Clause *) = {
        statement, statement, statement, statement,  statement,  question,
        question,  quality,   position,  antecedent, antecedent, reason};
    memset(clause, 0, 2 * sizeof *clause);
    clause[0].tense = clause[1].tense = PRESENT;
    rng = rng_stream(SEED, RNG_SAMPLE, index);
    if (index > 0) return all[construction](clause);
    clause->subject = (Phrase){.category = NAME, .person = IL, .gender = F, .noun = names};
    clause->verb = DRAW(verbs, VISIT);
    clause->object = (Phrase){.category = LAND, .land = lands};
    clause->preposition = clause->verb->preposition;
    clause->time = times;  // in september
    return true;
}
