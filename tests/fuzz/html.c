/* html.c -- fuzzes HTML: what no translation replaces comes back, and no translation brings in a tag. */
#include "base/utf8.h"
#include "tests/fixtures/fuzz.h"

#include "data/html.h"
#include "data/text.h"

static size_t tags_in(const char *text)
{
    size_t count = 0;
    for (; *text; text++) count += *text == '<';
    return count;
}

/* The document with its own texts, or with one text for all of its blocks, as the translations. */
static char *join(HtmlDocument *d, const char *text)
{
    const char **translation = malloc(((size_t)d->count + 1) * sizeof *translation);
    assert(translation);
    for (int i = 0; i < d->count; i++) translation[i] = text ? text : d->block[i].text;
    char *out = html_join(d, translation);
    assert(out);
    free(translation);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HtmlDocument d = {0}, again = {0};
    char *html = calloc(1, size + 1);
    assert(html);
    if (size) memcpy(html, data, size);
    if (utf8_is_valid(html, size, NULL) &&
        accepted(html_open(&d, html, strlen(html), &error))) {
        for (int i = 0; i < d.count; i++) assert(d.block[i].begin < d.block[i].end);
        char *same = join(&d, NULL), *hostile = join(&d, html), *none = join(&d, "");
        assert(utf8_is_valid(same, strlen(same), NULL));
        assert(tags_in(same) <= tags_in(html) && tags_in(hostile) <= tags_in(html));
        assert(tags_in(none) == tags_in(same));
        if (html_open(&again, same, strlen(same), &error)) {
            char *twice = join(&again, NULL);
            assert(tags_in(twice) == tags_in(same));
            free(twice);
        }
        html_close(&again);
        free(same), free(hostile), free(none);
    }
    html_close(&d);
    free(html);
    return 0;
}
