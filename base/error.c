/* error.c -- one sentence about what is wrong; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A sentence that did not fit ends in "..."; what a file or a command line brought in cannot
 * break the line or command the terminal. */
static void tidy(Error *error, int length)
{
    if (length >= (int)sizeof error->text) strcpy(error->text + sizeof error->text - 4, "...");
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

bool error_set(Error *error, const char *format, ...)
{
    if (!error) return false;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    tidy(error, length);
    return false;
}

bool error_prefix(Error *error, const char *format, ...)
{
    if (!error) return false;
    Error before = *error;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    tidy(error, length);
    size_t used = strlen(error->text), room = sizeof error->text - used;
    int rest = snprintf(error->text + used, room, ": %s", before.text);
    tidy(error, (int)used + rest);
    return false;
}
