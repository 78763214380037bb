/* ter.h -- translation edit rate of a corpus against one or more references a sentence.
 *
 *     Ter ter = {0};
 *     for each sentence: ter_add(&ter, hypothesis, reference, references, &error)
 *     ter_score(&ter)
 *
 * A Ter of one sentence is its part of the corpus: ter_join adds them up. */
#pragma once

#include "base/error.h"

#include <stddef.h>

typedef struct Ter {
    int references;           // a sentence: see references_join
    long long edits;          // of each sentence, to the reference that needs the fewest
    double reference_length;  // words; of each sentence the mean of its references
} Ter;

/* Counts one sentence, as bleu_add does. Case is ignored. */
bool ter_add(Ter *ter, const char *hypothesis, const char *const *reference, int references,
             Error *error);
void ter_join(Ter *ter, const Ter *part);

/* Edits per 100 words of the references: 0 is best, and there is no upper limit. 100 if only the
 * references are empty. */
double ter_score(const Ter *ter);

/* "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:qkv-1.0 = 51.80" */
void ter_format(const Ter *ter, char *text, size_t size);
