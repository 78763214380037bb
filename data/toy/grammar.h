/* grammar.h -- the constructions of the toy corpus: what kinds of sentences there are. */
#ifndef DATA_TOY_GRAMMAR_H
#define DATA_TOY_GRAMMAR_H

#include "data/toy/sentence.h"

extern const int construction_count;
const char *construction_name(int construction);

/* Derivation number `index` of a construction: a function of its arguments alone. False if these
 * choices lead to no sentence; another index then does. */
bool grammar_sentence(Sentence *sentence, int construction, uint64_t index);

/* "jane visits africa in september" -> "jane visite l'afrique en septembre". */
void grammar_jane(Sentence *sentence);

#endif
