/* grammar.c -- the table of constructions, and a derivation from its number. */
#include "data/toy/grammar.h"

#include "data/toy/meaning.h"

#include <stddef.h>
#include <string.h>

enum { SEED = 2017, SHORTEST = 3, LONGEST = 14 };  // English words

static const struct {
    const char *name;
    Construction *construct;
} constructions[] = {
    {"statement", construct_statement},
    {"travel", construct_travel},
    {"movement", construct_movement},
    {"negation", construct_negation},
    {"frequency", construct_frequency},
    {"yes or no", construct_yes_no},
    {"where", construct_where},
    {"when, why", construct_when_why},
    {"what, who, how many", construct_what_who},
    {"object pronoun", construct_object_pronoun},
    {"modal", construct_modal},
    {"quality", construct_quality},
    {"hunger", construct_hunger},
    {"existence", construct_existence},
    {"position", construct_position},
    {"identity", construct_identity},
    {"gift", construct_gift},
    {"possession", construct_possession},
    {"comparison", construct_comparison},
    {"order", construct_order},
    {"antecedent", construct_antecedent},
    {"opinion", construct_opinion},
    {"who", construct_who_relative},
    {"that", construct_that_relative},
    {"reason", construct_reason},
};

const int construction_count = (int)(sizeof(constructions) / sizeof(*constructions));

const char *construction_name(int construction)
{
    return constructions[construction].name;
}

static void say(Sentence *sentence, const Meaning *m)
{
    Link joint = 0;
    memset(sentence, 0, sizeof(*sentence));
    clause_english(sentence, m->first);
    if (m->second) {
        joint = sentence_english(sentence, m->conjunction->en);
        clause_english(sentence, m->second);
    }
    clause_french(sentence, m->first);
    if (m->second) {
        sentence_expression(sentence, m->conjunction, joint);
        clause_french(sentence, m->second);
    }
    sentence_finish(sentence, m->question);
}

bool grammar_sentence(Sentence *sentence, int construction, uint64_t index)
{
    Derivation d = {.phrases = 0};
    Meaning meaning = {0};
    d.rng = rng_stream(SEED, RNG_SAMPLE,
                       index * (uint64_t)construction_count + (uint64_t)construction);
    if (!constructions[construction].construct(&d, &meaning)) return false;
    say(sentence, &meaning);
    return sentence->en.count >= SHORTEST && sentence->en.count <= LONGEST;
}

void grammar_jane(Sentence *sentence)
{
    static const Expression september = {"in september", "en septembre", "0011", 0};
    Derivation d = {.phrases = 0};
    Phrase *jane = phrase_new(&d, NAME), *africa = phrase_new(&d, LAND);
    jane->name[0] = &names[0];
    jane->gender = FEMININE;
    africa->land = &lands[0];
    Clause *c = clause_new(&d, jane, TO_VISIT);
    c->object = africa;
    adjunct_expression(c, &september);
    say(sentence, &(Meaning){.first = c});
}
