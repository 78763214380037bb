/* composed.h -- text in Unicode's composed form, NFC, so that é is equal to e with an accent that
 * follows it. The scores themselves compare code points, as sacrebleu does. */
#pragma once

#include <stddef.h>

/* For free(); NULL if memory is short. */
char *composed(const char *text, size_t length);
