/* composed.c -- Unicode's form NFC; see composed.h. */
#include "scores/composed.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

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
    if (U_SUCCESS(status) && unorm2_isNormalized(nfc, from, count, &status))
        return free(from), strndup(text, length);
    count = unorm2_normalize(nfc, from, count, to, 3 * (size + 1), &status);
    char *result = malloc(3 * (size_t)(count > 0 ? count : 0) + 1);
    if (result) u_strToUTF8(result, 3 * count + 1, NULL, to, count, &status);
    free(from);
    if (U_SUCCESS(status)) return result;
    free(result);
    return NULL;
}
