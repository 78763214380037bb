/* segments.c -- sentences by ICU, the layout around them by regular expressions.
 *
 * ICU's boundaries (UAX 29) hold but for these:
 *
 *     Mr. Smith              none after an abbreviation that CLDR lists for the language. (ICU's own `ss=standard`
 *                            finds them in ends of words, too: German "s." in "alles.")
 *     J. S. Bach, e.g. Bonn  none after a single letter; in German none after "am 5."
 *     3. 5. 2020             none between numbers
 *     "Stop!" he said.       none between a closing mark and a small letter or a particle: 「はい。」と言った。
 *     « Non ! » Il part.     one before closing marks moves behind them; so with ** and </b>
 *     「いや。」「はい。」     one behind opening brackets moves before them
 *     index?id=1             none without white space, but after a full stop beyond ASCII (। ።) or beside a wide character
 *     M. Dupont              none at a no-break space alone
 *     park. 3 men, it. {n}   one before a digit, a tag or a placeholder, but for "No. 5"; with [1] before the space, too
 *     he left. she slept.    one before a small letter in a text without capitals
 *
 * Time is linear: ICU passes over the text once, and an expression matches one thing at a time. None has a loop
 * over more than one character or set, so the stack of ICU's matcher stays small. */
#include "data/segments.h"

#include <pthread.h>
#include <unicode/ubrk.h>
#include <unicode/uregex.h>
#include <unicode/ures.h>

#include "base/grow.h"
#include "base/options.h"
#include "data/words.h"

// clang-format off
#define NAME "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
enum { LINE, MARK, BREAK, CLOSING, OPENING, BEGINNING, ITEM, SHORT, PATTERNS };
static const char *const pattern[PATTERNS] = {
    [LINE] = "(.*)\\R?",
    [MARK] =                                                                    // at a line's beginning:
    "[\\s\\uFEFF]+"
    "|(-{2,40}|/[/*]|[%;]{1,4}|[-+*\\p{Pd}\\p{So}\\u00B7\\u2022\\u2023\\u2043\\u2192]|\\\\[a-z]{2,20}(?=\\s+\\p{L}))\\s+"  // - • → -- % // \\item
    "|(<[A-Za-z][^<>]{0,99}>|\\{\\\\[^{}]{1,99}\\}){1,3}(?=[-\\p{Pd}\\u2022]\\s)"  // <i>- said in a subtitle
    "|\\[[ xX]\\]\\s"                                                           // - [x] task
    "|(-{1,40}(?=[\\p{Lu}\\p{Lo}\\p{Pi}\"\u00A1\u00BF])|[\u2012-\u2015]{1,2}(?=[\\p{L}\\p{Pi}\"\u00A1\u00BF]))"  // -Yes! —no!
    "|(#{1,6}|={1,6}|#\\+[A-Za-z_]{2,30}:)\\s"                                                                // ## heading, #+TITLE: of Org
    "|>(?!=|>?\\w+<<)|\\|"                                                      // > quotation, | table, not >>fra<<
    "|(\\d{1,4}\\.?|\\u00A7\\s?\\d{1,4}[a-z]?\\s)?(\\(?(\\d{1,4}[a-z]?|\\p{L}|[ivx]{2,7}|[IVX]{2,7})\\.?\\)){1,4}\\s"  // 1) (a) iv) a.) 1(b)(ii) § 1 (2)
    "|(\\d{1,3}(\\.\\d{1,3}){0,4}[a-z]?|[a-z]|[ivx]{2,7}|[IVX]{1,7})\\.\\s"
    "(?!\\p{L}\\.)"                                                             // 1. 1.2. 1a. IV., not I. M. Pei
    "|\\d{1,3}([\\u3001\\uFF0E]|\\.(?=\\p{Lu}[\\p{Ll} ]|\\p{Lo}))|[一二三四五六七八九十]\\u3001(?![一二三四五六七八九十])"  // 1、1.One 一、
    "|[\\u30FB\\uFF65\\u203B](?=\\p{L})"                                        // ・
    "|[(\\uFF08](\\d{1,4}|[\\u30A1-\\u30F3一二三四五六七八九十])[)\\uFF09](?=\\p{Lo})"          // （1）
    "|\\d{1,3}((:|/|\\.-)\\s(?=\\p{L})|-\\s(?=[\\p{Lu}\\p{Lo}]))"                     // 1: 1/ 1.- 1-
    "|(\\d{1,3}|([\\d./-]{6,10},?\\s)?\\d{1,2}:\\d{2})(?=\\s\\p{Pd}\\s[\\p{Lu}\\p{Lo}])"              // 10:30 - Lunch
    "|\\.\\.\\s++((\\|[^|]{1,60}\\|\\s)?[a-z-]{0,30}(code|image|figure|include)(-block)?::.*|[a-z-]{1,30}::(?=\\s|$)|_[^:]{1,99}:(\\s.*)?$)"  // .. note:: of reStructuredText
    "|#\\+(?i:begin|end)_.*"                                                    // #+begin_src of Org
    "|:[A-Z][\\w -]{0,40}:\\s"                                               // :Author: name
    "|[-=]>\\s|[*#:]{0,8}:\\s++(?=\\p{L})"                                                // -> so, : definition, #: of MediaWiki
    "|" NAME "=((true|false|null)$|(?=[^=\\s]))|(\\.(?=[a-z])|-(?=[a-z])|[a-z][a-z0-9]{0,40}[._-])" NAME "\\s+=\\s+"  // a.b=text
    "|(\"[^\"]{1,99}\"|'[^']{1,99}'|(?=[a-z_])" NAME "|" NAME "(?=\\s*=))\\s*(=>?|:)\\s*(?=[\"'])"  // a: "text", 'a' => 'text'
    "|\\[\\^[^\\[\\]\\s]{1,40}\\]:\\s|\\[![A-Z]{3,20}\\][-+]?(?=\\s|$)"         // [^1]: note, [!NOTE]
    "|\\[[^\\[\\]]{1,99}\\]:\\s++<?([a-z]{3,10}:|[./#]|[\\w/-]+\\.\\w)\\S*"                    // [a]: https://…
    "|\\[\\d{1,4}\\]\\s"                                                        // [1]
    "|(\\d{1,3}(\\.\\d{1,2}){1,4}|\\d{1,2}:\\d{2})\\s"                          // 1.1 Title, 10:30 Lunch,
    "(?=\\p{Lu}(?!hr)[\\p{Ll}'\u2019 ])"                                        // not 10:30 Uhr, 3.5 metres
    "|\\[(?=[^:\\]]{1,14}:\\d)[\\d/.:, T\\u202F+-]{4,30}([AP]M)?\\]"              // [00:12.34] of songs, [1/5/24, 10:30 PM] of chats
    "|[0-9:.,]+[ \\t]+-->[ \\t].*|WEBVTT(?![\\p{L}\\p{N}]).*"                   // subtitles
    "|(Dialogue|Comment): [^,]{1,20},[\\d:.]+,[\\d:.]+,([^,]{0,99},){6}"             // of .ass
    "|\\[(Script Info|V4\\+? Styles|Events)\\]$|Format: (Layer|Marked|Name), .*|Style: [^,]+,[^,]+,[\\d.]+,.*"
    "|(ScriptType|WrapStyle|PlayRes[XY]|ScaledBorderAndShadow|YCbCr Matrix|Collisions|Timer): .*"
    "|\\[(a[lru]|by|length|offset|re|ti|ve):[^\\]]*\\]"                             // [ar:Singer] of songs
    "|Kind: (captions|subtitles)$|Language: [a-z]{2,3}(-\\w{2,8})?$",
    [BREAK] =                                                                   // ends a line, too: <br>, </li>,
    "(\\.{5,200}+|(\\. ){5,99}+)(?=\\s?[\\d\\p{Sc}])|"                         // Soup ..... 4.50,
    "</?(?i:address|article|blockquote|br|caption|d[dlt]|div|fig(caption|ure)|footer|h[1-6r]|header|li|main|nav|[ou]l"
    "|option|p|section|t([dhr]|able|body|head))(?=[\\s/>])[^<>]*+>"
    "|(?=\\\\[nrN])(?<![\\s\\\\$(=])(?<!\\b[A-Za-z]:(\\\\[^\\s:]{0,99})?)(\\\\[nrN]){1,9}"  // \n as two characters, not
    "(?![A-Za-z]{2,30}([{\\[$^_/]|[\\w\\\\]{0,60}\\.[a-z]|\\\\[^nrN]))",         // C:\new, a\ref{b}
    [CLOSING] = "[\\p{Pe}\\p{Pf}\\p{Pi}\"'*_~`\u00B9\u00B2\u00B3\u2070-\u2079]"  // ." .¹
    "|\\[(\\d{1,3}|/[a-z]{1,9})\\]|</[A-Za-z][^<>]{0,99}>",                    // .[1] .[/b] .</b>
    [OPENING] = "[-\\p{Pd}]\\s+|[(\\p{Pi}\"'*_\\p{Sc}]|<(?!http)[A-Za-z][^<>]{0,99}>\\s*",
    [BEGINNING] = "[\\p{Lu}\\d{\\[%#@:`]|<?(https?:|www\\.)",                   // after a full stop
    [ITEM] = "([-\\p{Pd}]|\\(?(\\d{1,3}|[a-z])\\))\\s+",  // at a sentence's beginning: – (2) b)
    [SHORT] =                                                                   // abbreviations before a small letter, before "5" or "{name}", and of titles
    "(?i:al|approx|ave|bzw|ca|capt|cf|co|corp|dept|dr|esp|etc|ft|inc|incl|jr|lbs?|lt|ltd|mlle|mme|mrs?|ms|mt|oz"
    "|prof|sgt|sq|sr|ste?|usw|vgl|vs)"
    "\\.\\s++(?!\\p{Lu})"
    "|(?i:abb|abs|afb|app|apr|apt|arts?|aug|bd|blz|cap|ch|chap|čl|dec|déc|dez|env|eqs?|ex|feb|figs?|hwy|jan|jul|jun|kap|mar"
    "|max|min|nos?|nov|nr|núm|obr|oct|odst|okt|págs?|para?|pp|ps|pt|réf|ref|rev|rys|\\p{L}{0,40}str|sect?|sept?|şek|tab|tel"
    "|tél|ust|ver|vols?|αρ|άρθρ|παρ|σελ|гл|илл|рис|ст|стр|табл|тел)\\.\\s++(?!\\p{L})"
    "|(?i:dhr|dott|dr|messrs|mevr|mgr|mrs?|prof|sig|sra?|srta|δρ|проф)\\.\\s|(Gen|Gov|Sen|Sn|St)\\.\\s++\\p{Lu}"
    "|([A-HJ-WYZ])\\2\\.\\s",                                                   // EE. UU.
};
// clang-format on

struct SegmentTools {
    UBreakIterator *sentences;
    URegularExpression *expression[PATTERNS];
    char language[ULOC_LANG_CAPACITY];
    StringList abbreviations;
};

typedef struct Finder {
    Segments *out;
    const char *text;
    int boundary;       // ICU's next one
    int last;           // end of the last sentence on this line, or -1
    bool capitals;      // the text has some
    UErrorCode status;  // of ICU, and of memory
} Finder;

/* The character with this byte; 0 outside of begin..end-1. */
static UChar32 char_at(const char *text, int begin, int at, int end)
{
    UChar32 c = 0;
    const uint8_t *bytes = (const uint8_t *)text;
    if (at >= begin && at < end) U8_GET(bytes, begin, at, end, c);
    return c;
}

static int after_space(const char *text, int at, int end)
{
    for (UChar32 c; u_isUWhiteSpace(c = char_at(text, at, at, end));) at += U8_LENGTH(c);
    return at;
}

static int before_space(const char *text, int begin, int at)
{
    for (UChar32 c; u_isUWhiteSpace(c = char_at(text, begin, at - 1, at));) at -= U8_LENGTH(c);
    return at;
}

static void add(Finder *f, int begin, int end, bool kept, bool continues)
{
    Segments *out = f->out;
    Segment *last = out->count ? &out->segment[out->count - 1] : NULL;
    if (begin == end) return;
    if (kept && last && last->kept) last->end = (size_t)end;
    else if (GROW(out->segment, out->size, (size_t)out->count + 1))
        out->segment[out->count++] = (Segment){(size_t)begin, (size_t)end, kept, continues};
    else f->status = U_MEMORY_ALLOCATION_ERROR;
}

/* The end of what the expression matches at `at`, or `at`. */
static int matched(Finder *f, int which, int at, int end)
{
    URegularExpression *expression = f->out->tools->expression[which];
    uregex_setRegion(expression, at, end, &f->status);
    return uregex_lookingAt(expression, -1, &f->status) ? uregex_end(expression, 0, &f->status)
                                                        : at;
}

static bool is_wide(UChar32 c)
{
    int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH || width == U_EA_HALFWIDTH;
}

static bool is_closing(UChar32 c)
{
    return U_GET_GC_MASK(c) & (U_GC_PE_MASK | U_GC_PF_MASK | U_GC_PI_MASK) ||
           (c && c < 0x80 && strchr("\"'*_>", c));
}

/* Whether the text to `end`, after a full stop, ends in one, or in the first words of one. */
static bool is_abbreviation(const struct SegmentTools *tools, const char *text, int begin,
                            int end)
{
    UChar32 last = char_at(text, begin, end - 2, end);
    int letter = end - 1 - U8_LENGTH(last);
    UChar32 before = char_at(text, begin, letter - 1, end);
    if (u_isalpha(last) && !is_wide(last) && !u_isalnum(before) && before != '\'' &&
        before != 0x2019)  // not "don't."
        return true;
    if (u_isdigit(last) && !u_isdigit(char_at(text, begin, letter - 2, end)) &&
        !strcmp(tools->language, "de"))
        return true;
    for (int i = 0; i < tools->abbreviations.count; i++) {
        const char *name = tools->abbreviations.item[i];
        for (const char *dot = name; (dot = strchr(dot, '.')); dot++) {
            int from = end - (int)(dot + 1 - name);
            if ((!dot[1] || dot[1] == ' ') && from >= begin &&
                !memcmp(text + from, name, (size_t)(end - from)) &&
                !u_isalnum(char_at(text, begin, from - 1, end)))
                return true;
        }
    }
    return false;
}

/* Where a sentence seems to begin after `at`, with a boundary of ICU's or without: after white space that
 * follows a full stop and closing marks. `end` if there is no such place. */
static int next_stop(Finder *f, int at, int end)
{
    UChar32 before = 0, c = 0;
    for (; at < end; before = c) {
        c = char_at(f->text, at, at, end);
        at += U8_LENGTH(c);
        if (before == '.' || (c != '.' && c != '!' && c != '?')) continue;
        int after = at, next;
        while ((next = matched(f, CLOSING, after, end)) > after) after = next;
        int stop = after_space(f->text, after, end), opening = stop;
        while (stop > after && (next = matched(f, OPENING, opening, end)) > opening)
            opening = next;
        UChar32 first = char_at(f->text, opening, opening, end);
        if (stop > after && (matched(f, BEGINNING, opening, end) > opening ||
                             (u_isalpha(first) && !f->capitals)))
            return stop;
    }
    return end;
}

/* Where the next sentence begins for the boundary `at`; 0 if it is none. */
static int next_sentence(Finder *f, int begin, int at, int end)
{
    const char *text = f->text;
    bool opens = false;
    for (UChar32 c; U_GET_GC_MASK(c = char_at(text, begin, at - 1, at)) &
                    (U_GC_PS_MASK | U_GC_PI_MASK | U_GC_CF_MASK);)
        at -= U8_LENGTH(c), opens |= u_charType(c) != U_FORMAT_CHAR;
    if (at == begin) return 0;
    int space = before_space(text, begin, at), after = at, next;
    UChar32 mark = char_at(text, at, at, end);  // French opens with "« ", which is no end
    if (at == space || mark == '"' || mark == '[' ||
        U_GET_GC_MASK(mark) & (U_GC_PE_MASK | U_GC_PF_MASK))
        while ((next = matched(f, CLOSING, after, end)) > after) after = next;
    next = after_space(text, after, end);
    if (after > at && (next > after || next == end)) space = after, at = next;
    UChar32 last = char_at(text, begin, space - 1, end), first = char_at(text, at, at, end);
    UChar32 blank = char_at(text, space, space, end);
    bool ends = last > 0x7F && (opens || u_hasBinaryProperty(last, UCHAR_S_TERM));  // ። । ”“
    bool particle =
        first > 0x3060 && u_strchr32(u"とっをのがに", first);  // 「はい。」と言った。
    if (is_closing(last) && particle) return 0;
    if (space == at) return ends || is_wide(last) || is_wide(first) ? at : 0;
    bool fixed = (blank == 0xA0 || blank == 0x202F) && at - space == U8_LENGTH(blank);
    if (fixed || (is_closing(last) && u_islower(first))) return 0;
    if (last != '.') return at;
    if (u_isdigit(first) && u_isdigit(char_at(text, begin, space - 2, end))) return 0;
    int word = space - 1;
    for (UChar32 c; u_isalpha(c = char_at(text, begin, word - 1, end));) word -= U8_LENGTH(c);
    return matched(f, SHORT, word, end) > word ||
                   is_abbreviation(f->out->tools, text, begin, space)
               ? 0
               : at;
}

/* Where the numbers of notes, [1] or [2][3], at the end of a sentence begin. */
static int before_notes(const char *text, int begin, int end)
{
    for (int at = end; at > begin && text[at - 1] == ']'; end = at) {
        for (at--; at > begin && u_isdigit(text[at - 1]);) at--;
        if (text[at] == ']' || at == begin || text[--at] != '[') break;
    }
    return end;
}

/* Adds a sentence with the white space, the notes, and the ** or _ of Markdown, around it. */
static void add_sentence(Finder *f, int begin, int end)
{
    const char *text = f->text;
    int first = after_space(text, begin, end), item = matched(f, ITEM, first, end);
    int from = item, to = before_space(text, from, end), n = 0;
    while (n < 3 && to - from > 2 * n + 1 && (text[from] == '*' || text[from] == '_') &&
           text[from + n] == text[from] && text[to - 1 - n] == text[from])
        n++;
    if (n && !memchr(text + from + n, text[from], (size_t)(to - from - 2 * n)))
        from += n, to -= n;
    if (!words_has_letter(text + from, (size_t)(to - from))) from = to = end;
    int note = before_space(text, from, before_notes(text, from, to));
    add(f, begin, from, true, false);
    add(f, from, note, false,
        f->last >= 0 && from == item && after_space(text, f->last, first) == first);
    add(f, note, end, true, false);
    if (from < to) f->last = to;
}

static void add_sentences(Finder *f, int begin, int end)
{
    int stop = next_stop(f, begin, end);
    for (int next = 0; begin < end; begin = next, next = 0) {
        for (int at; !next && (at = f->boundary < stop ? f->boundary : stop) < end;) {
            if (at > begin) next = next_sentence(f, begin, at, end);
            if (next) break;
            if (at == stop) stop = next_stop(f, stop, end);
            if (at == f->boundary) f->boundary = ubrk_next(f->out->tools->sentences);
            if (f->boundary == UBRK_DONE) f->boundary = INT_MAX;
        }
        if (!next) next = end;
        add_sentence(f, begin, next);
    }
}

/* The end of the cell at `begin`: a TAB, four blanks, a BREAK that is not in backquotes, or a bar in a row of a
 * table or between two blanks, but not in brackets or backquotes; or `end`. *next (=) where the next one begins. */
static int cell_end(Finder *f, int *next, int begin, int end, bool row)
{
    const char *text = f->text;
    bool inside = false, code = false;
    int at = begin;
    for (*next = end; at < end && text[at] != '\t'; at++) {
        bool dots = text[at] == '.' && at + 2 < end && memchr(text + at + 1, '.', 2);
        bool mark = !code && (text[at] == '<' || text[at] == '\\' || dots);
        if (mark && (*next = matched(f, BREAK, at, end)) > at) return at;
        if (end - at > 4 && !memcmp(text + at, "    ", 4)) break;
        if (text[at] == '`') inside = code = !code;
        else if (text[at] && strchr("([{", text[at])) inside = true;
        else if (text[at] && strchr(")]}", text[at])) inside = false;
        bool blanks = at > begin && text[at - 1] == ' ' && at + 1 < end && text[at + 1] == ' ';
        bool escaped = code && at > begin && text[at - 1] == '\\';  // `a \| b`
        if (text[at] == '|' && !escaped && (row || (blanks && !inside))) break;
    }
    *next = at + (at < end);
    return at;
}

/* A line without its end; each of its cells is a text of its own. */
static void add_line(Finder *f, int begin, int end)
{
    bool row = false, first = true;
    for (int line = begin, at = begin, next, stop; at < end; first = false) {
        for (begin = at; (next = matched(f, MARK, at, end)) > at; at = next)
            row |= first && f->text[at] == '|';
        add(f, begin, at, true, false);
        begin = at, stop = cell_end(f, &at, begin, end, row);
        stop -= begin < stop && stop == end && f->text[end - 1] == '\\';
        int key = before_space(f->text, line, begin);  // after its : or = or =>
        if (stop == end && key > line + 1 && end - begin > 2 &&
            strchr("=:", f->text[key - 1 - (f->text[key - 1] == '>')]) &&
            strchr("\"'", f->text[begin]) && f->text[end - 2] == f->text[begin] &&
            strchr(",;", f->text[end - 1]))
            stop--;  // "text",
        f->last = -1;
        add_sentences(f, begin, stop);
        add(f, stop, at, true, false);
    }
}

bool fence_next(Fence *f, const char *line, size_t length)
{
    char text[200];  // the first of its characters
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text),
             line);
    text[strcspn(text, "\r\n")] = 0;
    const char *mark = text + strspn(text, " \t>"), *rest = mark;
    bool quoted = memchr(text, '>', (size_t)(mark - text));
    while (*mark && *rest == *mark) rest++;
    const char *name = rest + strspn(rest, " \t"), *more = name + strcspn(name, " \t");
    int count = (int)(rest - mark);
    bool key = islower((unsigned char)*text) && text[strcspn(text, ": \t")] == ':';
    if (f->quoted > quoted || (++f->lines == 2 && f->mark == '-' && !key)) f->count = 0;
    if (f->count) {
        if (*mark == f->mark && count >= f->count && !*name && quoted == f->quoted)
            f->count = 0;
        return true;
    }
    bool header = f->lines == 1 && mark == text && *mark == '-' && count == 3 && !*name;
    bool code = count >= 3 && (*mark == '`' || (*mark == '~' && count == 3)) &&
                !strchr(name, '`') && (!more[strspn(more, " \t")] || strpbrk(name, "={"));
    if (header || code) *f = (Fence){count, f->lines, *mark, quoted};
    return header || code;
}

static void add_lines(Finder *f, int length)
{
    const struct SegmentTools *tools = f->out->tools;
    UText *text = utext_openUTF8(NULL, f->text, length, &f->status);
    ubrk_setUText(tools->sentences, text, &f->status);
    for (int i = 0; i < PATTERNS; i++) uregex_setUText(tools->expression[i], text, &f->status);
    Fence fence = {0};
    for (int at = 0, next; at < length && U_SUCCESS(f->status); at = next) {
        next = matched(f, LINE, at, length);
        int end = uregex_end(tools->expression[LINE], 1, &f->status);
        if (U_FAILURE(f->status)) break;
        if (fence_next(&fence, f->text + at, (size_t)(end - at))) add(f, at, end, true, false);
        else add_line(f, at, end);
        add(f, end, next, true, false);
    }
    utext_close(text);
}

static void tools_close(struct SegmentTools *tools)
{
    if (!tools) return;
    ubrk_close(tools->sentences);
    for (int i = 0; i < PATTERNS; i++) uregex_close(tools->expression[i]);
    strings_free(&tools->abbreviations);
    free(tools);
}

/* Reads those of this very language: ures_open would take that of the environment if it has none. */
static bool read_abbreviations(StringList *names, const char *language)
{
    UErrorCode status = U_ZERO_ERROR;
    UResourceBundle *bundle = ures_openDirect(U_ICUDATA_NAME "-brkitr", language, &status);
    UResourceBundle *list = ures_getByKey(bundle, "exceptions", NULL, &status);
    list = ures_getByKey(list, "SentenceBreak", list, &status);
    int count = U_SUCCESS(status) ? ures_getSize(list) : 0;
    bool good = true;
    for (int i = 0; good && i < count; i++) {
        char name[32];
        int size = sizeof name;
        status = U_ZERO_ERROR;
        ures_getUTF8StringByIndex(list, i, name, &size, true, &status);
        good = status != U_ZERO_ERROR || strings_add(names, name, NULL);
    }
    ures_close(list);
    ures_close(bundle);
    return good;
}

/* A process compiles the expressions once. A clone shares what is compiled. */
static void tools_open(Segments *out, const char *language, UErrorCode *status)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static URegularExpression *compiled[PATTERNS];
    char code[ULOC_LANG_CAPACITY] = "";
    if (language) uloc_getLanguage(language, code, sizeof code - 1, &(UErrorCode){0});
    if (out->tools && !strcmp(out->tools->language, code)) return;
    tools_close(out->tools);
    struct SegmentTools *tools = out->tools = calloc(1, sizeof *tools);
    if (tools) strcpy(tools->language, code);
    if (!tools || !read_abbreviations(&tools->abbreviations, code))
        *status = U_MEMORY_ALLOCATION_ERROR;
    if (U_FAILURE(*status)) return;
    tools->sentences = ubrk_open(UBRK_SENTENCE, code, NULL, 0, status);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PATTERNS; i++) {
        if (!compiled[i]) compiled[i] = uregex_openC(pattern[i], 0, NULL, status);
        tools->expression[i] = uregex_clone(compiled[i], status);
        uregex_useTransparentBounds(tools->expression[i], true, status);
    }
    pthread_mutex_unlock(&lock);
}

bool segments_find(Segments *segments, const char *text, size_t length, const char *language,
                   Error *error)
{
    Finder f = {.out = segments, .text = text};
    UChar32 c = 0;
    for (size_t at = 0; at < length && !f.capitals; f.capitals = u_isupper(c))
        U8_NEXT((const uint8_t *)text, at, length, c);
    segments->count = 0;
    if (length > INT_MAX) f.status = U_INDEX_OUTOFBOUNDS_ERROR;
    else tools_open(segments, language, &f.status);
    if (length && U_SUCCESS(f.status)) add_lines(&f, (int)length);
    if (U_SUCCESS(f.status)) return true;
    segments_free(segments);
    if (f.status == U_MEMORY_ALLOCATION_ERROR)
        return error_memory(error, "to find the sentences of a text");
    return error_set(error, "ICU cannot find sentences: %s", u_errorName(f.status));
}

void segments_free(Segments *segments)
{
    tools_close(segments->tools);
    free(segments->segment);
    *segments = (Segments){0};
}

/* ---- memory ---- */

static void (*on_no_memory)(void);

static void *retake(const void *context, void *block, size_t size)
{
    (void)context;
    if (!(block = realloc(block, size))) on_no_memory();
    return block;
}

static void *take(const void *context, size_t size)
{
    return retake(context, NULL, size);
}

static void give_back(const void *context, void *block)
{
    (void)context;
    free(block);
}

void segments_on_no_memory(void (*handler)(void))
{
    UErrorCode status = U_ZERO_ERROR;
    on_no_memory = handler;
    u_setMemoryFunctions(NULL, take, retake, give_back, &status);
}
