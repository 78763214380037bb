/* synonyms.h -- what users of other programs type, and the option of ours that they mean. */
#ifndef COMMANDS_SYNONYMS_H
#define COMMANDS_SYNONYMS_H

#include "base/options.h"

/* For both programs: a row counts in the one that has its option. */
extern const Synonym option_synonyms[];

#endif
