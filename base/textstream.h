/* textstream.h -- streams into memory. */
#pragma once

#include <stdio.h>

/* textstream_open returns the stream, or NULL; textstream_close closes it and
 * returns the text for free(), NULL if memory was short at any time. */
typedef struct TextStream {
    FILE *out;
    char *text;
    size_t length;
} TextStream;

FILE *textstream_open(TextStream *stream);
char *textstream_close(TextStream *stream);
