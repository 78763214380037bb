/* textcheck.h -- what ./train says of a corpus that is not what it should be. */
#pragma once

#include "commands/train/settings.h"
#include "data/corpuscheck.h"

/* Whether a training text of so many pairs is one to train on: fails if its sides are the same, or
 * have slipped, or if its first column is a number. */
bool textcheck(const CorpusCheck *check, size_t pairs, const Settings *settings, Error *error);

/* Says what else is strange in it. swapped: the validation text does not look like it. */
void textcheck_report(const CorpusCheck *check, size_t pairs, bool swapped,
                      const Settings *settings);
