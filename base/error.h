/* error.h -- what a function below the mains says when the world is wrong.
 *
 * A function that can fail takes an Error last and returns false (or NULL); the text is one
 * sentence that says what is wrong, where, and what would be right, without a final full stop
 * and without the program's name, which main puts before it:
 *
 *     if (!file) return error_set(error, "cannot read '%s': %s", path, strerror(errno)); */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

typedef struct Error {
    char text[1024];
} Error;

/* Writes the sentence into error, if there is one, and returns false. A sentence that does not
 * fit ends in "..."; a control character, which a file may have brought in, becomes '?'. */
bool error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before the sentence that is there, and returns false. */
bool error_prefix(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
