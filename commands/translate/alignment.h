/* alignment.h -- aligns given translations and compares the links with gold ones: ./translate
 * --align with pairs.
 *
 * Without gold links it prints one line of links for each pair. With them it prints a table:
 * the alignment error rate of each layer and head, of the mean of a layer's heads and of their
 * norms, both at the decoder step that writes a word and at the next one, which reads it. */
#ifndef COMMANDS_TRANSLATE_ALIGNMENT_H
#define COMMANDS_TRANSLATE_ALIGNMENT_H

#include "commands/translate/input.h"
#include "commands/translate/view.h"

/* If *pairs->stop is set, it ends after the current pair and succeeds. A pair with a side
 * longer than the model takes gives an empty line and is not compared. */
bool alignment_run(const Pairs *pairs, View *view, Error *error);

#endif
