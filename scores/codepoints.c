/* codepoints.c -- a sentence as Unicode code points. Categories and lower case are ICU's.
 *
 * ICU's lower case without a language is that of Python's str.lower(): İ becomes i and U+0307, Σ
 * becomes ς at the end of a word. White space is Unicode's and, as in Python, the separators
 * U+001C to U+001F. */
#include "scores/codepoints.h"

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "base/utf8.h"

uint32_t *codepoints_reserve(int length, Error *error)
{
    uint32_t *at = malloc(((size_t)length + 1) * sizeof *at);
    if (!at) error_memory(error, "for a sentence of %d characters", length);
    return at;
}

void codepoints_free(Codepoints *text)
{
    free(text->at);
    *text = (Codepoints){0};
}

/* The text in lower case, for free(). */
static char *lower_case(const char *utf8, Error *error)
{
    UErrorCode status = U_ZERO_ERROR;
    int size = (int)strlen(utf8) * 3 / 2 + 2;  // two bytes may become three
    char *lower = malloc((size_t)size);
    UCaseMap *map = ucasemap_open("", 0, &status);
    if (lower) ucasemap_utf8ToLower(map, lower, size, utf8, -1, &status);
    ucasemap_close(map);
    if (lower && U_SUCCESS(status)) return lower;
    free(lower);
    return error_memory(error, "for a sentence in lower case"), NULL;
}

static bool check_text(const char *utf8, Error *error)
{
    size_t bytes = strnlen(utf8, (size_t)CODEPOINTS_LIMIT + 1), bad;
    if (bytes > CODEPOINTS_LIMIT)
        return error_set(error, "a sentence of more than %d bytes is too long to score",
                         CODEPOINTS_LIMIT);
    return utf8_is_valid(utf8, bytes, &bad) ||
           error_set(error, "not valid UTF-8 at byte %zu of the sentence", bad + 1);
}

static bool read_text(Codepoints *text, const char *utf8, bool lowercase, SplitText *split,
                      const void *context, Error *error)
{
    char *lower = NULL, *words = NULL;
    if (lowercase) utf8 = lower = lower_case(utf8, error);
    if (utf8 && split) utf8 = words = split(context, utf8, error);
    if (utf8) text->at = codepoints_reserve((int)strlen(utf8), error);
    while (text->at && *utf8) utf8 += utf8_next(utf8, &text->at[text->length++]);
    free(lower);
    free(words);
    return text->at;
}

bool comparison_read(Comparison *c, const char *hypothesis, const char *const *reference,
                     int references, bool lowercase, SplitText *split, const void *context,
                     Error *error)
{
    *c = (Comparison){calloc((size_t)references + 1, sizeof *c->text), references};
    if (!c->text) return error_memory(error, "for %d references", references);
    for (int i = 0; i <= references; i++) {
        const char *text = i ? reference[i - 1] : hypothesis;
        if (!check_text(text, error))
            return error_prefix(error, "%s", i ? "reference" : "hypothesis");
        if (!read_text(&c->text[i], text, lowercase, split, context, error)) return false;
    }
    return true;
}

void comparison_free(Comparison *c)
{
    for (int i = 0; c->text && i <= c->references; i++) codepoints_free(&c->text[i]);
    free(c->text);
    *c = (Comparison){0};
}

int references_join(int before, int references)
{
    if (before == 0 || references == 0) return before + references;
    return before == references ? references : REFERENCES_VARY;
}

void references_format(int references, char *text, size_t size)
{
    if (references == REFERENCES_VARY) snprintf(text, size, "nrefs:var");
    else snprintf(text, size, "nrefs:%d", references ? references : 1);
}

bool codepoints_is_space(uint32_t c)
{
    return u_isUWhiteSpace((UChar32)c) || (c >= 0x1C && c <= 0x1F);
}

/* Composing makes at most three units of UTF-16 of one, and a unit takes at most three bytes. */
char *composed(const char *text, size_t length)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    int32_t size = (int32_t)length, count;
    UChar *from = malloc(4 * (length + 1) * sizeof *from);
    if (!from) return NULL;
    UChar *to = from + length + 1;
    u_strFromUTF8WithSub(from, size + 1, &count, text, size, 0xfffd, NULL, &status);
    count = unorm2_normalize(nfc, from, count, to, 3 * (size + 1), &status);
    char *result = U_SUCCESS(status) ? malloc(3 * (size_t)count + 1) : NULL;
    if (result) u_strToUTF8(result, 3 * count + 1, NULL, to, count, &status);
    free(from);
    return result;
}
