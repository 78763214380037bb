/* alignments.c -- fuzzes gold alignments, "0-0 1?2", one a line. */
#include "inference/align.h"

#include "tests/fixtures/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size), *rest = text;
    Links links = {0}, before = {0};
    AlignError counts = {0};
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!accepted(links_read(&links, line, "gold:1", 5, 7, &error))) continue;
        for (int k = 0; k < links.count; k++)
            assert(links.link[k].source < 5 && links.link[k].target < 7);
        align_compare(&counts, &before, &links);
        assert(!(align_error(&counts) < 0) && !(align_recall(&counts) > 1));
        Links swap = before;
        before = links, links = swap;
    }
    links_free(&links);
    links_free(&before);
    free(text);
    return 0;
}
