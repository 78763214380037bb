/* error.c -- error messages; see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* error->text (=) the sentence and, unless NULL, ": " and `rest`. */
static void write(Error *error, const char *rest, const char *format, va_list arguments)
{
    size_t size = sizeof error->text;
    size_t length = (size_t)vsnprintf(error->text, size, format, arguments);
    if (rest && length < size)
        length += (size_t)snprintf(error->text + length, size - length, ": %s", rest);
    if (length >= size) strcpy(error->text + size - 4, "...");
    for (char *c = error->text; *c; c++)  // a file's text must not command the terminal
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

bool error_set(Error *error, const char *format, ...)
{
    if (!error) return false;
    va_list arguments;
    va_start(arguments, format);
    write(error, NULL, format, arguments);
    va_end(arguments);
    return false;
}

bool error_prefix(Error *error, const char *format, ...)
{
    if (!error) return false;
    Error before = *error;
    va_list arguments;
    va_start(arguments, format);
    write(error, before.text, format, arguments);
    va_end(arguments);
    return false;
}
