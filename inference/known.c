/* known.c -- which characters and words a model knows; see known.h. */
#include "inference/known.h"

#include "base/utf8.h"
#include "data/words.h"
#include "inference/copying.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

enum { CHARACTERS = 0x110000 };
enum { SHORT = 5 };  // letters of an abbreviation, at most

bool known_open(KnownText *k, const Bundle *bundle, Error *error)
{
    UChar32 c = 0;
    const TextProfile *profile = &bundle->text;
    const char *characters = profile->known ? profile->characters : NULL;
    for (size_t at = 0; characters && characters[at] && !u_isupper(c);)
        U8_NEXT_UNSAFE(characters, at, c);
    *k = (KnownText){bundle->vocabulary.tokenizer[SOURCE], profile, characters && !u_isupper(c),
                     calloc(CHARACTERS, 1)};
    return k->answer || error_memory(error, "for the characters of a text");
}

void known_close(KnownText *k)
{
    free(k->answer);
}

bool known_character(const void *context, unsigned character)
{
    const KnownText *k = context;
    unsigned char *answer = &k->answer[character];
    if (*answer) return *answer == 1;
    const TextProfile *profile = k->profile;
    bool seen = profile->known && textprofile_has(profile, character);
    bool must = profile->known && textprofile_is_mark(character);
    char text[8];
    int length = 0;
    Ids ids = {0};
    U8_APPEND_UNSAFE(text, length, character);
    bool good =
        tokenizer_type(k->tokenizer) == TOKENIZER_WORD
            ? !u_hasBinaryProperty((UChar32)character, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)
            : tokenizer_encode(k->tokenizer, &ids, text, (size_t)length, NULL);
    for (size_t i = 0; good && i < ids.count; i++)
        good = ids.id[i] != ID_UNKNOWN &&
               (seen || (!must && tokenizer_byte(k->tokenizer, ids.id[i]) < 0));
    free(ids.id);
    UChar32 small = u_tolower((UChar32)character);
    good = good || ((unsigned)small != character && known_character(context, (unsigned)small));
    *answer = good ? 1 : 2;
    return good;
}

size_t known_tokens(const KnownText *k, int *last, const char *word, size_t length)
{
    Ids ids = {0};
    size_t tokens = 0;
    if (tokenizer_encode(k->tokenizer, &ids, word, length, NULL))
        for (size_t i = 0; i < ids.count; i++)
            tokens += ids.id[i] == ID_UNKNOWN ? KNOWN_UNKNOWN : 1;
    if (last) *last = tokens ? ids.id[ids.count - 1] : ID_UNKNOWN;
    free(ids.id);
    return tokens;
}

/* Whether the small letter of I is ı. */
static bool is_dotless(const KnownText *k)
{
    const char *language = k->profile->language;
    return language && (!strcmp(language, "tr") || !strcmp(language, "az"));
}

/* Whether a word has fewer tokens than in lower case, as names have, or is one token that is far
 * more frequent than that of lower case: the vocabulary is in the order of frequency. */
static bool is_name(const void *context, const char *word, size_t length)
{
    // "Tom" is the 316th, "tom" the 939th; "She" the 497th, "she" the 953rd
    const double FAR = 2.5;
    char *lower;
    int id, lower_id;
    if (!text_lowered(&lower, word, length, CASE_UPPER, false, is_dotless(context), NULL, NULL,
                      NULL))
        return false;
    size_t tokens = known_tokens(context, &id, word, length);
    size_t lower_tokens = known_tokens(context, &lower_id, lower, strlen(lower));
    free(lower);
    return tokens < lower_tokens || (tokens == 1 && lower_tokens == 1 && lower_id > FAR * id);
}

bool known_lower(char **lowered, const KnownText *k, const char *word, LetterCase written,
                 bool begins, Error *error)
{
    if (!text_lowered(lowered, word, strlen(word), written, begins, is_dotless(k), is_name, k,
                      error))
        return false;
    if (!begins || known_tokens(k, NULL, *lowered, strlen(*lowered)) < KNOWN_UNKNOWN)
        return true;
    free(*lowered);
    return known_lower(lowered, k, word, written, false, error);
}

/* ---- words in capitals ---- */

typedef enum { NOT_CAPITALS, NO_LETTERS, ONE_LETTER, ABBREVIATION, PERHAPS, SHOUTED } Capitals;

/* SHOUTED: the model knows the word in lower case alone: "NOT". PERHAPS: of two letters, as "AM" and "US"
 * are. ABBREVIATION: a short one that it knows in neither: "NYPD". */
static Capitals capitals_of(const KnownText *k, const char *word, size_t length)
{
    UChar32 c = 'A';
    for (size_t at = 0; at < length && !u_islower(c);) U8_NEXT_UNSAFE(word, at, c);
    if (!length || u_islower(c)) return length ? NOT_CAPITALS : NO_LETTERS;
    char *text = strndup(word, length), *lowered = NULL;
    Capitals found = NOT_CAPITALS;
    if (text && known_lower(&lowered, k, text, CASE_UPPER, false, NULL) &&
        strcmp(lowered, text)) {
        size_t own = known_tokens(k, NULL, text, length),
               small = known_tokens(k, NULL, lowered, strlen(lowered));
        size_t letters = utf8_count(text, length);
        bool shouted = small < own && (small == 1 || letters > SHORT);
        bool strange = own > 2 && own < KNOWN_UNKNOWN && letters <= SHORT;
        found = letters == 1 ? ONE_LETTER
                : shouted    ? letters == 2 ? PERHAPS : SHOUTED
                : strange    ? ABBREVIATION
                             : NOT_CAPITALS;
    }
    free(text);
    free(lowered);
    return found;
}

/* Leaves out what are no letters at both ends of a word. */
static void trim_word(const char *text, size_t *first, size_t *last)
{
    UChar32 c;
    for (size_t at = *first; at < *last; *first = at) {
        U8_NEXT_UNSAFE(text, at, c);
        if (u_isalpha(c)) break;
    }
    for (size_t at = *last; at > *first; *last = at) {
        U8_PREV_UNSAFE(text, at, c);
        if (u_isalpha(c)) break;
    }
}

static int by_place(const void *a, const void *b)
{
    const Span *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
    return left->end < right->end ? -1 : left->end > right->end;
}

static void sort_spans(Spans *found)
{
    if (found->count) qsort(found->span, (size_t)found->count, sizeof *found->span, by_place);
}

/* Words of two letters are shouted only beside others. */
bool known_capitals(Spans *found, LetterCase *written, const KnownText *k, const char *sentence,
                    size_t length, size_t begin, Error *error)
{
    Span mark = {.mark = true,
                 .replacement = COPYING_CAPITALS,
                 .length = strlen(COPYING_CAPITALS),
                 .written = CASE_SENTENCE};
    size_t from = 0, to, run = 0, run_end = 0;
    bool good = true, sure = false, all = true;  // of the run; no other words so far
    for (; good && from <= length; from = to) {
        while (from < length && words_blank(sentence[from])) from++;
        for (to = from; to < length && !words_blank(sentence[to]);) to++;
        size_t first = from, last = to++;
        trim_word(sentence, &first, &last);
        Capitals kind = capitals_of(k, sentence + first, last - first);
        bool ends = kind == NOT_CAPITALS || kind == ABBREVIATION;
        if (kind >= PERHAPS && !run_end) run = first;
        if (kind >= PERHAPS) run_end = last;
        sure |= kind == SHOUTED, all &= !ends;
        bool dots = sentence[last] == '.' && memchr(sentence + first, '.', last - first);
        if (kind == ABBREVIATION && dots && last + 1 < length) last++;  // U.S.
        if (kind == ABBREVIATION)
            good = spans_add(found, (Span){.begin = begin + first, .end = begin + last}, error);
        if (all && run_end && to > length) *written = CASE_UPPER;
        else if (run_end && sure && (ends || to > length)) {
            mark.begin = mark.end = begin + run;
            good = good && spans_add(found, mark, error);
            mark.begin = mark.end = begin + run_end;
            good = good && spans_add(found, mark, error);
        }
        if (ends) run_end = 0, sure = false;
    }
    sort_spans(found);
    return good;
}

bool known_dots(Spans *found, const KnownText *k, const char *sentence, size_t length,
                Error *error)
{
    int next = 0, others = found->count;
    bool good = true;
    for (size_t at = 0, to; good && at < length; at = to) {
        const Span *span = next < others ? &found->span[next] : NULL;
        bool inside = span && at >= span->begin;
        size_t end = !span ? length : inside ? span->end : span->begin;
        for (to = at + 1; to < end && (inside || sentence[to] == sentence[at]);) to++;
        next += inside;
        bool dots =
            to > at + 1 && (sentence[at] == '.' || (sentence[at] == '-' && to == length));
        bool ellipsis = at + 3 <= end && !memcmp(sentence + at, "…", 3);
        if (ellipsis) to = at + 3;
        if (!inside && (dots || ellipsis) &&
            known_tokens(k, NULL, sentence + at, to - at) >= to - at)
            good = spans_add(found, (Span){.begin = at, .end = to, .mark = true, .outer = true},
                             error);
    }
    sort_spans(found);
    return good;
}
