/* command.c -- the names of the two programs; see command.h. */
#include "commands/command.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

const char *command_name(void)
{
    return program_invocation_short_name;
}

/* Whether this program is not train or translate: it is an installed qkv-…, or another program that
 * uses the library. */
static bool installed(void)
{
    return strcmp(command_name(), "train") != 0 && strcmp(command_name(), "translate") != 0;
}

const char *command_train(void)
{
    return installed() ? "qkv-train" : "./train";
}

const char *command_translate(void)
{
    return installed() ? "qkv-translate" : "./translate";
}
