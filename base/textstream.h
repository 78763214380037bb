/* textstream.h -- streams into memory. */
#pragma once

#include "base/c.h"

typedef struct TextStream {
    FILE *out;
    char *text;
    size_t length;
} TextStream;

/* Returns the stream, or NULL. */
static inline FILE *textstream_open(TextStream *stream)
{
    *stream = (TextStream){0};
    return stream->out = open_memstream(&stream->text, &stream->length);
}

/* Closes it and returns the text for free(), NULL if memory was short at any time. */
static inline char *textstream_close(TextStream *stream)
{
    bool good = stream->out && !ferror(stream->out);
    if (stream->out && fclose(stream->out) == 0 && good) return stream->text;
    free(stream->text);
    return NULL;
}
