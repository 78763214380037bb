/* segments.c -- fuzzes the parts of a text; the first byte chooses its language. */
#include "base/utf8.h"
#include "tests/fixtures/fuzz.h"

#include "data/segments.h"
#include "data/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const language[] = {NULL, "en", "de", "fr", "ja", "el", "zz", "../a"};
    static Segments segments;
    const char *text = (const char *)data + 1;
    size_t at = 0;
    if (!size-- || !utf8_is_valid(text, size, NULL)) return 0;
    if (!accepted(segments_find(&segments, text, size, language[*data & 7], &error))) return 0;
    for (int i = 0; i < segments.count; at = segments.segment[i++].end) {
        Segment s = segments.segment[i];
        assert(s.begin == at && s.end > at && s.end <= size && !(s.kept && s.continues));
        assert(utf8_is_valid(text + at, s.end - at, NULL));
    }
    assert(at == size);
    return 0;
}
