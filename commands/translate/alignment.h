/* alignment.h -- given translations aligned, and compared with right alignments:
 * ./translate --align, of pairs.
 *
 * Without right alignments, one line of links a pair. With them, a table: the alignment error rate
 * of each layer and head, of the mean of a layer's heads and of their norms, at the step that writes
 * a word and at the one that has read it. */
#ifndef COMMANDS_TRANSLATE_ALIGNMENT_H
#define COMMANDS_TRANSLATE_ALIGNMENT_H

#include <signal.h>

#include "commands/translate/aligner.h"
#include "commands/translate/pairs.h"
#include "explain/tsv.h"

typedef struct Alignment {
    /* the caller sets */
    Aligner *aligner;
    Pairs pairs;
    TextReader *gold;       // right alignments, line by line; or NULL
    AttentionTable *table;  // or NULL
    FILE *out;
    /* results, if there is gold */
    AlignBy best, best_head;  // of all; of single heads
    double best_aer, best_head_aer;
} Alignment;

/* *stop ends it after what was begun, as if that were all: true then. A pair with a side longer
 * than the model takes is an empty line, and is not compared. */
bool alignment_run(Alignment *alignment, const Choice *choice,
                   const volatile sig_atomic_t *stop, Error *error);

#endif
