/* command.c -- what the two programs are called here; see command.h. */
#include "program/command.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

const char *command_name(void)
{
    return program_invocation_short_name;
}

static bool installed(void)
{
    return !strncmp(command_name(), "qkv-", 4);
}

const char *command_train(void)
{
    return installed() ? "qkv-train" : "./train";
}

const char *command_translate(void)
{
    return installed() ? "qkv-translate" : "./translate";
}
