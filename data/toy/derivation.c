/* derivation.c -- derives a sentence: rules choose what it means, and rules say it twice. */
#include "base/rng.h"
#include "data/toy/grammar.h"

#include <assert.h>
#include <string.h>

enum { SEED = 2017, SHORTEST = 3, LONGEST = 14, MAX_NODES = 40 };  // English words

typedef struct Derivation {
    const Grammar *grammar;
    Rng rng;
    Node node[MAX_NODES];
    int nodes;
    Sentence *sentence;
    bool french;
} Derivation;

static bool rule_run(Derivation *d, int rule, Node *self);

// ---- sets and paths -----------------------------------------------------------------------

static Set set_and(const Set *a, const Set *b)
{
    Set both;
    for (size_t i = 0; i < MAX_SYMBOLS / 64; i++) both.bits[i] = a->bits[i] & b->bits[i];
    return both;
}

static bool set_any(Set set)
{
    uint64_t any = 0;
    for (size_t i = 0; i < MAX_SYMBOLS / 64; i++) any |= set.bits[i];
    return any;
}

static void set_change(Set *set, const Set *change, bool remove)
{
    for (size_t i = 0; i < MAX_SYMBOLS / 64; i++)
        set->bits[i] = (set->bits[i] | change->bits[i]) ^ (remove ? change->bits[i] : 0);
}

/* Follows the slots of a path but the last `less`; NULL if one is empty. */
static Node *walk(const Term *path, Node *self, int less)
{
    for (int s = 0; s < path->slots - less && self; s++) self = self->slot[path->slot[s]];
    return self;
}

/* The entry of the lexicon that a term names, or the node at the end of its path. */
static Node *entry(const Derivation *d, const Term *term, Node *self)
{
    bool named = term->slots == 0 && term->symbol >= 0;
    return named ? d->grammar->symbol[term->symbol].entry : walk(term, self, 0);
}

/* The features that a term names, or those of the node at the end of its path. */
static const Set *features(const Derivation *d, const Term *term, Node *self)
{
    static const Set none;
    if (term->symbol >= 0) return &d->grammar->symbol[term->symbol].group;
    const Node *node = walk(term, self, 0);
    return node ? &node->features : &none;
}

/* The value of a feature of a node, or the feature's first value. */
static int value(const Derivation *d, int feature, const Node *node)
{
    const Set *group = &d->grammar->symbol[feature].group;
    Set own = set_and(group, &node->features);
    const Set *set = set_any(own) ? &own : group;
    for (int s = 0;; s++)
        if (set->bits[s / 64] >> s % 64 & 1) return s;
}

// ---- choosing -----------------------------------------------------------------------------

/* One of the alternatives; a single one is not drawn. */
static const Term *draw(Derivation *d, const Term *alternatives, int count)
{
    uint32_t total = 0;
    for (int t = 0; t < count; t++) total += (uint32_t)alternatives[t].weight;
    int roll = count > 1 ? (int)rng_below(&d->rng, total) : 0;
    while (roll >= alternatives->weight) roll -= alternatives++->weight;
    return alternatives;
}

/* One entry of a table, among those that suit the filter if there is one. */
static Node *draw_entry(Derivation *d, const Op *op, Node *self, Node **slot)
{
    const Symbol *table = &d->grammar->symbol[op->term[1].symbol];
    Node *suits[100];
    uint32_t count = 0;
    for (int e = 0; e < table->size; e++) {
        *slot = &table->table[e];
        if (op->terms == 2 || rule_run(d, d->grammar->symbol[op->term[2].symbol].rule, self))
            suits[count++] = *slot;
    }
    return count ? suits[rng_below(&d->rng, count)] : NULL;
}

static Node *node_new(Derivation *d, Node *up)
{
    assert(d->nodes < MAX_NODES);
    Node *node = &d->node[d->nodes++];
    *node = (Node){.features = d->grammar->symbol[DEFAULT].group};
    node->slot[SELF] = node;
    node->slot[UP] = up;
    return node;
}

static void features_change(Derivation *d, Set *set, const Op *op, int first, Node *self)
{
    for (int t = first; t < op->terms; t++)
        set_change(set, features(d, &op->term[t], self), op->term[t].mark == '~');
}

static bool call(Derivation *d, const Op *op, Node *self)
{
    bool create = op->kind == CREATE;
    Node *node = walk(op->term, self, create);
    int rules = 0;
    if (!node) return true;
    if (create) node = node->slot[op->term->slot[op->term->slots - 1]] = node_new(d, node);
    while (1 + rules < op->terms && strchr("@|", op->term[1 + rules].mark)) rules++;
    if (1 + rules < op->terms) {
        Node *wanted = node->slot[WANTED] = node_new(d, NULL);
        wanted->features = (Set){{0}};
        features_change(d, &wanted->features, op, 1 + rules, self);
    }
    const Term *rule = draw(d, op->term + 1, rules);
    return rules == 0 || rule_run(d, d->grammar->symbol[rule->symbol].rule, node);
}

/* "gender=noun" takes over a feature; "noun=nouns", "verb=go|stay", "verb=pair.first" fill a
 * slot. */
static void assign(Derivation *d, const Op *op, Node *self)
{
    const Term *target = op->term;
    Node *node = walk(target, self, target->symbol < 0);
    if (!node) return;
    if (target->symbol >= 0) {
        const Set *group = &d->grammar->symbol[target->symbol].group;
        Set with = set_and(group, &walk(&op->term[1], self, 0)->features);
        set_change(&node->features, group, true);
        set_change(&node->features, &with, false);
        return;
    }
    Node **slot = &node->slot[target->slot[target->slots - 1]];
    bool table = op->term[1].symbol >= 0 && d->grammar->symbol[op->term[1].symbol].table;
    *slot = table ? draw_entry(d, op, self, slot)
                  : entry(d, draw(d, op->term + 1, op->terms - 1), self);
}

static void features_draw(Derivation *d, const Op *op, Node *self)
{
    const Symbol *drawn = &d->grammar->symbol[draw(d, op->term, op->terms)->symbol];
    Node *node = walk(op->term, self, 0);
    if (!node) return;
    set_change(&node->features, &drawn->excluded, true);
    set_change(&node->features, &drawn->group, false);
}

// ---- saying -------------------------------------------------------------------------------

/* Appends "text", noun/plural, verb/subject.person or person{i|you|...} and moves on to the
 * next part; false if there is no such form. */
static bool part_say(const Derivation *d, char *out, const Term **part, Node *self)
{
    const Term *term = (*part)++, *next = *part;
    const char *text = term->text;
    Node *node = next->mark == '/' ? entry(d, term, self) : walk(term, self, 0);
    if (!node) return false;
    if (next->mark == '/') {
        const Node *key = walk(next, self, 0);
        text = key ? node->form[value(d, next->symbol, key)] : NULL;
    } else if (next->mark == '{') {
        int choice = value(d, term->symbol, node) - value(d, term->symbol, &(Node){0});
        for (text = next->text; choice > 0; choice--) text += strcspn(text, "|") + 1;
    }
    *part += next->mark == '/' || next->mark == '{';
    if (text) strncat(out, text, strcspn(text, "|"));
    return text != NULL;
}

static void say(Derivation *d, const Op *op, Node *self)
{
    char text[2 * WORD_BYTES] = "";
    const Term *term = op->term, *end = op->term + op->terms;
    Link link = 0;
    do
        if (!part_say(d, text, &term, self)) return;
    while (term->mark == '+');
    if (!d->french) link = sentence_english(d->sentence, text);
    for (; term < end; term++) {
        Node *node = walk(term, self, 1);
        Link *place = node ? &node->link[term->slot[term->slots - 1]] : &(Link){0};
        if (!d->french) *place |= link;
        else if (term->mark != '|' || !link) link |= *place;
    }
    if (d->french) sentence_french(d->sentence, text, link);
}

// ---- rules --------------------------------------------------------------------------------

static bool test(Derivation *d, const Op *op, Node *self)
{
    if (op->kind == CHANCE) return (int)rng_below(&d->rng, 100) < op->percent;
    Node *node = walk(op->term, self, 0);
    if (op->kind == SAME) return node && node == walk(&op->term[1], self, 0);
    if (op->kind == HAS && (!node || op->term->symbol < 0)) return node != NULL;
    Set set = op->kind == HAS ? node->features : *features(d, op->term, self);
    for (int t = 0; t < op->terms; t++) {
        Set both = set_and(&set, features(d, &op->term[t], self));
        if (op->kind == HAS && set_any(both)) return true;
        if (op->kind == SHARE) set = both;
    }
    return op->kind == SHARE && set_any(set);
}

static bool tests_pass(Derivation *d, const Step *step, Node *self)
{
    for (int o = 0; o < step->tests; o++)
        if (test(d, &step->op[o], self) == step->op[o].negated) return false;
    return true;
}

/* Returns what ends the rule: DONE, FAIL, AGAIN; 0 if it goes on. */
static int effect(Derivation *d, const Op *op, Node *self)
{
    switch (op->kind) {
    case SAY: say(d, op, self); break;
    case CREATE:
    case CALL: return call(d, op, self) ? 0 : FAIL;
    case ASSIGN: assign(d, op, self); break;
    case CHANGE: features_change(d, &walk(op->term, self, 0)->features, op, 1, self); break;
    case DRAW: features_draw(d, op, self); break;
    default: return op->kind;
    }
    return 0;
}

/* False if the sentence is rejected. */
static bool rule_run(Derivation *d, int rule, Node *self)
{
    bool taken = false;
    const Step *first = &d->grammar->step[rule];
    for (const Step *step = first; !step->last; step++) {
        if (step->otherwise && taken) continue;
        taken = tests_pass(d, step, self);
        int end = 0;
        for (int o = step->tests; o < step->ops && taken && !end; o++)
            end = effect(d, &step->op[o], self);
        if (end == DONE || end == FAIL) return end == DONE;
        if (end == AGAIN) step = first - 1;
    }
    return true;
}

bool grammar_derive(const Grammar *g, Sentence *sentence, int rule, uint64_t index)
{
    Derivation d;
    d.grammar = g, d.sentence = sentence, d.nodes = 0, d.french = false;
    d.rng = rng_stream(SEED, RNG_SAMPLE, index);
    Node *clause = node_new(&d, NULL);
    if (!rule_run(&d, rule, clause)) return false;
    sentence->en.count = sentence->fr.count = 0;
    rule_run(&d, g->symbol[ENGLISH].rule, clause);
    d.french = true;
    rule_run(&d, g->symbol[FRENCH].rule, clause);
    const Symbol *sandhi = &g->symbol[SANDHI];
    for (const Node *s = sandhi->table; s < sandhi->table + sandhi->size; s++)
        sentence_sandhi(&sentence->fr, s->form[WORD], s->form[NEXT], s->form[RESULT]);
    Set question = set_and(&clause->features, &g->symbol[QUESTION].group);
    sentence_finish(sentence, set_any(question));
    return sentence->en.count >= SHORTEST && sentence->en.count <= LONGEST;
}
