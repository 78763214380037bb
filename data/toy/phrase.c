#include "data/toy/phrase.h"

#include "data/toy/clause.h"

#include <string.h>

static const char *const numbers[] = {"two", "three", "four", "five", "six"};
static const char *const nombres[] = {"deux", "trois", "quatre", "cinq", "six"};

static const char *pronoun_english(const Phrase *p, Role role)
{
    static const char *const subject[PERSONS] = {"i", "you", "he", "we", "they"};
    static const char *const object[PERSONS] = {"me", "you", "him", "us", "them"};
    if (p->person == IL && p->thing) return "it";
    if (p->person == IL && p->gender == FEMININE) return role == SUBJECT ? "she" : "her";
    return role == SUBJECT ? subject[p->person] : object[p->person];
}

static const char *pronoun_french(const Phrase *p)
{
    static const char *const masculine[PERSONS] = {"je", "vous", "il", "nous", "ils"};
    static const char *const feminine[PERSONS] = {"je", "vous", "elle", "nous", "elles"};
    return p->gender == FEMININE ? feminine[p->person] : masculine[p->person];
}

const char *pronoun_object(const Phrase *p)
{
    static const char *const object[PERSONS] = {"me", "vous", "le", "nous", "les"};
    return p->person == IL && p->gender == FEMININE ? "la" : object[p->person];
}

const char *pronoun_recipient(const Phrase *p)
{
    static const char *const recipient[PERSONS] = {"me", "vous", "lui", "nous", "leur"};
    return recipient[p->person];
}

static const char *possessive_english(const Phrase *p)
{
    static const char *const words[PERSONS] = {"my", "your", "his", "our", "their"};
    return p->owner == IL && p->owner_gender == FEMININE ? "her" : words[p->owner];
}

/* mon père, ma mère, but mon école; mes parents; notre, nos. */
static const char *possessive_french(const Phrase *p, const char *next)
{
    static const char *const words[PERSONS][3] = {{"mon", "ma", "mes"},
                                                  {"votre", "votre", "vos"},
                                                  {"son", "sa", "ses"},
                                                  {"notre", "notre", "nos"},
                                                  {"leur", "leur", "leurs"}};
    bool ma = p->gender == FEMININE && !starts_with_vowel(next);
    return words[p->owner][p->plural ? 2 : ma];
}

static const char *demonstrative_french(const Phrase *p, const char *next)
{
    if (p->plural) return "ces";
    if (p->gender == FEMININE) return "cette";
    return starts_with_vowel(next) ? "cet" : "ce";
}

static const char *article_french(const Phrase *p)
{
    return p->plural ? "les" : p->gender == FEMININE ? "la" : "le";
}

/* The last English word so far becomes a possessor: jane's. */
static void possessor(Sentence *s)
{
    strcat(s->en.word[s->en.count - 1].text, "'s");
}

static void noun_english(Sentence *s, Phrase *p)
{
    const Noun *noun = p->noun;
    switch (p->determiner) {
    case THE: p->en_determiner = sentence_english(s, "the"); break;
    case A:
        p->en_determiner = sentence_english(s, p->plural || !noun->en_plural ? "" : "a");
        break;
    case THIS: p->en_determiner = sentence_english(s, p->plural ? "these" : "this"); break;
    case MY: p->en_determiner = sentence_english(s, possessive_english(p)); break;
    case OWNED:
        phrase_english(s, p->of, SUBJECT);
        possessor(s);
        p->en_determiner = 0;
        break;
    case NUMBER: p->en_determiner = sentence_english(s, numbers[p->number - 2]); break;
    case MANY: p->en_determiner = sentence_english(s, "many"); break;
    case GENERAL: p->en_determiner = 0; break;
    case NO: p->en_determiner = sentence_english(s, "no"); break;
    }
    if (p->before != NONE) p->en_before = sentence_english(s, adjectives[p->before].en);
    if (p->after != NONE) p->en_after = sentence_english(s, adjectives[p->after].en);
    p->en_noun = sentence_english(s, p->plural ? noun->en_plural : noun->en);
    if (p->relative) clause_english(s, p->relative);
}

void phrase_english(Sentence *s, Phrase *p, Role role)
{
    switch (p->kind) {
    case PRONOUN: p->en_noun = sentence_english(s, pronoun_english(p, role)); break;
    case NAME: p->en_noun = sentence_english(s, p->name[0]->text); break;
    case NAMES:
        p->en_before = sentence_english(s, p->name[0]->text);
        p->en_noun = sentence_english(s, "and");
        p->en_after = sentence_english(s, p->name[1]->text);
        break;
    case NOUN: noun_english(s, p); break;
    case LAND: p->en_noun = sentence_english(s, p->land->en); break;
    case WHO: p->en_noun = sentence_english(s, "who"); break;
    case THIS_HERE: p->en_noun = sentence_english(s, p->plural ? "these" : "this"); break;
    case THERE: p->en_noun = sentence_english(s, "there"); break;
    }
}

Link land_article(const Phrase *p)
{
    bool article = p->kind == LAND && strncmp(p->land->en, "the ", 4) == 0;
    return article ? p->en_noun & ~(p->en_noun - 1) : 0;  // its lowest bit
}

/* The article of a country: "the" of "the united states" is les (or in aux, des, when
 * it is bare), and africa is all of l'afrique. */
static void land_french(Sentence *s, const Phrase *p)
{
    Link article = land_article(p), name = p->en_noun & ~article;
    if (!p->bare) sentence_french(s, p->land->article, article ? article : name);
    sentence_french(s, p->land->fr, name);
}

/* un, une, des; du, de la for a mass; de under negation and before an adjective in the plural. */
static void indefinite_french(Sentence *s, const Phrase *p, bool negated, Link link)
{
    if (negated || (p->plural && p->before != NONE)) {
        sentence_french(s, "de", link);
    } else if (p->plural) {
        sentence_french(s, "des", link);
    } else if (p->noun->en_plural) {
        sentence_french(s, p->gender == FEMININE ? "une" : "un", link);
    } else {
        sentence_french(s, "de", link);
        sentence_french(s, article_french(p), link);
    }
}

static void noun_french(Sentence *s, const Phrase *p, bool negated)
{
    const char *noun = p->plural ? p->noun->fr_plural : p->noun->fr;
    const char *before = "", *after = "";
    if (p->before != NONE) {
        const Adjective *a = &adjectives[p->before];
        bool vowel = p->gender == MASCULINE && !p->plural && starts_with_vowel(noun);
        before = vowel && a->vowel ? a->vowel : a->fr[p->gender][p->plural];
    }
    if (p->after != NONE) after = adjectives[p->after].fr[p->gender][p->plural];
    const char *next = *before ? before : noun;

    // An article that English leaves out belongs to the noun.
    Link link = p->en_determiner ? p->en_determiner : p->en_noun;
    switch (p->determiner) {
    case THE:
    case GENERAL:
    case OWNED: sentence_french(s, article_french(p), link); break;
    case A: indefinite_french(s, p, negated, link); break;
    case THIS: sentence_french(s, demonstrative_french(p, next), link); break;
    case MY: sentence_french(s, possessive_french(p, next), link); break;
    case NUMBER: sentence_french(s, nombres[p->number - 2], link); break;
    case MANY: sentence_french(s, "beaucoup de", link); break;
    case NO: sentence_french(s, "de", link); break;
    }
    sentence_french(s, before, p->en_before);
    sentence_french(s, noun, p->en_noun);
    sentence_french(s, after, p->en_after);
    if (p->determiner == OWNED) {
        sentence_french(s, "de", p->of->kind == NAMES ? p->of->en_after : p->of->en_noun);
        phrase_french(s, p->of, false);
    }
    if (p->relative) clause_french(s, p->relative);
}

void phrase_french(Sentence *s, const Phrase *p, bool negated)
{
    switch (p->kind) {
    case PRONOUN: sentence_french(s, pronoun_french(p), p->en_noun); break;
    case NAME: sentence_french(s, p->name[0]->text, p->en_noun); break;
    case NAMES:
        sentence_french(s, p->name[0]->text, p->en_before);
        sentence_french(s, "et", p->en_noun);
        sentence_french(s, p->name[1]->text, p->en_after);
        break;
    case NOUN: noun_french(s, p, negated); break;
    case LAND: land_french(s, p); break;
    case WHO: sentence_french(s, "qui", p->en_noun); break;
    case THIS_HERE: sentence_french(s, "ce", p->en_noun); break;
    case THERE: sentence_french(s, "il", p->en_noun); break;
    }
}
