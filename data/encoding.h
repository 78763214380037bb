/* encoding.h -- the encoding of text that is not UTF-8, from its bytes. */
#pragma once

#include "base/c.h"

/* "UTF-16LE", "UTF-16BE", "UTF-32LE" or "UTF-32BE": the encoding in which the bytes are text that has
 * some ASCII, such as line breaks; NULL: none. */
const char *encoding_wide(const char *bytes, size_t count);

/* name (=) "UTF-8" if only a few bytes are not; else the likely one, as iconv names it, or "" */
enum { ENCODING_NAME = 32 };
void encoding_guess(char name[ENCODING_NAME], const char *bytes, size_t count);
