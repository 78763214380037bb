/* textcheck.h -- what ./train says of a corpus that is not what it should be. */
#pragma once

#include "commands/train/run.h"

/* Whether the training text is one to train on: fails if its sides are the same, or have slipped,
 * or if its first column is a number. */
bool textcheck(Run *run, Error *error);

/* Says what else is strange in it, and in the validation text. */
void textcheck_report(const Run *run);
