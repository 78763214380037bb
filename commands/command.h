/* command.h -- the names of the two programs: ./train and ./translate where make builds them,
 * qkv-train and qkv-translate once installed. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "base/options.h"

/* The name that this program was called by, without its folder, for errors and usage. */
const char *command_name(void);

/* "./" or "qkv-": what a user types before train or translate to run them. */
const char *command_prefix(void);

/* What users of other programs type for the options of both (synonyms.c). */
extern const Synonym option_synonyms[];

/* path (=) a file of data/toy: in the working folder, else in the program's folder, else in
 * ../share/qkv/toy of an installed program. False if none of them can be read. */
bool command_toy_file(char *path, size_t size, const char *name);

#endif
