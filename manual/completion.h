/* completion.h -- the option table as completion for bash, zsh and fish: what TAB offers.
 *
 *     after                                     offers
 *     nothing, or the beginning of an option    names of options; those of --no-NAME that the help
 *                                               does not show, once --no is typed
 *     an option with choices                    them, also those that its text may have
 *     an option with FILE… or OUT…              files
 *     an option with DIR                        folders
 *     an option with a number or another text   nothing: zsh says what it takes
 *     --                                        nothing
 *
 * The same behind --name=. Each shell's file serves the installed program, and where it is sourced
 * by hand, rather than found by the shell, the one that make builds, too. Nothing but the shell
 * itself is needed (bash 4, zsh 5.1, fish 3.1 or later). */
#ifndef MANUAL_COMPLETION_H
#define MANUAL_COMPLETION_H

#include "base/options.h"

#include <stdio.h>

typedef enum { SHELL_BASH, SHELL_ZSH, SHELL_FISH } Shell;

/* Names of programs and options, and choices, are of ASCII letters, digits, '-', '_' and '.'. */
typedef struct CompletedProgram {
    const char *name;           // "qkv-train", as it is installed
    const char *built;          // "train", as make builds it: for ./train
    const char *arguments;      // what stands behind the options, "TEXT"; NULL: nothing
    const OptionGroup *groups;  // [count]
    int count;
} CompletedProgram;

/* False: memory is short. */
bool completion_write(FILE *out, Shell shell, const CompletedProgram *program);

#endif
