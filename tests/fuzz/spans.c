/* spans.c -- fuzzes the spans, the typography and the case of a text: a regular expression of the
 * user's; 0x1E; the text, of which characters above U+00FF are unknown. */
#include "data/spans.h"
#include "base/utf8.h"
#include "data/text.h"

#include "tests/fixtures/fuzz.h"

static bool latin(const void *context, unsigned character)
{
    return !context && character < 0x100;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static SpanRules *builtin;
    size_t length;
    char *regex = fuzz_part(&length, &data, &size), *text = fuzz_part(&length, &data, &size),
         *clean;
    SpanRules *rules = spanrules_open(&regex, !!*regex, NULL, &error);
    Spans spans = {0};
    if (!builtin) assert(builtin = spanrules_open(NULL, 0, NULL, &error));
    accepted(rules);
    for (int i = !rules; i < 2 && utf8_is_valid(text, length, NULL); i++) {
        if (!accepted(
                spans_find(&spans, i ? builtin : rules, text, length, latin, NULL, &error)))
            continue;
        for (int k = 0; k < spans.count; k++) {
            const Span *s = &spans.span[k];
            assert(s->begin < s->end && s->end <= length && (!k || s[-1].end <= s->begin));
            assert(utf8_is_valid(text + s->begin, s->end - s->begin, NULL));
            assert(utf8_is_valid(text + s->end, length - s->end, NULL));
        }
        assert(text_cleaned(&clean, text, length, latin, NULL, &error));
        assert(utf8_is_valid(clean, strlen(clean), NULL));
        LetterCase to = text_case(text, length);
        for (int k = 0; k < 2; k++) {
            char *cased;
            assert(k ? text_in_case(&cased, text, length, to, "tr", &error)
                     : text_lowered(&cased, text, length, to, true, true, NULL, NULL, &error));
            assert(utf8_is_valid(cased, strlen(cased), NULL));
            free(cased);
        }
        free(clean);
    }
    spans_free(&spans);
    spanrules_free(rules);
    free(regex);
    free(text);
    return 0;
}
