/* alignment.h -- --align, the links of given translations, compared with gold ones.
 *
 * Without gold links it prints one line of links for each pair. With them it prints a table:
 * the alignment error rate of each layer and head, of the mean of a layer's heads and of their
 * norms.
 *
 * If *pairs->stop is set, it ends after the current pair and succeeds. A pair with a side
 * longer than the model takes gives an empty line and is not compared. */
#pragma once

#include "commands/translate/input.h"
#include "commands/translate/view.h"

bool alignment_run(const Pairs *pairs, View *view, Error *error);
