/* typography.c -- see typography.h. */
#include "data/typography.h"

#include "base/textstream.h"
#include "base/utf8.h"
#include "data/words.h"

#include <unicode/ucasemap.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

enum {
    CLUSTER = 32,  // most characters that are normalised together: ICU takes n² steps
    NORMALISED =
        16 * CLUSTER,  // bytes, more than they become: three characters each, or U+FDFA
};

/* ---- characters ---- */

static bool joiner(UChar32 code)
{
    return code == 0x200C || code == 0x200D;
}

/* Whether a joiner may change something after it: an emoji, or a letter or mark but of some scripts. */
static bool joins(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(c, &status);
    return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_SO_MASK | U_GC_SK_MASK)) &&
           script != USCRIPT_LATIN && script != USCRIPT_GREEK && script != USCRIPT_CYRILLIC &&
           script != USCRIPT_ARMENIAN && script != USCRIPT_GEORGIAN;
}

size_t text_cluster(const char *text, size_t length)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    UChar32 c, last;
    size_t end = 0, next = 0;
    U8_NEXT(text, next, length, last);
    for (int i = 1; end = next, i < CLUSTER && end < length; i++, last = c) {
        U8_NEXT(text, next, length, c);
        if (c < 0x300 || (last != 0x200D && !joiner(c) && unorm2_hasBoundaryBefore(nfc, c) &&
                          !u_hasBinaryProperty(c, UCHAR_GRAPHEME_EXTEND) &&
                          !u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER)))
            break;
    }
    return end;
}

/* to [NORMALISED] (=) at most CLUSTER characters in a normal form; returns the length. */
static size_t normalise(char *to, const UNormalizer2 *form, const char *text, size_t length)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar from16[2 * CLUSTER], to16[NORMALISED];
    int32_t count;
    u_strFromUTF8(from16, 2 * CLUSTER, &count, text, (int32_t)length, &status);
    count = unorm2_normalize(form, from16, count, to16, NORMALISED, &status);
    u_strToUTF8(to, NORMALISED, &count, to16, count, &status);
    return U_SUCCESS(status) ? (size_t)count : (memcpy(to, text, length), length);
}

bool text_is_known(const char *text, size_t length, Known *known, const void *context)
{
    UChar32 c;
    for (size_t i = 0; known && i < length;) {
        U8_NEXT(text, i, length, c);
        if (!joiner(c) && !u_isUWhiteSpace(c) && !known(context, (unsigned)c)) return false;
    }
    return true;
}

/* Writes a character that is not known as one that is near, or as its compatibility form, such as
 * "fi", "..." or a space; but ² and ½ stay, whose digits would mean something else. */
static void write_near(FILE *out, const char *text, size_t length, UChar32 c, Known *known,
                       const void *context)
{
    static const char *const near[] = {"\"“”„«»‟″", "'’‘‚‹›‛ʼ′´`", "-–—‒‐‑―−", ",，", "?？",
                                       "!！",       ":：",         ";；",      "(（", ")）"};
    static const unsigned kept = 1 << U_DT_NONE | 1 << U_DT_SUPER | 1 << U_DT_SUB |
                                 1 << U_DT_FRACTION | 1 << U_DT_CIRCLE | 1 << U_DT_SQUARE;
    char form[NORMALISED];
    UErrorCode status = U_ZERO_ERROR;
    for (size_t row = 0; row < sizeof near / sizeof *near; row++) {
        const char *s = memmem(near[row], strlen(near[row]), text, length) ? near[row] : "";
        for (unsigned other, bytes; *s; s += bytes) {
            bytes = (unsigned)utf8_next(s, &other);
            if (known(context, other)) text = s, length = bytes, s = "", bytes = 0;
        }
    }
    if (!(kept >> u_getIntPropertyValue(c, UCHAR_DECOMPOSITION_TYPE) & 1)) {
        size_t count = normalise(form, unorm2_getNFKCInstance(&status), text, length);
        if (text_is_known(form, count, known, context)) text = form, length = count;
    }
    fwrite(text, 1, length, out);
}

bool text_cleaned(char **out, const char *text, size_t length, Known *known,
                  const void *context, Error *error)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    TextStream clean;
    char form[NORMALISED];
    UChar32 c, last = 0;
    bool opened = textstream_open(&clean);
    for (const char *end = text + length, *next; opened && text < end; text = next) {
        size_t count = text_cluster(text, (size_t)(end - text));
        const char *s = text;
        next = text + count;
        if (count > 1) count = normalise(form, nfc, s, count), s = form;
        for (size_t at = 0, begin = 0, bytes; at < count; begin = at) {
            U8_NEXT(s, at, count, c);
            bytes = at - begin;
            if (c == 0xAD || c == 0x200B || c == 0x2060 || c == 0xFEFF) continue;
            if (joiner(c) && !joins(last)) continue;
            last = c;
            if (!known || joiner(c) || known(context, (unsigned)c))
                fwrite(s + begin, 1, bytes, clean.out);
            else if (u_isUWhiteSpace(c)) fputc(' ', clean.out);
            else if (!u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT))
                write_near(clean.out, s + begin, bytes, c, known, context);
        }
    }
    return (*out = textstream_close(&clean)) || error_memory(error, "for a line of text");
}

/* ---- case ---- */

typedef struct Word {
    size_t begin, end;  // letters and digits with their marks
    UChar32 first;      // its first character
    bool joined;        // by an apostrophe or hyphen to the word before
    int characters, upper, lower;
} Word;

/* The word after *word, of which the first is {0}; false if there is none. */
static bool next_word(Word *word, const char *text, size_t length)
{
    UChar32 c;
    size_t before = word->end, next = before;
    *word = (Word){.begin = before, .end = before};
    for (; next < length; word->end = next) {
        U8_NEXT(text, next, length, c);
        if (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK)) {
            if (!word->characters++) word->begin = word->end, word->first = c;
            word->upper += u_isupper(c) || u_istitle(c);
            word->lower += u_islower(c) && c != 0xDF;  // ß has no usual capital letter
        } else if (word->characters) break;
    }
    size_t gap = word->begin - before;
    word->joined = before && ((gap == 1 && strchr("'-", text[before])) ||
                              (gap == 3 && !memcmp(text + before, "’", 3)));
    return word->characters;
}

/* Words that stay small in an English headline. Those of the second list are German, too. */
static const char english_words[] =
    "a and as at but by for from into nor of off on or over the to up via with";
static const char shared_words[] = "an in";

LetterCase text_case(const char *text, size_t length)
{
    size_t upper = 0, lower = 0, words = 0, capitals = 0, title = 0;
    size_t shouted = 0, others = 0, english = 0, shared = 0;
    bool word_of_five = false;
    for (Word word = {0}; next_word(&word, text, length);) {
        bool number = u_isdigit(word.first);  // 5pm, 2nd
        upper += (size_t)word.upper;
        lower += number ? 0 : (size_t)word.lower;
        if (word.joined || number || !(word.upper || word.lower)) continue;
        words++;
        bool capital = u_isupper(word.first) || u_istitle(word.first);
        capitals += capital;
        title += capital && (word.lower || word.characters == 1);
        bool shout = word.upper > 1 && word.upper > word.lower;  // iPHONE
        shouted += shout;
        others += !shout && word.characters > 1;
        word_of_five |= shout && word.characters >= 5;
        english += words_listed(english_words, text + word.begin, word.end - word.begin);
        shared += words_listed(shared_words, text + word.begin, word.end - word.begin);
    }
    if (!lower) return upper >= 4 || (upper >= 2 && words > 1) ? CASE_UPPER : CASE_SENTENCE;
    if (shouted >= 3 && shouted >= 3 * others && word_of_five) return CASE_UPPER;
    if (title >= 3 && capitals == words) return CASE_TITLE;
    bool headline = title >= 4 && 5 * capitals >= 3 * words && english &&
                    capitals + english + shared == words;
    return headline ? CASE_HEADLINE : CASE_SENTENCE;
}

/* Writes a word in lower case, or with its first letter as it is; returns its end. */
static char *lower_word(char *to, const char *text, size_t length, bool capital, bool dotless)
{
    size_t n = 0;
    UChar32 c;
    for (size_t at = 0; at < length;) {
        bool first = !at;
        U8_NEXT(text, at, length, c);
        if (c == 0x3A3 && at == length && !first) c = 0x3C2;  // Σ becomes ς
        if (!first || !capital) c = dotless && c == 'I' ? 0x131 : u_tolower(c);
        U8_APPEND_UNSAFE(to, n, c);
    }
    return to + n;
}

bool text_lowered(char **out, const char *text, size_t length, LetterCase from, bool begins,
                  bool dotless, Capitalised *capitalised, const void *context, Error *error)
{
    size_t copied = 0;
    char *to = *out = malloc(2 * length + 1);  // I has one byte, ı has two
    if (!to) return error_memory(error, "for a line of text");
    for (Word word = {0}; next_word(&word, text, length); begins = false) {
        size_t count = word.end - word.begin;
        if (from == CASE_SENTENCE || (from != CASE_UPPER && word.upper > 1)) continue;
        char *start = mempcpy(to, text + copied, word.begin - copied);
        bool asked = capitalised && word.upper && !(word.joined && word.characters <= 2);
        copied = word.end;
        to = lower_word(start, text + word.begin, count, true, dotless);
        if (!begins && !(asked && capitalised(context, start, (size_t)(to - start))))
            to = lower_word(start, text + word.begin, count, false, dotless);
    }
    *(char *)mempcpy(to, text + copied, length - copied) = 0;
    return true;
}

bool text_in_case(char **out, const char *text, size_t length, LetterCase to,
                  const char *language, Error *error)
{
    UErrorCode status = U_ZERO_ERROR;
    size_t copied = 0, size = 3 * length + 1, n = 0;
    char *s = *out = size < INT32_MAX ? malloc(size) : NULL;  // ΐ has two bytes, Ϊ́ has six
    if (!s) return error_memory(error, "for a line of text");
    if (to == CASE_UPPER) {
        UCaseMap *map = ucasemap_open(language, 0, &status);
        ucasemap_utf8ToUpper(map, s, (int32_t)size, text, (int32_t)length, &status);
        ucasemap_close(map);
        if (U_FAILURE(status)) free(s), *out = NULL;
        return *out || error_memory(error, "for a line of text");
    }
    for (Word word = {0}; to == CASE_TITLE && next_word(&word, text, length);) {
        if (word.joined) continue;
        memcpy(s + n, text + copied, word.begin - copied);
        n += word.begin - copied;
        copied = word.begin + (size_t)U8_LENGTH(word.first);
        bool dotted = word.first == 'i' && (!strcmp(language, "tr") || !strcmp(language, "az"));
        UChar32 capital = dotted ? 0x130 : u_totitle(word.first);
        U8_APPEND_UNSAFE(s, n, capital);
    }
    *(char *)mempcpy(s + n, text + copied, length - copied) = 0;
    return true;
}
