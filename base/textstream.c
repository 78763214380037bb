/* textstream.c -- streams into memory; see textstream.h. */
#include "base/textstream.h"

#include <stdbool.h>
#include <stdlib.h>

FILE *textstream_open(TextStream *stream)
{
    *stream = (TextStream){0};
    return stream->out = open_memstream(&stream->text, &stream->length);
}

char *textstream_close(TextStream *stream)
{
    bool good = stream->out && !ferror(stream->out);
    if (stream->out && fclose(stream->out) == 0 && good) return stream->text;
    free(stream->text);
    return NULL;
}
