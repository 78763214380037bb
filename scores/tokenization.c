/* tokenization.c -- the rules of mteval-v13a and mteval-v14 as regular expressions, and those for
 * Chinese; Japanese and Korean by MeCab.
 *
 * Source: NIST's mteval-v13a.pl and mteval-v14.pl (in Moses, scripts/generic), the first with
 * its default language-dependent part, the second with --international-tokenization; and Post
 * 2018 (arXiv 1804.08771), whose sacrebleu made both the reference and whose order of steps
 * this is.
 *
 * First, in all of them, white space at the end is removed. It decides a case in `intl`: a rule
 * about a neighbour does not match without one, so in "in 2010." the period stays with the
 * year. 13a adds a space at both ends, so that every character has neighbours.
 *
 * zh is sacrebleu's: its table of Chinese characters has five digits where Python reads four, so that
 * it holds U+2001 to U+2A6D (general punctuation and symbols), and nothing past U+FFFF.
 *
 * Each rule goes over the whole text, from left to right, before the next one begins. It does
 * not test the characters of a match again. This makes a difference in runs like "1,.2", so the
 * rules are not merged.
 *
 * MeCab (Kudo, Yamamoto and Matsumoto 2004, W04-3230) is loaded when it is needed, and stays. Scores
 * depend on the dictionary, so it must be the one that sacrebleu takes: IPADIC 2.7.0 or mecab-ko-dic
 * 2.1.1, known by their numbers of words. Debian's IPADIC has one word more. */
#include "scores/tokenization.h"

#include <dlfcn.h>
#include <strings.h>
#include <unicode/uregex.h>
#include <unicode/ustring.h>

typedef struct Rule {
    const char *pattern, *replacement;
} Rule;

enum { RULES = 12 };

/* What 13a and zh split: ASCII punctuation except ' , - . and what stands beside digits: "3.5" stays,
 * "5." is split. */
// clang-format off
#define PUNCTUATION {"([!-&(-+/:-@\\[-`{-~])", " $1 "}
#define POINTS {"([^0-9])([.,])", "$1 $2 "}, {"([.,])([^0-9])", " $1 $2"}, {"([0-9])(-)", "$1 $2 "}

static const Rule rules[][RULES + 1] = {
    [TOKENIZATION_13A] = {
        {"<skipped>", ""},
        {"-\n", ""},  // a word that goes on in the next line
        {"\n", " "},
        {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"},  // &amp;lt; becomes <
        {"\\A|\\z", " "},
        PUNCTUATION, POINTS,
    },
    [TOKENIZATION_CHAR] = {{"([^ ])", " $1 "}},
    [TOKENIZATION_INTL] = {
        {"(\\P{N})(\\p{P})", "$1 $2 "},
        {"(\\p{P})(\\P{N})", " $1 $2"},
        {"(\\p{S})", " $1 "},
    },
    [TOKENIZATION_ZH] = {
        {"([\\u2001-\\u2a6d\\u2e80-\\u2fdf\\u2ff0-\\u303f\\u3100-\\u312f\\u31a0-\\u31ef\\u3200-\\u4db5\\u4e00-\\u9fbb"
         "\\uf900-\\ufa2d\\ufa30-\\ufa6a\\ufa70-\\ufad9\\ufe10-\\ufe1f\\ufe30-\\ufe4f\\uff00-\\uffef])", " $1 "},
        PUNCTUATION, POINTS,
    },
    [TOKENIZATION_SPM] = {{0}},
};
// clang-format on

/* Each rule, from its first use on, as that takes long. */
static URegularExpression *compiled_rules[sizeof rules / sizeof *rules][RULES + 1];

const char *const tokenization_names[] = {"13a",      "none",     "char", "intl", "zh",
                                          "ja-mecab", "ko-mecab", "spm",  NULL};

bool tokenization_needs_spaces(Tokenization tokenization)
{
    return tokenization == TOKENIZATION_13A || tokenization == TOKENIZATION_NONE ||
           tokenization == TOKENIZATION_INTL;
}

/* ---- MeCab ---- */

/* As in mecab.h of MeCab 0.996. */
typedef struct DictionaryInfo {
    const char *filename, *charset;
    unsigned size;  // words
    int type;
    unsigned left_size, right_size;
    unsigned short version;
    const struct DictionaryInfo *next;
} DictionaryInfo;

static struct Mecab {
    void *library;
    void *(*open)(const char *arguments);
    void (*close)(void *tagger);
    const char *(*parse)(void *tagger, const char *text, size_t length);
    const DictionaryInfo *(*dictionary)(void *tagger);
    const char *(*version)(void);
    void *tagger[2];  // of Japanese, of Korean
} mecab;

// clang-format off
static const struct {
    unsigned words;
    const char *name, *what, *folder[4];  // NULL: the one that MeCab is set to
} dictionaries[] = {
    {392126, "IPA", "the dictionary IPADIC in UTF-8 (mecab-ipadic-utf8)",
     {NULL, "/var/lib/mecab/dic/ipadic-utf8", "/usr/share/mecab/dic/ipadic",
      "/usr/lib/mecab/dic/ipadic"}},
    {811795, "KO", "MeCab-ko's dictionary mecab-ko-dic",
     {NULL, "/usr/local/lib/mecab/dic/mecab-ko-dic", "/usr/lib/mecab/dic/mecab-ko-dic",
      "/var/lib/mecab/dic/mecab-ko-dic"}},
};
// clang-format on

static bool load(void)
{
    if (mecab.library) return true;
    void *library = dlopen("libmecab.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    *(void **)&mecab.open = dlsym(library, "mecab_new2");
    *(void **)&mecab.close = dlsym(library, "mecab_destroy");
    *(void **)&mecab.parse = dlsym(library, "mecab_sparse_tostr2");
    *(void **)&mecab.dictionary = dlsym(library, "mecab_dictionary_info");
    *(void **)&mecab.version = dlsym(library, "mecab_version");
    bool good = mecab.open && mecab.close && mecab.parse && mecab.dictionary && mecab.version;
    if (good) mecab.library = library;
    else dlclose(library);
    return good;
}

static void *open_tagger(bool korean)
{
    char arguments[256];
    enum { PLACES = sizeof dictionaries->folder / sizeof *dictionaries->folder };
    for (int i = 0; !mecab.tagger[korean] && i < PLACES; i++) {
        const char *folder = dictionaries[korean].folder[i];
        snprintf(arguments, sizeof arguments, "-Owakati%s%s", folder ? " -d " : "",
                 folder ? folder : "");
        void *tagger = mecab.open(arguments);
        const DictionaryInfo *info = tagger ? mecab.dictionary(tagger) : NULL;
        if (info && info->size - dictionaries[korean].words <= 1 && !info->next &&
            (!strcasecmp(info->charset, "utf-8") || !strcasecmp(info->charset, "utf8")))
            mecab.tagger[korean] = tagger;
        else if (tagger) mecab.close(tagger);
    }
    return mecab.tagger[korean];
}

static char *mecab_split(const char *text, bool korean, Error *error)
{
    if (!load() || !open_tagger(korean))
        return error_set(error, "words need %s and %s: install them, or score characters",
                         "MeCab (libmecab.so.2)", dictionaries[korean].what),
               NULL;
    const char *words = mecab.parse(mecab.tagger[korean], text, strlen(text));
    if (!words) return error_set(error, "MeCab cannot read a sentence"), NULL;
    char *copy = strdup(words);
    if (!copy) error_memory(error, "for the words of a sentence");
    return copy;
}

/* ---- all of them ---- */

static bool by_mecab(Tokenization tokenization)
{
    return tokenization == TOKENIZATION_JA_MECAB || tokenization == TOKENIZATION_KO_MECAB;
}

void tokenization_signature(Tokenization tokenization, char *text, size_t size)
{
    int end = snprintf(text, size, "%s", tokenization_names[tokenization]);
    if (by_mecab(tokenization) && load())
        snprintf(text + end, size - (size_t)end, "-%s-%s", mecab.version(),
                 dictionaries[tokenization == TOKENIZATION_KO_MECAB].name);
}

/* Returns text [*length] with all matches of a rule replaced, for free(), and frees the text. */
static UChar *apply(const Rule *rule, URegularExpression **compiled, UChar *text, int *length,
                    UErrorCode *status)
{
    UChar replacement[8];
    int size = 3 * *length + 2;  // at most 3 for each, or 2 more
    UChar *out = malloc((size_t)size * sizeof *out);
    if (!out) *status = U_MEMORY_ALLOCATION_ERROR;
    if (!*compiled) *compiled = uregex_openC(rule->pattern, 0, NULL, status);
    u_uastrcpy(replacement, rule->replacement);
    uregex_setText(*compiled, text, *length, status);
    *length = uregex_replaceAll(*compiled, replacement, -1, out, size, status);
    free(text);
    return out;
}

char *tokenization_split(const void *context, const char *text, Error *error)
{
    Tokenization tokenization = *(const Tokenization *)context;
    UErrorCode status = U_ZERO_ERROR;
    int bytes = (int)strlen(text), length = 0;
    if (by_mecab(tokenization))
        return mecab_split(text, tokenization == TOKENIZATION_KO_MECAB, error);
    UChar *words = malloc(((size_t)bytes + 1) * sizeof *words);
    if (words) u_strFromUTF8(words, bytes + 1, &length, text, bytes, &status);
    while (length > 0 && codepoints_is_space(words[length - 1])) length--;
    const Rule *rule = rules[tokenization];
    for (int i = 0; words && rule[i].pattern && U_SUCCESS(status); i++)
        words = apply(&rule[i], &compiled_rules[tokenization][i], words, &length, &status);
    int size = 3 * length + 1;
    char *split = words && U_SUCCESS(status) ? malloc((size_t)size) : NULL;
    if (split) u_strToUTF8(split, size, NULL, words, length, &status);
    else error_memory(error, "for a sentence of %d bytes", bytes);
    free(words);
    return split;
}
