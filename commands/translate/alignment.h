/* alignment.h -- --align and --head-report of given translations.
 *
 * --align prints one line of links for each pair, or with gold links a table: the alignment error
 * rate of each layer and head, of the mean of a layer's heads and of their norms.
 *
 * On a signal (file_stop) it ends after the current pair and succeeds. A pair with a side longer
 * than the model takes gives an empty line and is not compared. */
#pragma once

#include "commands/translate/input.h"
#include "commands/translate/view.h"

bool alignment_run(Input *input, View *view, Error *error);
