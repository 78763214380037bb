/* error.h -- error messages: one sentence that says what is wrong.
 *
 * A function that can fail takes an Error last and returns false (or NULL). The sentence says
 * what is wrong, where, and what would be right. It has no full stop at its end and does not
 * name the program; main prints that before it:
 *
 *     if (!file) return error_set(error, "cannot read '%s': %s", path, strerror(errno));
 *
 * An option, or a field of a configuration, is named in back quotes and without dashes:
 *
 *     error_set(error, "`max-length` %d is more than the %d of the model", length, limit)
 *
 * The command that prints the error turns that into --max-length (options_name_in_error). */
#pragma once

#include "base/c.h"

typedef struct Error {
    char text[1024];
} Error;

/* Writes the sentence into error unless that is NULL; returns false. A sentence that is too
 * long ends in "...". It has what is shown of its text (base/utf8.h). */
bool error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sentence "not enough memory …", which goes on with "for …" or "to …"; false. */
#define error_memory(error, ...) error_set(error, "not enough memory " __VA_ARGS__)

/* Puts "context: " before the sentence in error unless that is NULL; returns false. */
bool error_prefix(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
