/* webpage.c -- the page's template with the data inserted; see webpage.h. */
#include "plots/webpage.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const unsigned char template[] = {
#include "plots/page.inc"
};

static const char MARKER[] = "@data@";

/* JSON has <, > and & only inside strings, where an escape means the same. */
static void put_json(FILE *out, const char *json, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *s = json + i;
        if (*s == '<' || *s == '>' || *s == '&') fprintf(out, "\\u%04x", *s);
        else fputc(*s, out);
    }
}

bool webpage_save(const char *path, const char *json, Error *error)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    if (!out) return error_set(error, "not enough memory for the page '%s'", path);
    const unsigned char *marker = memmem(template, sizeof template, MARKER, strlen(MARKER));
    const unsigned char *rest = marker + strlen(MARKER);
    fwrite(template, 1, (size_t)(marker - template), out);
    put_json(out, json, strlen(json));
    fwrite(rest, 1, (size_t)(template + sizeof template - rest), out);
    char *bytes = textstream_close(&stream);
    bool good = bytes ? file_replace(path, bytes, stream.length, error)
                      : error_set(error, "not enough memory for the page '%s'", path);
    free(bytes);
    return good;
}
