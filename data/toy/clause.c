#include "data/toy/clause.h"

#include <stdio.h>
#include <string.h>

// ---- English ------------------------------------------------------------------------------

static const char *be_english(const Phrase *subject, const Phrase *object)
{
    const Phrase *p = subject->kind == THERE ? object : subject;
    if (p->person == JE) return "am";
    return p->person == IL ? "is" : "are";
}

/* The auxiliary that English needs, or "": will; do, does, did; am, is, are; can, must. */
static const char *auxiliary_english(const Clause *c)
{
    bool third = c->subject && c->subject->person == IL;
    if (c->modal == CAN) return c->polarity == NEGATED ? "cannot" : "can";
    if (c->modal == MUST) return "must";
    if (c->tense == FUTURE) return "will";
    if (c->verb == TO_BE) return be_english(c->subject, c->object);
    bool inverted = c->question != STATEMENT && c->subject->kind != WHO;
    if (c->polarity != NEGATED && !inverted) return "";
    return c->tense == PAST ? "did" : third ? "does" : "do";
}

static const char *form_english(const Verb *verb, const Clause *c, bool base)
{
    if (base || !c->subject) return verb->en;
    if (c->tense == PAST) return verb->en_past;
    return c->subject->person == IL ? verb->en_s : verb->en;
}

/* The verb and what is said right after it, up to its particle. */
static void verb_english(Sentence *s, Clause *c, bool base)
{
    if (c->modal == TO_WANT) {
        c->en_modal = sentence_english(s, form_english(&verbs[TO_WANT], c, base));
        c->en_verb = sentence_english(s, "to");
        base = true;
    }
    if (c->verb == TO_BE && !c->en_auxiliary) c->en_verb |= sentence_english(s, "be");
    if (c->verb != TO_BE)
        c->en_verb |= sentence_english(s, form_english(&verbs[c->verb], c, base));
}

static void complements_english(Sentence *s, Clause *c)
{
    if (c->recipient) phrase_english(s, c->recipient, OBJECT);
    c->en_verb |= sentence_english(s, verbs[c->verb].particle);
    if (c->need) c->en_predicate = sentence_english(s, c->need->en);
    if (c->predicate != NONE) {
        if (c->than) c->en_that = sentence_english(s, "more");
        c->en_predicate = sentence_english(s, adjectives[c->predicate].en);
    }
    if (c->object && !c->relative_object && c->question != HOW_MANY)
        phrase_english(s, c->object, OBJECT);
    for (int a = 0; a < c->adjuncts; a++) {
        Adjunct *adjunct = &c->adjunct[a];
        adjunct->link =
            sentence_english(s, adjunct->phrase ? adjunct->en : adjunct->expression->en);
        if (adjunct->phrase) phrase_english(s, adjunct->phrase, OBJECT);
    }
    if (c->that) {
        c->en_that = sentence_english(s, "that");
        clause_english(s, c->that);
    }
}

static void question_english(Sentence *s, Clause *c)
{
    static const char *const words[] = {"",    "",     "where",    "when",
                                        "why", "what", "how many", "where"};
    c->en_question = sentence_english(s, words[c->question]);
    if (c->question == HOW_MANY)
        c->object->en_noun = sentence_english(s, c->object->noun->en_plural);
}

void clause_english(Sentence *s, Clause *c)
{
    if (c->relative_object) c->en_that = sentence_english(s, "that");
    question_english(s, c);

    const char *auxiliary = auxiliary_english(c);
    bool inverted = c->question != STATEMENT && c->subject && c->subject->kind != WHO;
    if (inverted) c->en_auxiliary = sentence_english(s, auxiliary);
    if (c->subject) phrase_english(s, c->subject, SUBJECT);
    if (!inverted) c->en_auxiliary = sentence_english(s, auxiliary);

    bool cannot = c->modal == CAN && c->polarity == NEGATED;
    if (cannot) c->en_not = c->en_auxiliary;
    if (c->polarity == NEGATED && !cannot && !(c->object && c->object->determiner == NO))
        c->en_not = sentence_english(s, "not");
    if (c->polarity == NEVER) c->en_not = sentence_english(s, "never");
    if (c->frequency) c->en_frequency = sentence_english(s, c->frequency->en);

    verb_english(s, c, *auxiliary != '\0');
    complements_english(s, c);
}

// ---- French -------------------------------------------------------------------------------

static const char *present_french(VerbId verb, const Clause *c)
{
    return verbs[verb].present[c->subject ? c->subject->person : VOUS];
}

static void future_french(char out[WORD_BYTES], VerbId verb, Person person)
{
    static const char *const endings[PERSONS] = {"ai", "ez", "a", "ons", "ont"};
    snprintf(out, WORD_BYTES, "%s%s", verbs[verb].future, endings[person]);
}

/* The participle agrees with the subject after être, after avoir with an object before it. */
static void participle_french(char out[WORD_BYTES], const Clause *c)
{
    const Phrase *with = NULL;
    bool object_first = c->relative_object || (c->object && c->object->kind == PRONOUN);
    if (verbs[c->verb].etre) with = c->subject;
    else if (object_first) with = c->object;
    snprintf(out, WORD_BYTES, "%s%s%s", verbs[c->verb].participle,
             with && with->gender == FEMININE ? "e" : "", with && with->plural ? "s" : "");
}

static void pronouns_french(Sentence *s, const Clause *c)
{
    if (c->subject && c->subject->kind == THERE) sentence_french(s, "y", c->subject->en_noun);
    if (c->recipient)
        sentence_french(s, pronoun_recipient(c->recipient), c->recipient->en_noun);
    if (c->object && c->object->kind == PRONOUN && !c->relative_object)
        sentence_french(s, pronoun_object(c->object), c->object->en_noun);
}

static void question_french(Sentence *s, const Clause *c)
{
    static const char *const words[] = {"",         "", "où",         "quand",
                                        "pourquoi", "", "combien de", "où"};
    sentence_french(s, words[c->question], c->en_question);
    if (c->question == HOW_MANY)
        sentence_french(s, c->object->noun->fr_plural, c->object->en_noun);
    if (c->question == WHAT) {
        sentence_french(s, "qu'est-ce", c->en_question);
        sentence_french(s, "que", c->en_auxiliary);
    } else if (c->question != STATEMENT && c->question != WHERE_IS && c->subject->kind != WHO) {
        sentence_french(s, "est-ce que", c->en_auxiliary);
    }
}

/* English "do" carries no meaning of its own: it goes with the negation, unless it asks. */
static bool has_do(const Clause *c)
{
    return c->en_auxiliary && c->modal != CAN && c->modal != MUST && c->tense == PRESENT &&
           c->verb != TO_BE;
}

/* ne, pronouns, verb, pas: with their links. */
static void verb_french(Sentence *s, const Clause *c)
{
    bool negated = c->polarity != AFFIRMED, asks = c->question != STATEMENT;
    VerbId verb = c->need || (c->subject && c->subject->kind == THERE) ? TO_HAVE : c->verb;
    bool no = c->object && c->object->determiner == NO;
    Link no_link = no ? c->object->en_determiner : c->en_not;
    Link finite = c->en_verb;
    char word[WORD_BYTES];

    if (negated) sentence_french(s, "ne", no_link | (has_do(c) && !asks ? c->en_auxiliary : 0));
    if (c->modal == NONE) pronouns_french(s, c);

    if (c->modal != NONE) {
        Link modal = c->modal == TO_WANT ? c->en_modal : c->en_auxiliary;
        sentence_french(s, present_french((VerbId)c->modal, c), modal);
    } else if (c->tense == FUTURE) {
        future_french(word, verb, c->subject->person);
        sentence_french(s, word, finite | c->en_auxiliary);
    } else if (c->tense == PAST) {
        VerbId auxiliary = verbs[verb].etre ? TO_BE : TO_HAVE;
        sentence_french(s, present_french(auxiliary, c),
                        c->en_auxiliary ? c->en_auxiliary : finite);
    } else {
        sentence_french(s, present_french(verb, c),
                        verb == TO_BE || c->verb == TO_BE ? c->en_auxiliary : finite);
    }

    if (negated) sentence_french(s, c->polarity == NEVER ? "jamais" : "pas", no_link);
    if (c->frequency) sentence_expression(s, c->frequency, c->en_frequency);
    if (c->tense == PAST) {
        participle_french(word, c);
        sentence_french(s, word, finite);
    }
    if (c->modal != NONE) {
        pronouns_french(s, c);
        sentence_french(s, verbs[verb].infinitive, finite);
    }
}

static void complements_french(Sentence *s, const Clause *c)
{
    if (c->need) sentence_expression(s, c->need, c->en_predicate);
    if (c->predicate != NONE) {
        if (c->than) sentence_french(s, "plus", c->en_that);
        const Phrase *p = c->subject;
        sentence_french(s, adjectives[c->predicate].fr[p->gender][p->plural], c->en_predicate);
    }
    if (c->object && c->object->kind != PRONOUN && !c->relative_object &&
        c->question != HOW_MANY)
        phrase_french(s, c->object,
                      c->polarity != AFFIRMED &&
                          (c->verb != TO_BE || c->subject->kind == THERE));
    for (int a = 0; a < c->adjuncts; a++) {
        const Adjunct *adjunct = &c->adjunct[a];
        if (adjunct->phrase) {
            // "to the united states": aux is both "to" and "the".
            Link article = adjunct->phrase->bare ? land_article(adjunct->phrase) : 0;
            sentence_french(s, adjunct->fr, adjunct->link | article);
            phrase_french(s, adjunct->phrase, false);
        } else {
            sentence_expression(s, adjunct->expression, adjunct->link);
        }
    }
    if (c->that) {
        sentence_french(s, "que", c->en_that);
        clause_french(s, c->that);
    }
}

void clause_french(Sentence *s, const Clause *c)
{
    if (c->relative_object) sentence_french(s, "que", c->en_that);
    question_french(s, c);
    if (c->question == WHERE_IS) {
        verb_french(s, c);
        phrase_french(s, c->subject, false);
        return;
    }
    if (c->subject) phrase_french(s, c->subject, false);
    verb_french(s, c);
    complements_french(s, c);
}
