/* error.c -- error messages; see error.h. */
#include "base/error.h"

#include "base/utf8.h"

/* error->text (=) the sentence and, unless NULL, ": " and `rest`. */
static void write(Error *error, const char *rest, const char *format, va_list arguments)
{
    if (!error) return;
    char text[sizeof error->text];
    size_t size = sizeof text, length = (size_t)vsnprintf(text, size, format, arguments);
    if (rest && length < size)
        length += (size_t)snprintf(text + length, size - length, ": %s", rest);
    if (length < size && utf8_fit(error->text, size, text)) return;
    utf8_fit(error->text, size - 3, text);
    strcat(error->text, "...");
}

bool error_set(Error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write(error, NULL, format, arguments);
    va_end(arguments);
    return false;
}

bool error_prefix(Error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write(error, error ? error->text : NULL, format, arguments);
    va_end(arguments);
    return false;
}
