/* command.c -- the names of the two programs; see command.h. */
#include "commands/command.h"

#include <errno.h>
#include <string.h>

const char *command_name(void)
{
    return program_invocation_short_name;
}

/* A program that is not train or translate is an installed qkv-…, or another one that uses the
 * library. */
const char *command_prefix(void)
{
    return strcmp(command_name(), "train") && strcmp(command_name(), "translate") ? "qkv-"
                                                                                  : "./";
}
