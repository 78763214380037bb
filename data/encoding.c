/* encoding.c -- guesses encodings; see encoding.h. */
#include "data/encoding.h"

#include "base/utf8.h"

#include <unicode/ucsdet.h>

/* The number of ASCII characters of bytes that are numbers of `width` bytes; 0 if one of these is no
 * character of a text. */
static size_t count_ascii(const char *bytes, size_t count, size_t width, bool big)
{
    size_t ascii = 0;
    bool high = false;  // the last number was the first half of a character
    for (size_t i = 0; i + width <= count; i += width) {
        unsigned code = 0;
        for (size_t k = 0; k < width; k++)
            code = code << 8 | (unsigned char)bytes[i + (big ? k : width - 1 - k)];
        bool half = code >= 0xd800 && code < 0xe000, low = half && code >= 0xdc00;
        if ((code < ' ' && !(code && strchr("\t\n\r", (int)code))) || code == 0xfeff ||
            code >= (width == 2 ? 0xfffe : 0x110000) || (half && width > 2) || high != low)
            return 0;
        high = half && !low;
        ascii += code < 0x80;
    }
    return ascii;
}

const char *encoding_wide(const char *bytes, size_t count)
{
    static const char *const NAME[] = {"UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE"};
    const char *best = NULL;
    size_t most = 1, zeros = 0, others = 0;  // others: what is not in a text in UTF-8
    for (size_t i = 0, size; i < count; i += size) {
        unsigned code, byte = (unsigned char)bytes[i];
        size = (size_t)utf8_decode(bytes + i, count - i, &code);
        zeros += !byte;
        others +=
            byte && (byte < ' ' ? !strchr("\t\n\r", bytes[i]) : byte >= 0x80 && size == 1);
    }
    if (4 * (zeros + others) < count && others < 4) return NULL;  // the zeros are errors in it
    for (int i = 0; i < 4; i++) {
        size_t ascii = count_ascii(bytes, count, i < 2 ? 4 : 2, i & 1);
        if (ascii > most) most = ascii, best = NAME[i];
    }
    return best;
}

/* ICU's guess, which needs some text; "" if it is none. */
static void detect(char name[ENCODING_NAME], const char *bytes, size_t count)
{
    enum { SURE = 20 };  // of 100
    UErrorCode code = U_ZERO_ERROR;
    UCharsetDetector *detector = ucsdet_open(&code);
    ucsdet_setText(detector, bytes, (int)count, &code);
    int matches = 0, confidence[2] = {0};
    const UCharsetMatch **match = ucsdet_detectAll(detector, &matches, &code);
    const char *found = "";
    for (int i = 0, n = 0; n < 2 && i < matches; i++) {
        const char *own = ucsdet_getName(match[i], &code);
        if (!strncmp(own, "IBM42", 5)) continue;  // EBCDIC: its lines end in another byte
        if (n == 0) found = own;
        confidence[n++] = ucsdet_getConfidence(match[i], &code);
    }
    bool sure = confidence[0] >= SURE && confidence[0] > confidence[1];
    snprintf(name, ENCODING_NAME, "%s", sure && strncmp(found, "UTF-", 4) ? found : "");
    char *order = strstr(name, "-I");  // ISO-8859-8-I: of letters, which iconv does not name
    if (order && !order[2]) *order = 0;
    ucsdet_close(detector);
}

void encoding_guess(char name[ENCODING_NAME], const char *bytes, size_t count)
{
    enum { FEW = 8 };
    size_t good = 0, bad = 0, controls = 0;  // characters of several bytes; bytes of none
    for (size_t at = 0, size; at < count; at += size) {
        unsigned code, byte = (unsigned char)bytes[at];
        size = (size_t)utf8_decode(bytes + at, count - at, &code);
        good += size > 1;
        bad += size == 1 && byte >= 0x80;
        controls += size == 1 && byte >= 0x80 && byte < 0xa0;
    }
    if (good > 10 * bad) strcpy(name, "UTF-8");
    else if (bad >= FEW) detect(name, bytes, count);
    else strcpy(name, controls && 2 * bad < count ? "WINDOWS-1252" : "LATIN1");
}
