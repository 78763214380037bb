/* aligner.h -- links of words without a model: ./translate --align --no-model.
 *
 * Both directions are estimated on the pairs of the input themselves (training/guide.h), and then
 * joined. The more pairs there are, the better: some thousands at least. */
#pragma once

#include "commands/translate/input.h"

/* Reads all pairs, then prints a line of links for each; with gold links only the alignment error
 * rate of those that have some. */
bool aligner_run(Input *input, const Request *request, Error *error);
