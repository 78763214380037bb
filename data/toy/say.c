/* say.c -- says a meaning in English and in French. */
#include "data/toy/grammar.h"

#include <assert.h>
#include <string.h>

/* Adds the words of a text. They translate `link`, or what digits after them choose of it. */
static void say(Words *words, const char *text, Link link)
{
    for (size_t length; *text; text += length + (text[length] == '_')) {
        length = strcspn(text, "_");
        assert(words->count < MAX_WORDS && length < WORD_BYTES);
        char *word = words->text[words->count];
        Link *own = &words->link[words->count++];
        memcpy(word, text, length);
        word[length] = '\0';
        size_t letters = strcspn(word, "0123456789");
        *own = word[letters] ? 0 : link;
        for (char *digit = word + letters; *digit; *digit++ = '\0')
            *own |= (link & -link) << (*digit - '0');
    }
}

/* The forms of a pronoun: subject and object, English and French. */
static const char *pronoun(const Phrase *p, int form)
{
    static const char *const forms[][2][4] = {
        {{"i", "me", "je", "me"}, {0}},
        {{"you", "you", "vous", "vous"}, {0}},
        {{"he", "him", "il", "le"}, {"she", "her", "elle", "la"}},
        {{"we", "us", "nous", "nous"}, {0}},
        {{"they", "them", "ils", "les"}, {"they", "them", "elles", "les"}}};
    return forms[p->person][p->gender][form];
}

/* Adds the words of a text and notes their places. */
static void tell(Words *en, const char *text, Link *places)
{
    int first = en->count;
    say(en, text, 0);
    *places |= (1u << en->count) - (1u << first);
}

static void english_phrase(Words *en, Phrase *p, bool object)
{
    bool many = p->person == ILS;
    const char *noun = p->category == LAND ? p->land->en
                       : p->noun           ? (many ? p->noun->many : p->noun->one)
                       : p->thing && !many ? "it"
                                           : pronoun(p, object);
    if (p->determiner) tell(en, p->determiner->en[many], &p->determiner_at);
    if (p->before) tell(en, p->before->en, &p->before_at);
    if (p->after) tell(en, p->after->en, &p->after_at);
    if (p->category) tell(en, noun, &p->noun_at);
}

/* What a question puts before its subject, and what "not" follows: is, can, does; or "". */
static const char *auxiliary(const Clause *c, bool asked)
{
    static const char *const be[] = {"am", "are", "is", "are", "are"};
    if (c->verb->is == BE) return be[c->subject.person];
    if (c->modal && c->modal->is == CAN && c->negated) return "cannot";
    if (c->modal) return c->modal->en;
    if (c->tense == FUTURE) return "will";
    if (!c->negated && !asked) return "";
    return c->tense == PAST ? "did" : c->subject.person == IL ? "does" : "do";
}

static void english(Words *en, Clause *c)
{
    static const char *const asking[] = {"", "", "where", "when", "why", "what"};
    bool asked = c->question, third = c->subject.person == IL;
    const char *aux = auxiliary(c, asked);
    tell(en, asking[c->question], &c->asked_at);
    if (asked) tell(en, aux, &c->aux_at);
    if (c->there) tell(en, "there", &c->there_at);
    else english_phrase(en, &c->subject, false);
    if (!asked) tell(en, aux, &c->aux_at);
    if (strcmp(aux, "cannot") == 0) c->not_at = c->aux_at;
    else if (c->negated && !c->there) tell(en, "not", &c->not_at);
    if (c->there) english_phrase(en, &c->subject, false);
    if (c->there && c->negated) c->not_at = c->subject.determiner_at;
    if (c->adverb) tell(en, c->adverb->en, &c->adverb_at);
    const char *form = c->tense == PAST ? c->verb->past : third ? c->verb->third : c->verb->en;
    if (c->verb->is != BE) tell(en, *aux ? c->verb->en : form, &c->verb_at);
    if (c->predicate) tell(en, c->predicate->en, &c->predicate_at);
    bool place = c->preposition && *c->preposition[1];
    if (c->preposition && (c->object.category || !place))
        tell(en, c->preposition[0], place ? &c->preposition_at : &c->verb_at);
    english_phrase(en, &c->object, true);
    if (c->time) tell(en, c->time->en, &c->time_at);
    if (!c->second) return;
    tell(en, c->conjunction->en, &c->conjunction_at);
    english(en, c->second);
}

/* A word that agrees with a phrase: "petites". */
static void agree(Words *fr, const char *word, const Phrase *with, Link link)
{
    static const char *const plurals[][2] = {
        {"s", "s"},         {"x", "x"},       {"eau", "eaux"},        {"al", "aux"},
        {"vieil", "vieux"}, {"bel", "beaux"}, {"nouvel", "nouveaux"}, {"", "s"}};
    char text[WORD_BYTES];
    size_t at, p = 0;
    strcpy(text, word);
    while (strlen(plurals[p][0]) > strlen(word) ||
           strcmp(word + (at = strlen(word) - strlen(plurals[p][0])), plurals[p][0]) != 0)
        p++;
    if (with->person >= NOUS) strcpy(text + at, plurals[p][1]);
    say(fr, text, link);
}

static void french_phrase(Words *fr, const Phrase *p, bool denied)
{
    int form = p->person == ILS ? 2 : (int)p->gender;
    if (p->category == LAND) say(fr, p->land->fr, p->noun_at);
    if (p->category == NAME) say(fr, p->noun->fr, p->noun_at);
    if (p->category == PRONOUN) say(fr, pronoun(p, 2), p->noun_at);
    if (p->category != COMMON) return;
    bool de = p->determiner->is & (A | SOME) && (denied || (p->before && form == 2));
    say(fr, de ? "de" : p->determiner->fr[form],
        p->determiner_at ? p->determiner_at : p->noun_at);
    if (p->before) agree(fr, p->before->fr[p->gender], p, p->before_at);
    agree(fr, p->noun->fr, p, p->noun_at);
    if (p->after) agree(fr, p->after->fr[p->gender], p, p->after_at);
}

/* The verb with what stands around it: "ne les a jamais vus". */
static void french_verb(Words *fr, const Clause *c)
{
    static const char *const endings[] = {"ai", "ez", "a", "ons", "ont"};
    char text[WORD_BYTES];
    const Verb *v = c->verb;
    const Phrase *object = &c->object;
    Person person = c->subject.person;
    bool etre = v->use & ETRE, never = c->adverb && c->adverb->is == NEVER;
    bool clitic = object->category == PRONOUN, does = c->aux_at && !c->question && v->is != BE;
    Link aux = c->aux_at ? c->aux_at : c->verb_at;
    if (c->tense != PRESENT || (c->modal)) does = false;
    if (c->negated || never)
        say(fr, "ne", c->not_at | (never ? c->adverb_at : 0) | (does ? aux : 0));
    if (c->there) say(fr, "y", c->there_at);
    if (clitic && !c->modal) say(fr, pronoun(object, 3), object->noun_at);
    if (c->modal) say(fr, c->modal->present[person], aux);
    else if (c->tense == PAST) say(fr, verbs[etre ? 0 : 1].present[person], aux);
    else if (c->tense == FUTURE)
        say(fr, strcat(strcpy(text, v->future), endings[person]), c->aux_at | c->verb_at);
    else say(fr, c->there ? "a" : v->present[person], v->is == BE ? aux : c->verb_at);
    if (c->negated) say(fr, "pas", c->not_at);
    if (c->adverb) say(fr, c->adverb->fr, c->adverb_at);
    if (clitic && c->modal) say(fr, pronoun(object, 3), object->noun_at);
    if (c->modal) say(fr, v->infinitive, c->verb_at);
    if (c->tense != PAST) return;
    const Phrase *with = etre ? &c->subject : clitic ? object : &(Phrase){.person = IL};
    strcat(strcpy(text, v->participle), with->gender == F ? "e" : "");
    agree(fr, text, with, c->verb_at);
}

static void french(Words *fr, const Clause *c)
{
    static const char *const asking[] = {"", "", "où", "quand", "pourquoi", "qu'est-ce"};
    bool never = c->adverb && c->adverb->is == NEVER, denied = c->negated || never;
    say(fr, asking[c->question], c->asked_at);
    if (c->question) say(fr, c->question == WHAT ? "que" : "est-ce_que", c->aux_at);
    if (c->there) say(fr, "il", c->there_at);
    else french_phrase(fr, &c->subject, false);
    french_verb(fr, c);
    if (c->there) french_phrase(fr, &c->subject, denied);
    if (c->predicate)
        agree(fr, c->predicate->fr[c->subject.gender], &c->subject, c->predicate_at);
    bool place = c->object.category && *c->preposition[1], land = c->object.category == LAND;
    if (place && land) say(fr, c->object.land->in, c->preposition_at | c->object.noun_at);
    if (place && !land) say(fr, c->preposition[1], c->preposition_at);
    if (!(place && land) && c->object.category != PRONOUN)
        french_phrase(fr, &c->object, denied && !place);
    if (c->time) say(fr, c->time->fr, c->time_at);
    if (!c->second) return;
    say(fr, c->conjunction->fr, c->conjunction_at);
    french(fr, c->second);
}

/* Elision, contraction and forms before vowels (V) or other letters (C), from the right. */
static void sandhi(Words *fr)
{
    static const char *const rules[][3] = {
        {"le", "V", "l'"},          {"la", "V", "l'"},       {"je", "V", "j'"},
        {"me", "V", "m'"},          {"ne", "V", "n'"},       {"de", "V", "d'"},
        {"que", "V", "qu'"},        {"ma", "V", "mon"},      {"sa", "V", "son"},
        {"cet", "C", "ce"},         {"vieil", "C", "vieux"}, {"bel", "C", "beau"},
        {"nouvel", "C", "nouveau"}, {"de", "le", "du"},      {"de", "les", "des"},
        {"à", "le", "au"},          {"à", "les", "aux"}};
    enum { RULES = sizeof rules / sizeof *rules };
    for (int w = fr->count - 1, r; w >= 0; w--) {
        char *word = fr->text[w], *next = w + 1 < fr->count ? fr->text[w + 1] : "";
        const char *letter = *next && strchr("aeiouyh\xc3\xc5", *next) ? "V" : "C";
        for (r = 0; r < RULES; r++)
            if (!strcmp(rules[r][0], word) &&
                (!strcmp(rules[r][1], letter) || !strcmp(rules[r][1], next)))
                break;
        if (r == RULES) continue;
        strcpy(word, rules[r][2]);
        if (strchr(word, '\'')) strcat(word, next);
        else if (strlen(rules[r][1]) == 1) continue;
        fr->link[w] |= fr->link[w + 1];  // the two have become one
        fr->count--;
        for (int v = w + 1; v < fr->count; v++) {
            strcpy(fr->text[v], fr->text[v + 1]);
            fr->link[v] = fr->link[v + 1];
        }
    }
}

void sentence_say(Words *en, Words *fr, Clause *c)
{
    en->count = fr->count = 0;
    english(en, c);
    french(fr, c);
    sandhi(fr);
    for (int w = 0; w + 1 < en->count; w++)
        if (strcmp(en->text[w], "a") == 0 && strchr("aeiou", en->text[w + 1][0]))
            strcpy(en->text[w], "an");
    if (!c->question) return;
    strcat(en->text[en->count - 1], "?");
    say(fr, "?", 1u << (en->count - 1));
}
