/* completion.h -- the option table as TAB completion for bash, zsh and fish.
 *
 *     after                                     offers
 *     nothing, or the beginning of an option    names of options; after --no also the --no-NAMEs that
 *                                               the help does not show
 *     an option with choices                    its choices
 *     an option with FILE… or OUT…              files
 *     an option with DIR                        folders
 *     an option with a number or another text   nothing; zsh describes the value
 *     --                                        nothing
 *
 * The same follows --name=. Each file completes the installed program. If it is sourced by
 * hand, it also completes the program that make builds. It needs only the shell (bash 4, zsh
 * 5.1, fish 3.1 or later). */
#pragma once

#include "base/options.h"

#include <stdio.h>

typedef enum { SHELL_BASH, SHELL_ZSH, SHELL_FISH } Shell;

/* Names of programs, options and choices consist of ASCII letters, digits, '-', '_' and '.'. */
typedef struct CompletedProgram {
    const char *name;           // "qkv-train", as it is installed
    const char *built;          // "train", as make builds it
    const char *arguments;      // arguments after the options, "TEXT"; NULL: none
    const OptionGroup *groups;  // [count]
    int count;
} CompletedProgram;

/* False: out of memory. */
bool completion_write(FILE *out, Shell shell, const CompletedProgram *program);
