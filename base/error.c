/* error.c -- one sentence about what is wrong; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void mark_if_cut(Error *error, int length)
{
    if (length >= (int)sizeof error->text) strcpy(error->text + sizeof error->text - 4, "...");
}

bool error_set(Error *error, const char *format, ...)
{
    if (!error) return false;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    mark_if_cut(error, length);
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
    mark_if_cut(error, length);
    size_t used = strlen(error->text), room = sizeof error->text - used;
    int rest = snprintf(error->text + used, room, ": %s", before.text);
    mark_if_cut(error, (int)used + rest);
    return false;
}
