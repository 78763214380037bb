/* spans.c -- see spans.h.
 *
 * One regular expression finds all that is built in. It takes linear time, and a stack that does
 * not grow with the text: repetitions of more than one set of characters have a limit, and what
 * begins with a repetition begins at no place inside of it. ICU's \p{…} in a set takes 0.1 ms to
 * compile, a range none. */
#include "data/spans.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/options.h"
#include "data/text.h"

#include <pthread.h>
#include <unicode/uregex.h>

// Sets of characters, inside brackets: of words in scripts with case, of addresses, of numbers.
#define WORD "0-9A-Za-z_\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u0587\\u1E00-\\u1FFF"
#define ADDRESS                                                                                \
    "^\\s<>\"`{}|\\\\\\^\\[\\]«»“”„‟‘’‚‹›\\u060C\\u061B\\u061F\\u06D4"     \
    "\\u0964\\u0965\\u1361-\\u1368\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069"         \
    "\\u3001\\u3002\\u3008-\\u301F\\uFF01-\\uFF0F\\uFF1A-\\uFF20\\uFF3B-\\uFF3D\\uFF5B-"       \
    "\\uFF65"
#define STOP ".,;:!?'*_~"  // not at the end of an address
#define JOIN ".,:/⁄'’٫٬，．：／－\\u00A0\\u2009\\u202F–-"
#define GAP  "[ \\u00A0.-]"                   // in a telephone number
#define NAME "[" WORD "][" WORD "/\\\\~+-]*"  // of a file, between dots

// What follows https:// or the like. A parenthesis at its end belongs to one inside of it; brackets
// and braces are in pairs. Chinese, Japanese and Korean words follow it without a space: others than
// particles only a domain, since they may be part of a path.
#define PARTICLE                                                                               \
    "(?:を|から|まで|です|[にではがのへ][ご\\u30A0-\\u9FFF]"                     \
    "|(?:[을를에은는이가의로와과도]|에서|으로|까지|부터)(?:[\\s.,!?]|$))"
#define ADDRESS_REST                                                                           \
    "(?:[A-Za-z0-9.@-]{0,200}\\.[a-z]{2,12}(?=[\\u3041-\\u9FFF\\uAC00-\\uD7A3])"               \
    "|[A-Za-z0-9./?=&%#:@_~+-]{1,300}(?<=[A-Za-z0-9/])(?=" PARTICLE ")"                        \
    "|(?:[" ADDRESS "]{0,200}(?:\\[[" ADDRESS "]{0,99}\\]|\\{[\\w.$-]{1,99}\\})){0,20}"        \
    "(?:[" ADDRESS "]*\\([^()\\s]*\\)(?![" STOP "]*[" ADDRESS STOP "()])"                      \
    "|[" ADDRESS "]*[" ADDRESS STOP "()]|(?<=[\\]}])))"
#define LABEL "[^\\[\\]\\n]{0,200}"  // without brackets
#define LINK                                                                                   \
    "\\((?:<[^<>\\n]{0,300}>|[^()\\s]*)(?:\\([^()\\s]*\\)[^()\\s]*){0,5}"                      \
    "(?:\\s+(?:\"[^\"\\n]{0,300}\"|'[^'\\n]{0,300}'))?\\)"
#define VALUE "(?:\"[^\"<>]*\"|'[^'<>]*'|[^\\s\"'<>=`]+)"
#define HEX   "[0-9A-Fa-f]"
#define DOMAIN                                                                                 \
    "com|org|net|edu|gov|info|io|dev|app|eu|ch|de|nl|fr|uk|pl|cz|hu|ru|ua|jp|kr|cn|br|au|nz"
#define BBCODE "(?:url|img|quote|code|color|size|center|list|spoiler)"
#define SWITCH "(?:async|checked|controls|defer|disabled|hidden|readonly|required|selected)"

#define TAGGED                                                                                 \
    "[@#](?<![" WORD "&@#].)(?=\\w{0,30}(?![\\d_])\\w)(?>(?<=@)[" WORD                         \
    "]+|\\w+)(?:[@#][\\w.-]{0,80}\\w){0,9}"
#define NUMBERED                                                                               \
    "(?:#(?<![" WORD "&#].)|(?<!\\u00A7)\\u00A7{1,2}[ \\u00A0]?)[0-9](?:[0-9" JOIN             \
    "]*[0-9])?[a-z]?(?![" WORD "])"

// In any case, but not as in "Wait.Zip it".
#define EXTENSION                                                                              \
    "7z|apk|avi|bak|bib|bmp|bz2|cfg|conf|cpp|csv|css|dll|docx?|epub|exe|flac|gif|gz|html?|ico" \
    "|ini|iso|jar|java|jpe?g|jsonl?|js|log|md|mkv|mov|mp[34]|od[pst]|ogg|pdf|php|png|ppt|pptx" \
    "|psd|py|rar|rb|rs|rst|rtf|sh|sql|srt|svg|tar|tex|tgz|tiff?|tmp|toml|ts|tsv|ttf|txt|vtt"   \
    "|wav|webm|webp|xlsx?|xml|xz|ya?ml|zip"

enum { BRACKETS = 1, TAG, TICKS, EMOJI };  // the groups in parentheses

// clang-format off
static const char BUILTIN[] =
    "(?=[\\[\\]!<&`{$#%@:;\\\\\\u00A7]|=(?<!\\S.)|[0-9]</|'')(?:"
    "\\[\\[([^\\[\\]]+(?:\\[[^\\[\\]]{0,99}\\][^\\[\\]]*){0,20})\\]\\](?!\\()"  // [[marked]]
    "|(\\[(?:[0-9]{1,3}(?:[,–-] ?[0-9]{1,3}){1,9}|[0-9]{1,4}"
        "|\\[[0-9]{1,4}\\]|\\^[^\\[\\]\\s]{1,40})\\](?:" LINK ")?"  // [1] [2, 5–7] [^a] [[1]](b.md)
        "|\\[(?:/(?:[bius]|" BBCODE ")|[bius](?=\\][^\\[\\]\\n]{0,300}+\\[[/a-z])"
        "|" BBCODE "(?:=[^\\[\\]]{1,200})?|\\*)\\](?!\\()"           // [b] [/url] [*]
        "|!?\\[(?=" LABEL "(?:\\[" LABEL "\\]" LABEL "){0,2}\\](?:\\(|\\[" LABEL "\\]))"
        "|\\](?:" LINK "|\\[" LABEL "\\])"                        // [ and ](b.md "c") or ][b] of a link
        "|\\\\[nrt](?![a-z]{2,30}[{\\[])"                         // \n as two characters
        "|^(?:" NUMBERED "|" TAGGED "(?:\\s+" TAGGED "){0,9})(?=\\s+\\p{Lu})"  // at an edge
        "|" TAGGED "(?:\\s+" TAGGED "){1,9}\\s{0,9}$|<3+\\s{0,9}$"
        "|[;:](?<!\\S.)['’]?-?[()DPpO/|*]+(?=[\\s.,!?]|$)"         // :-)
        "|:(?<![\\w:].)(?:[+-]1|[a-z][a-z0-9_+-]{1,40}):(?::[a-z0-9_+-]{2,40}:){0,9}(?![\\w`])"  // :+1:
        "|<su[bp](?:\\s[^<>]{1,200})?>(?:<a\\s[^<>]{1,300}>)?[^<>\\s]{1,4}(?:</a>)?</su[bp]>"
        "|={2,6}(?=\\s|$)|(?<!')'{2,5}(?!')"            // == heading ==, '''bold''' of MediaWiki
        "|(?<!`)``(?=\\w[^`]{0,300}?'')"                        // ``quoted'' of TeX
        "|</?[0-9:.]{1,12}\\s?/?>"                                // <0>, </0>, <00:01:02.000>
        "|<(?:v|c|lang)(?:\\.[\\w.]{1,99})?(?: [^<>]{1,99})?>"    // of subtitles: <v Tom>
        "|\\{\\\\[^{}]{1,99}\\}"                                  // {\i1}
        "|</?[A-Za-z][" WORD ":.-]*"                                 // <tag>, </tag>, <tag/>
        "(?:\\s+(?:[A-Za-z_:@][" WORD ":.-]*\\s*=\\s*" VALUE "|" SWITCH ")){0,50}\\s*/?>"
        "|<!--[^<>]*-->|<[!?][A-Za-z][^<>]*>)"                    // <!-- comment -->, <?xml ?>
    "|<(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|mailto:|tel:|[@#]|[" WORD ".%+-]{1,64}@)[^\\s<>|]+>"
    "|" NUMBERED                                                  // #1, § 1
    "|[0-9](?<=>.)(?=</)"                                         // <b>1</b>
    "|&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"  // &amp; &#39; &#x27;
    "|(?<!`)(`{1,3})(?![`\\s])[^`]+(?<!\\s)\\3(?!`)"              // `code`, not `a' and `b'
    "|\\$(?:[A-Z_]+|\\{[A-Z_]+\\})/[" WORD "./@+~-]*[" WORD "/]"      // $HOME/bin ${X}/y
    "|[$#]?\\{\\{[^{}]+\\}\\}|\\{%[^{}]*%\\}|<%[^<>]{1,300}%>"    // {{x.y}} ${{ x }} {% if x %} <%= x %>
    "|[$#%]?\\{(?:[^{}\\n]|\\{[^{}\\n]{0,99}\\}){0,200}\\}(?:%(?![\\w%]))?"  // {name} ${X} {n, plural, one {#}}
    "|%(?![a-z]{1,2}x?%[a-z%])[A-Za-z_][" WORD "]{1,30}%"               // %name%, not %dx%d
    "|(?<![0-9])%(?:[0-9]{1,2}\\$)?[-+#0']{0,3}(?:[0-9]{1,4}|\\*)?(?:\\.(?:[0-9]{1,4}|\\*))?"
        "(?:hh?|ll?|[Lqjzt])?[diouxXeEfFgGaAcCsSpn@]"             // %s %1$d %-5.2f %@; not 100%d
    "|%[(<][\\w.]{1,99}[)>][-+#0-9.]{0,9}[A-Za-z]|%%|%L?[0-9]{1,2}"  // %(name)s %<name>s %% %1 %L1
    "|\\$\\$(?!\\s)[^$\\n]{1,300}(?<!\\s)\\$\\$"                  // $x^2$, not $5 and $6
    "|\\$(?<![\\w$\\\\].)(?:[^\\s$0-9{][^$\\n]{0,200}|[0-9][^\\s$]{0,60})(?<!\\s)\\$(?![\\w$])"
    "|\\$(?:[A-Za-z_][" WORD "]*|[0-9](?![\\w.,])|\\([\\w.-]{1,99}\\))"   // $name $1 $(name)
    "|\\\\(?:[A-Za-z]{2,30}(?=[{\\[])|[\"\\\\]|[%&#$](?:[0-9](?:[0-9.,]{0,16}[0-9])?)?)"  // \emph{…}, \%, \$5; \" as two characters
    "|" TAGGED                                                    // @user #tag @user@a.org
    "|(?<![^\\s\"'(]):[a-z_][" WORD "+-]{1,30}:?)"                     // :name

    "|((?:\\p{Emoji_Presentation}|[\\p{Extended_Pictographic}0-9#*](?=[\\uFE0F\\u200D\\u20E3"
        "\\p{Emoji_Modifier}]))[\\p{Emoji_Presentation}\\p{Extended_Pictographic}"
        "\\p{Emoji_Modifier}\\uFE0F\\u200D\\u20E3\\x{E0020}-\\x{E007F}]*)"

    "|(?<![" WORD "])(?:(?<![+-])(?=[" WORD "-][" WORD "%+-]{0,300}+[.:@/\\\\])(?:"
    "(?:(?<![.+-])[A-Za-z][A-Za-z0-9+.-]*://|www\\.)" ADDRESS_REST  // https://a.org/b?c www.a.org
    "|(?<![.%+-])[" WORD "][" WORD ".%+-]*@[" WORD "-]+(?:\\.[" WORD "-]+){1,8}"
    "|(?<![.@/\\\\~-])(?:[" WORD "-]+\\.){1,8}"                   // a.org a.example/b
        "(?:(?:" DOMAIN ")(?![" WORD "-]|\\.[" WORD "])(?:[:/]" ADDRESS_REST ")?"
        "|[a-z]{2,12}/" ADDRESS_REST ")"
    "|(?<![./\\\\~@+-])" NAME "(?:\\." NAME "){1,8}"              // report.pdf src/main.c
        "(?<=\\.(?i:" EXTENSION ")|[" WORD "]{2}\\.[ch])(?<!\\.[A-Z][a-z]{1,4})(?![" WORD "])"
    "|[A-Za-z]:\\\\[^\\s<>\"|?*:]*[" WORD "\\\\])"                // C:\dir\x
    "|(?=[0-9(+-]|[A-Z]{2}[0-9]{2} )(?:"
    "[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{2,4}(?:T|,? )"           // 2024-01-31, 10:30:00Z
        "[0-9]{1,2}:[0-9:.,+–-]{0,40}[0-9](?:Z| [+-][0-9]{4})?"
    "|[0-9]{1,2}h[0-9]{2}"                                        // 12h30
    "|\\+(?=(?:[ \\u00A0().-]{0,2}[0-9]){7})[0-9]{1,3}(?:" GAP "[0-9](?=" GAP "))?"
        "(?:(?:" GAP "?\\([0-9]{1,4}\\)" GAP "?|" GAP ")[0-9]{2,12}){1,8}(?:-[0-9])?"  // +44 (0)7700 900123
    "|(?:0|\\(0\\) ?)(?=(?:[ -]?[0-9]){6})[0-9]{1,4}(?: [0-9]{2,8}(?:-[0-9]{1,8})?){1,5}"  // 030 123456-7
    "|\\([0-9]{3}\\) ?[0-9]{3}-[0-9]{4}"                       // (555) 123-4567
    "|(?:[A-Z]{2}[0-9]{2} [0-9A-Z]{4}|[0-9]{4} [0-9]{4})"         // an IBAN, a card
        "(?: [0-9]{4}){2,6}(?: [0-9][0-9A-Z]{3})?(?: [0-9]{1,3})?"
    "|-?[0-9]{1,3}\\.[0-9]{4,9},? -?[0-9]{1,3}\\.[0-9]{4,9}"      // 48.8566, 2.3522
    "|(?:[0-9]{1,3}° ?)?[0-9]{1,2}['’′] ?[0-9]{1,2}(?:[.,][0-9]{1,6})?[\"”″](?: ?[NSEWO])?"  // 5'10" 48°51'24"N
    "|[0-9]{1,3}° ?[0-9]{1,2}(?:[.,][0-9]{1,6})?['’′](?: ?[NSEWO])?"
    "|[0-9]{1,4}[a-z]?(?:\\((?:[0-9]{1,3}|[a-z]|[ivx]{2,5})\\)){1,4}"  // Art. 5(2)(a)
    ")(?![" WORD "])"
    "|(?=[A-Za-z:+-]{0,20}[0-9])(?=[0-9:-]{0,20}[A-Za-z])(?:"
    HEX "{8}(?:-" HEX "{4}){3}-" HEX "{12}"                       // a UUID
    "|" HEX "{1,4}(?:(?:::?" HEX "{1,4}){2,7}|::" HEX "{1,4})(?:/[0-9]{1,3})?"  // 00:1a:2b:3c:4d:5e fe80::1
    "|[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}(?![" WORD "])"     // SW1A 2AA
    // F-16 UTC+2 UTF-8 H2O x86_64 ISO-8859-1 1e10 0xFF 3D; not 5pm, 1990s, under-18
    "|(?:[A-Z]{1,16}[-+]?[0-9]|[A-Za-z]{1,16}_?[0-9]|[0-9]{1,16}[A-Za-z]{1,16}[0-9]|0x" HEX
        "|[0-9]{1,16}[A-RT-Za-c](?![A-Za-z]))[0-9A-Za-z]*"
        "(?:[-_:./](?=[A-Za-z]{0,16}[0-9])[0-9A-Za-z]+"
        "|-[a-z]{1,6}\\.[0-9]+|[-_][A-Z]{1,16}){0,20})(?![" WORD "])"
    "|(?:[kcmd]?m|[A-Z][a-z]?|[a-z])(?:(?:<su[bp]>[^<>\\s]{1,4}</su[bp]>|\\{q+[0-9]+\\})"  // m<sup>2</sup>
        "[A-Z]?[a-z]?){1,5}(?![" WORD "])"
    "|[A-Za-z][A-Za-z0-9]{0,40}(?:\\\\?_{1,2}[A-Za-z0-9]{1,40}){1,10}(?:\\(\\))?(?![" WORD "])"
    "|[A-Za-z][" WORD ".]{0,80}\\(\\)|(?:[A-Z]\\+\\+(?:[0-9]{2})?|[CF]#)(?![" WORD "])"  // max_size main() C++
    // -1,000.50 .5 1.5e-3 1.0-rc.1 -5 10:30 3/4 v1.2 $25 US$5 10% 25°C 1 000 000; not 21st, nor inside of 3.14
    "|(?=[A-Zv+\\-−±\\p{Sc}.\\d])(?<!\\d[" JOIN "]?(?![A-Z]{0,3}\\p{Sc}))v?(?:(?<![\\u0590-\\u139F\\uAC00-\\uD7A3])[+\\-−±])?"
        "(?:(?:[A-Z]{1,3})?\\p{Sc}(?:[\\u00A0\\u202F]|(?<!\\d .) )?)?"
        "(?:\\d[\\d.,]{0,16}[eE^][+\\-−]?\\d+"
        "|\\d[\\d.,]{0,16}(?:(?:[x×+*÷=]|[ \\u00A0][x×+*÷=−][ \\u00A0])\\d[\\d.,]{0,16}(?<=\\d)){1,9}"
        "|\\d[\\d–-]{0,9}[ \\u00A0\\u2009\\u202F]?[¼-¾⅐-⅞](?:[–-]\\d{1,9}[¼-¾⅐-⅞]?)?|\\d{1,2} \\d{1,2}[/⁄]\\d{1,2}"  // 1½, 1 1/2
        "|\\d{1,3}(?: \\d{3}){1,6}(?:[.,]\\d+)?|\\d[\\d_" JOIN "]*\\d"
        "|(?<=\\p{Sc}(?:[\\u00A0\\u202F]|(?<!\\d .) )?)\\d|\\d(?=\\\\%|[.,/][-–—](?:[\\s.,;:!?)]|$)|[ \\u00A0\\u202F]?[%％‰٪°℃℉\\p{Sc}])"
        "|(?<=(?:^|[\\s(])[+\\-−±])\\d|\\.(?<=(?:^|[\\s(=<>~+\\-−±\\p{Sc}]).)\\d+)"
        "(?![" JOIN "]?\\d)(?!(?i:st|nd|rd|th|e|de|ste|ème|eme|º|ª)(?![" WORD "]))"
        "(?:[-+]?[a-z]{1,6}\\.?\\d+){0,3}[\\u00B2\\u00B3\\u00B9\\u2070-\\u207B]{0,5}"
        "(?:[\\u00A0\\u202F]?(?:%{1,2}|[％‰٪℃℉\\p{Sc}]| ?°(?:[CF](?![" WORD "]))?"
        "|(?:[kKMB]|(?<=\\p{Sc}[\\d.,]{1,16})(?:m|[bm]n))(?![" WORD "])"
        "|[.,/][-–—](?=[\\s.,;:!?)]|$)))?)"  // 25.- 500/-

    // /usr/bin/env ~/x ./x ../x
    "|(?=[/~.])(?<![" WORD "./~)\\]>-])(?:~/|\\.\\.?/|/[" WORD ".@+-]+/)[" WORD "./@+~-]*[" WORD "/]";
// clang-format on

typedef struct Rule {
    URegularExpression *regex;
    const char *source;
} Rule;

enum { LISTS = 4096 };

struct SpanRules {
    Rule *rule;  // [count] the built-in one, then the user's
    int count;
    StringList terms;  // lines of term TAB translation, the longest term first
    int *next;         // [terms + 1] the next term of the same list, from 1; 0: none
    int first[LISTS];  // of terms that begin with the same two letters
};

/* Returns false and says in ICU's words what is wrong: "rule syntax" of U_REGEX_RULE_SYNTAX. */
static bool regex_error(const char *source, UErrorCode status, Error *error)
{
    char reason[64] = "";
    const char *name = strchr(u_errorName(status) + 2, '_');
    for (int i = 0; i < 63 && name && name[i + 1]; i++)
        reason[i] = name[i + 1] == '_' ? ' ' : (char)(name[i + 1] | 0x20);
    if (status == U_MEMORY_ALLOCATION_ERROR) return error_memory(error, "for spans");
    return error_set(error, "`protect` cannot use the regular expression '%s': %s", source,
                     reason);
}

static bool add_regex(SpanRules *rules, const char *source, Error *error)
{
    UErrorCode status = U_ZERO_ERROR;
    UText *text = utext_openUTF8(NULL, source, -1, &status);
    rules->rule[rules->count++] = (Rule){uregex_openUText(text, 0, NULL, &status), source};
    utext_close(text);
    return U_SUCCESS(status) || regex_error(source, status, error);
}

/* A process compiles the built-in expression once, which takes 20 ms. All rules share it. */
static bool add_builtin(SpanRules *rules, Error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static Rule builtin;
    SpanRules first = {.rule = &builtin};
    pthread_mutex_lock(&lock);
    bool good = builtin.regex || add_regex(&first, BUILTIN, error);
    pthread_mutex_unlock(&lock);
    if (good) rules->rule[rules->count++] = builtin;
    return good;
}

static int longest_first(const void *left, const void *right)
{
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    size_t m = strcspn(a, "\t"), n = strcspn(b, "\t");
    return m == n ? memcmp(a, b, m) : m < n ? 1 : -1;
}

/* Leaves out the spaces around a text. */
static void trim(const char **text, size_t *length)
{
    for (; *length && **text == ' '; ++*text) --*length;
    while (*length && (*text)[*length - 1] == ' ') --*length;
}

static bool read_terms(StringList *terms, TextReader *reader, Error *error)
{
    const char *line, *target;
    size_t length, target_length;
    TextResult result;
    reader->strict = true;
    while ((result = text_next(reader, &line, &length, error)) == TEXT_LINE) {
        if (text_is_blank(line, length)) continue;
        bool both = text_columns(line, &length, "\t", &target, &target_length);
        trim(&line, &length), trim(&target, &target_length);
        if (!both || !length)
            return error_set(error, "%s:%zu: this is no term, TAB and translation",
                             reader->name, reader->line);
        char *term = NULL;
        if (asprintf(&term, "%.*s\t%.*s", (int)length, line, (int)target_length, target) < 0)
            return error_memory(error, "for the terms");
        bool good = strings_add(terms, term, error);
        free(term);
        if (!good) return false;
    }
    if (terms->count)
        qsort(terms->item, (size_t)terms->count, sizeof *terms->item, longest_first);
    for (int i = 1; i < terms->count; i++)
        if (!longest_first(&terms->item[i - 1], &terms->item[i]))
            return error_set(error, "%s: '%.*s' has two translations", reader->name,
                             (int)strcspn(terms->item[i], "\t"), terms->item[i]);
    return result == TEXT_END;
}

/* The list of the terms that begin with these letters, small or capital. */
static size_t list_of(const char *text, size_t length, int letters)
{
    size_t hash = 0;
    for (size_t i = 0; i < length && letters > 0; letters--) {
        UChar32 c;
        U8_NEXT(text, i, length, c);
        c = u_foldCase(c, U_FOLD_CASE_DEFAULT);
        if (c == 0x130 || c == 0x131) c = 'i';  // İ and ı
        hash = hash * 61 + (size_t)c;
    }
    return hash % LISTS;
}

static bool list_terms(SpanRules *rules, Error *error)
{
    rules->next = calloc((size_t)rules->terms.count + 1, sizeof *rules->next);
    if (!rules->next) return error_memory(error, "for the terms");
    for (int k = rules->terms.count; k > 0; k--) {
        const char *term = rules->terms.item[k - 1];
        int *first = &rules->first[list_of(term, strcspn(term, "\t"), 2)];
        rules->next[k] = *first, *first = k;
    }
    return true;
}

SpanRules *spanrules_open(char *const *regex, int count, const char *terms, Error *error)
{
    SpanRules *rules = calloc(1, sizeof *rules);
    TextReader reader = {.descriptor = -1};
    bool good = rules && (rules->rule = calloc((size_t)count + 1, sizeof *rules->rule));
    if (!good) error_memory(error, "for spans");
    good = good && add_builtin(rules, error);
    for (int i = 0; good && i < count; i++) good = add_regex(rules, regex[i], error);
    if (good && terms)
        good = text_open(&reader, terms, error) && read_terms(&rules->terms, &reader, error) &&
               list_terms(rules, error);
    text_close(&reader);
    return good ? rules : (spanrules_free(rules), NULL);
}

void spanrules_free(SpanRules *rules)
{
    if (!rules) return;
    for (int i = 1; i < rules->count; i++) uregex_close(rules->rule[i].regex);
    strings_free(&rules->terms);
    free(rules->next);
    free(rules->rule);
    free(rules);
}

/* ---- what may be a span ---- */

typedef struct Finder {
    Spans *spans;
    const char *text;
    size_t length;
    Error *error;
} Finder;

bool spans_add(Spans *spans, Span span, Error *error)
{
    if (!GROW(spans->span, spans->size, (size_t)spans->count + 1))
        return error_memory(error, "for spans");
    spans->span[spans->count++] = span;
    return true;
}

static bool add(Finder *f, Span span)
{
    return span.begin == span.end || spans_add(f->spans, span, f->error);
}

/* Whether the built-in expression finds nothing: no span is without these characters. Most sentences
 * are, and the expression takes 1 to 2 µs a byte. */
static bool is_plain(const Finder *f)
{
    for (size_t i = 0; i < f->length; i++) {
        unsigned char c = (unsigned char)f->text[i];
        bool joins = (c == '.' || c == ':') && i + 1 < f->length;
        char last = i ? f->text[i - 1] : ' ';
        bool closes = (strchr("()", c) && strchr("(:;-'", last)) ||
                      (strchr("='", c) && last == c) ||
                      (c == '+' && isupper((unsigned char)last));
        if (c >= 0xD9 || (c >= '0' && c <= '9') || strchr("[<&`{%@/\\$#_", c) || closes ||
            (joins && (unsigned char)f->text[i + 1] >= '0'))
            return false;
    }
    return true;
}

/* Called every 10,000 steps, each of which may be long where the expression has references. */
static UBool in_time(const void *end, int32_t steps)
{
    (void)steps;
    return clock_seconds() < *(const double *)end;
}

/* A clone is this thread's own. It has limits of steps, of time and of memory. */
static bool find_regex(Finder *f, const Rule *rule, bool builtin)
{
    UErrorCode status = U_ZERO_ERROR;
    URegularExpression *regex = uregex_clone(rule->regex, &status);
    UText *text = utext_openUTF8(NULL, f->text, (int64_t)f->length, &status);
    uregex_setTimeLimit(regex, builtin ? 0 : 1000 + (int32_t)(f->length / 500), &status);
    double end_of_time = clock_seconds() + 10;
    if (!builtin) uregex_setMatchCallback(regex, in_time, &end_of_time, &status);
    uregex_setStackLimit(regex, 1 << 23, &status);
    uregex_setUText(regex, text, &status);
    bool good = true;
    while (good && uregex_findNext(regex, &status)) {
        Span span = {.begin = (size_t)uregex_start64(regex, 0, &status),
                     .end = (size_t)uregex_end64(regex, 0, &status)};
        span.mark = builtin && (uregex_start64(regex, TAG, &status) >= 0 ||
                                uregex_start64(regex, EMOJI, &status) >= 0);
        if (builtin && uregex_start64(regex, BRACKETS, &status) >= 0)
            span.replacement = f->text + span.begin + 2,
            span.length = span.end - span.begin - 4;
        good = add(f, span);
    }
    if (status == U_REGEX_STOPPED_BY_CALLER) status = U_REGEX_TIME_OUT;
    if (U_FAILURE(status)) good = regex_error(rule->source, status, f->error);
    uregex_close(regex);
    utext_close(text);
    return good;
}

/* The character that begins at text[i], and the one before it; 0 if there is none. */
static UChar32 after(const Finder *f, size_t i)
{
    UChar32 c = 0;
    if (i < f->length) U8_NEXT(f->text, i, f->length, c);
    return c;
}

static UChar32 before(const Finder *f, size_t i)
{
    UChar32 c = 0;
    if (i) U8_PREV_UNSAFE(f->text, i, c);
    return c;
}

/* Whether it is part of a word, in scripts with spaces between words. */
static bool in_word(UChar32 code)
{
    int class = u_getIntPropertyValue(code, UCHAR_LINE_BREAK);
    return (U_GET_GC_MASK(code) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_ND_MASK)) &&
           (class == U_LB_ALPHABETIC || class == U_LB_NUMERIC || class == U_LB_HEBREW_LETTER ||
            class == U_LB_COMBINING_MARK);
}

/* Whether it is the ₂ of H₂O or the ² of km²: after a capital, or after two letters at most. */
static bool is_index(const Finder *f, size_t i, UChar32 code)
{
    int type = u_getIntPropertyValue(code, UCHAR_DECOMPOSITION_TYPE);
    size_t word = i;
    while (i - word <= 2 && u_isalpha(before(f, word))) U8_BACK_1_UNSAFE(f->text, word);
    return (type == U_DT_SUPER || type == U_DT_SUB) && word < i &&
           (i - word <= 2 || u_isupper(before(f, i)));
}

static bool is_boundary(const Finder *f, size_t i)
{
    return !in_word(before(f, i)) || !in_word(after(f, i));
}

/* Whether c is a capital of a small letter, in Turkish (İ of i, I of ı) or elsewhere; also Σ of ς. */
static bool is_capital_of(UChar32 c, UChar32 small)
{
    static const uint32_t fold[] = {U_FOLD_CASE_DEFAULT, U_FOLD_CASE_EXCLUDE_SPECIAL_I};
    return !u_islower(c) && u_islower(small) &&
           (u_foldCase(c, fold[0]) == u_foldCase(small, fold[0]) ||
            u_foldCase(c, fold[1]) == u_foldCase(small, fold[1]));
}

/* The end of a term at text[i], or 0. Its small letters are found as capitals, too. *written (=) the
 * case of what was found. */
static size_t term_end(const Finder *f, size_t i, const char *term, size_t length,
                       LetterCase *written)
{
    int letters = 0, small = 0, raised = 0;
    UChar32 c, wanted;
    bool first = false;
    for (size_t k = 0; k < length;) {
        if (i >= f->length) return 0;
        U8_NEXT(f->text, i, f->length, c);
        U8_NEXT(term, k, length, wanted);
        if (c != wanted && !is_capital_of(c, wanted)) return 0;
        first |= !letters && c != wanted;
        letters += u_isalpha(c), small += u_islower(wanted), raised += c != wanted;
    }
    bool upper = raised > 1 && raised == small;
    *written = upper ? CASE_UPPER : first ? CASE_TITLE : CASE_SENTENCE;
    return i;
}

/* A term of one letter comes after those of more. */
static bool find_terms(Finder *f, const SpanRules *rules)
{
    for (size_t i = 0; rules->terms.count && i < f->length; i++) {
        bool found = U8_IS_TRAIL(f->text[i]) || !is_boundary(f, i);
        for (int letters = 2; letters > 0 && !found; letters--) {
            int k = rules->first[list_of(f->text + i, f->length - i, letters)];
            for (; k && !found; k = rules->next[k]) {
                const char *term = rules->terms.item[k - 1], *target = strchr(term, '\t') + 1;
                Span span = {
                    .begin = i, .replacement = target, .length = strcspn(target, "\t")};
                span.end = term_end(f, i, term, (size_t)(target - 1 - term), &span.written);
                found = span.end && is_boundary(f, span.end);
                if (found && !add(f, span)) return false;
            }
        }
    }
    return true;
}

/* Adds a run of unknown characters. It is a mark unless there are letters in it or on both sides. */
static bool add_run(Finder *f, Span run)
{
    run.mark &= !u_isalnum(before(f, run.begin)) || !u_isalnum(after(f, run.end));
    return add(f, run);
}

/* Runs of unknown characters between the spans that were found, with the letters beside an unknown
 * letter, "Dvořák", and the next word of them: "Łódź-Bałuty". */
static bool find_unknown(Finder *f, Known *known, const void *context)
{
    Span run = {.mark = true};
    int next = 0, others = f->spans->count;
    for (size_t i = 0, end; i < f->length; i = end) {
        while (next < others && f->spans->span[next].begin < i) next++;
        if (next < others && f->spans->span[next].begin == i) {
            end = f->spans->span[next].end;
            if (!add_run(f, run)) return false;
            run = (Span){.begin = end, .end = end, .mark = true};
            continue;
        }
        size_t begin = i, count = text_cluster(f->text + i, f->length - i);
        UChar32 code = after(f, i);
        char *clean = NULL;
        end = i + count;
        if (text_is_known(f->text + i, count, known, context)) continue;
        if (!text_cleaned(&clean, f->text + i, count, known, context, f->error)) return false;
        bool good = text_is_known(clean, strlen(clean), known, context);
        free(clean);
        if (good) continue;
        bool part = in_word(code) || is_index(f, begin, code);
        if (part) {
            while (begin > run.end && in_word(before(f, begin)))
                U8_BACK_1_UNSAFE(f->text, begin);
            while (in_word(after(f, end))) U8_FWD_1_UNSAFE(f->text, end);
        }
        bool joined = !run.mark && begin == run.end + 1 && strchr(" -'", f->text[run.end]) &&
                      in_word(before(f, run.end)) && in_word(code);
        if (begin > run.end && !joined) {
            if (!add_run(f, run)) return false;
            run = (Span){.begin = begin, .mark = true};
        }
        run.end = end;
        run.mark &= !part && !u_isalnum(code);
    }
    return add_run(f, run);
}

/* ---- which of them are ---- */

static int earliest_then_longest(const void *left, const void *right)
{
    const Span *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return !a->replacement - !b->replacement;
}

/* Whether {a}{b}, {a}/{b} or $5–$10 is one span. */
static bool are_joined(const char *text, const Span *left, const Span *right)
{
    bool joined = !left->mark && !right->mark && !left->replacement && !right->replacement;
    for (size_t i = left->end; joined && i < right->begin; i++)
        joined = strchr("-–/:.,@=+_~|&#x", text[i]);
    return joined;
}

/* Takes in the brackets or quotation marks around a span: "({name})", "'%s'". */
static void widen(Span *span, const char *text, size_t from, size_t length)
{
    static const char OPENING[] = "([\"'", CLOSING[] = ")]\"'";
    bool fixed = span->mark || span->replacement;
    while (!fixed && span->begin > from && span->end < length) {
        const char *opening = strchr(OPENING, text[span->begin - 1]);
        if (!opening || CLOSING[opening - OPENING] != text[span->end]) break;
        span->begin--, span->end++;
    }
}

static void select_spans(Finder *f)
{
    Span *span = f->spans->span;
    int kept = 0, count = f->spans->count;
    if (count) qsort(span, (size_t)count, sizeof *span, earliest_then_longest);
    for (int i = 0; i < count; i++) {
        size_t end = kept ? span[kept - 1].end : 0;
        if (span[i].begin < end) continue;
        span[kept] = span[i];
        widen(&span[kept], f->text, end, f->length);
        for (; kept && are_joined(f->text, &span[kept - 1], &span[kept]); kept--) {
            span[kept - 1].end = span[kept].end;
            widen(&span[kept - 1], f->text, kept > 1 ? span[kept - 2].end : 0, f->length);
        }
        kept++;
    }
    f->spans->count = kept;
}

static bool is_blank(const Finder *f, size_t i, size_t end)
{
    while (i < end && u_isUWhiteSpace(after(f, i))) U8_FWD_1_UNSAFE(f->text, i);
    return i == end;
}

/* Whether it is <b>, </b>, [ or ](a.md), or emphasis: **, _ or ~~. */
static bool is_half(const Finder *f, const Span *span)
{
    char first = f->text[span->begin];
    return span->mark &&
           (strchr("<]*_~'", first) ||
            (first == '[' && !strchr("0123456789[^*", f->text[span->begin + 1])) ||
            f->text[span->end - 1] == '[');
}

/* Marks at the beginning and end are outer, but halves of pairs only if none is inside. */
static void find_outer(Finder *f)
{
    Span *span = f->spans->span;
    int count = f->spans->count, first = 0, last = count;
    size_t begin = 0, end = f->length;
    bool halves = false;
    while (first < count && span[first].mark && is_blank(f, begin, span[first].begin))
        begin = span[first++].end;
    while (last > first && span[last - 1].mark && is_blank(f, span[last - 1].end, end))
        end = span[--last].begin;
    for (int i = first; i < last; i++) halves |= is_half(f, &span[i]);
    for (int i = 0; halves && i < first; i++)
        if (is_half(f, &span[i])) first = i;
    for (int i = count; halves && i > last; i--)
        if (is_half(f, &span[i - 1])) last = i;
    for (int i = 0; i < count; i++) span[i].outer = i < first || i >= last;
}

void spans_free(Spans *spans)
{
    free(spans->span);
    *spans = (Spans){0};
}

char *span_text(const Span *span, const char *text)
{
    if (!span->replacement) return strndup(text + span->begin, span->end - span->begin);
    char *plain = strndup(span->replacement, span->length), *cased, *whole = NULL;
    if (!plain || span->written == CASE_SENTENCE) return plain;
    size_t length = span->written == CASE_UPPER ? span->length : strcspn(plain, " ");
    if (text_in_case(&cased, plain, length, span->written, "", NULL)) {
        if (asprintf(&whole, "%s%s", cased, plain + length) < 0) whole = NULL;
        free(cased);
    }
    free(plain);
    return whole;
}

bool spans_find(Spans *spans, const SpanRules *rules, const char *text, size_t length,
                Known *known, const void *context, Error *error)
{
    Finder f = {spans, text, length, error};
    bool good = true;
    spans->count = 0;
    for (int i = is_plain(&f); good && i < rules->count; i++)
        good = find_regex(&f, &rules->rule[i], !i);
    good = good && find_terms(&f, rules);
    if (good && known) {
        select_spans(&f);
        good = find_unknown(&f, known, context);
    }
    if (!good) spans->count = 0;
    select_spans(&f);
    find_outer(&f);
    return good;
}
