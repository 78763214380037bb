/* copying.c -- which unknown word replaces which <unk>, and which words a span; see copying.h. */
#include "inference/copying.h"

#include "inference/align.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Greedy assignment in the order of decreasing weight: the largest share of all <unk> and
 * unused words decides the next pair.
 * copied [m] (=) a text for each <unk> of the translation; NULL where no word is left.
 * share [m-1,n]   word [n] the unknown words of the source (=) NULL where they are used */
static void assign(const char **copied, const float *share, const char **word,
                   const Hypothesis *translation, int n)
{
    for (;;) {
        int best_word = -1, best_place = -1;
        float most = -1;
        for (int t = 0; t + 1 < translation->length; t++) {
            if (translation->id[t] != ID_UNKNOWN || copied[t]) continue;
            for (int w = 0; w < n; w++) {
                float own = share[(size_t)t * (size_t)n + (size_t)w];
                if (word[w] && own > most) most = own, best_word = w, best_place = t;
            }
        }
        if (best_word < 0) return;
        copied[best_place] = word[best_word];
        word[best_word] = NULL;
    }
}

bool copying_choose(const char ***copied, const IdLines *lines, int s,
                    const Hypothesis *translation, LazySnapshot *lazy, Error *error)
{
    size_t m = (size_t)translation->length, first = (size_t)lines->start[s],
           n = (size_t)lines->start[s + 1] - first;
    bool from = false, to = false;  // unknown words of the source, <unk> to replace
    *copied = NULL;
    for (size_t w = 0; lines->find_unknown && w < n; w++)
        from |= lines->ids.id[first + w] == ID_UNKNOWN && lines->unknown[first + w];
    for (size_t t = 0; t < m; t++) to |= translation->id[t] == ID_UNKNOWN;
    if (!from || !to) return true;

    const Snapshot *snapshot = snapshot_get(lazy, error);
    if (!snapshot) return false;
    float *share = malloc(m * n * sizeof *share);
    const char **left = malloc(n * sizeof *left);
    *copied = calloc(m, sizeof **copied);
    bool good = ((share && left && *copied) || error_memory(error, "to copy words")) &&
                align_shares(share, snapshot, ALIGN_LAYERS, ALIGN_NORM, error);
    if (good) {
        for (size_t w = 0; w < n; w++)
            left[w] = lines->ids.id[first + w] == ID_UNKNOWN ? lines->unknown[first + w] : NULL;
        assign(*copied, share, left, translation, (int)n);
    }
    free(share);
    free(left);
    return good;
}

/* ---- spans ---- */

static bool both_alnum(char a, char b)
{
    return isalnum((unsigned char)a) && isalnum((unsigned char)b);
}

/* Finds `wanted` in text, not as a part of a longer word or number. */
static char *find_whole(char *text, const char *wanted)
{
    size_t length = strlen(wanted);
    for (char *at = text; (at = strstr(at, wanted)); at++)
        if ((at == text || !both_alnum(at[-1], at[0])) &&
            !both_alnum(at[length - 1], at[length]))
            return at;
    return NULL;
}

/* Sets span[].missing; returns how many are, or -1 if memory is short. Longer spans come first, so
 * that "10" is not found in "10:30" if both are spans. */
static int find_missing(CopySpan *span, int count, const char *text)
{
    char *left = strdup(text), *at;
    size_t longest = 0;
    int missing = count;
    for (int i = 0; i < count; i++) {
        span[i].missing = true;
        if (strlen(span[i].text) > longest) longest = strlen(span[i].text);
    }
    for (size_t length = longest; left && length > 0; length--)
        for (int i = 0; i < count; i++) {
            if (strlen(span[i].text) != length || !(at = find_whole(left, span[i].text)))
                continue;
            memset(at, 1, length);
            span[i].missing = false;
            missing--;
        }
    free(left);
    return left ? missing : -1;
}

/* The sum of a token's shares [n] on the span; -1 if the largest of the source's words, without
 * </s>, is elsewhere. */
static float share_on(const float *share, int n, const CopySpan *span)
{
    int largest = 0;
    float sum = 0;
    for (int j = 0; j < n - 1; j++) {
        if (share[j] > share[largest]) largest = j;
        if (j >= span->first && j < span->end) sum += share[j];
    }
    return largest >= span->first && largest < span->end ? sum : -1;
}

/* What copying_spans works on. */
typedef struct SpanText {
    const Tokenizer *tokenizer;
    const Hypothesis *translation;
    const float *share;        // [m-1,n]
    const char **replacement;  // [m]
    int n;
    char **inserted;  // [m] what insert_span allocated for a token
} SpanText;

/* Whether the span's words go on with token t, beside another of them: the rest of a word does, but no
 * punctuation; and what is aligned with the span, too. But not a further word: articles and
 * prepositions are aligned with their nouns. The letters from U+0800 on make no words here, as some of
 * their scripts have no spaces. */
static bool goes_on(const SpanText *st, int t, bool same_word, const CopySpan *span)
{
    unsigned char first =
        (unsigned char)*tokenizer_label(st->tokenizer, st->translation->id[t]);
    bool digit = isdigit(first), letter = isalpha(first) || (first >= 0xC3 && first < 0xE0);
    if (st->replacement[t]) return false;
    if (same_word && (letter || digit)) return true;
    return (same_word || !letter || strchr(span->text, ' ')) &&
           share_on(st->share + (size_t)t * (size_t)st->n, st->n, span) >= 0;
}

/* Puts a span with which no word is aligned after the word that is aligned with the token before it;
 * *begin (=) the last token of that word. */
static bool insert_span(SpanText *st, const CopySpan *span, int *begin, int *end)
{
    const int *id = st->translation->id;
    int m = st->translation->length, before = span->first > 0 ? span->first - 1 : 0, best = -1;
    float most = -1;
    for (int t = 0; t + 1 < m; t++) {
        float own = st->share[(size_t)t * (size_t)st->n + (size_t)before];
        if (!st->replacement[t] && own > most) most = own, best = t;
    }
    if (best < 0) return false;
    while (best + 2 < m && !st->replacement[best + 1] &&
           !tokenizer_begins_word(st->tokenizer, id[best + 1]))
        best++;
    if (tokenizer_byte(st->tokenizer, id[best]) >= 0 || id[best] == ID_UNKNOWN ||
        st->inserted[best] ||
        asprintf(&st->inserted[best], "%s %s", tokenizer_label(st->tokenizer, id[best]),
                 span->text) < 0)
        return false;
    st->replacement[best] = st->inserted[best];
    *begin = best, *end = best + 1;
    return true;
}

/* Puts a span in the place of the words that are aligned with it; *begin .. *end-1 (=) their tokens;
 * false: it has no place. */
static bool put_span(SpanText *st, const CopySpan *span, int *begin, int *end)
{
    const int *id = st->translation->id;
    int m = st->translation->length, best = -1;
    float most = 0;
    for (int t = 0; t + 1 < m; t++) {
        float own = share_on(st->share + (size_t)t * (size_t)st->n, st->n, span);
        if (!st->replacement[t] && own > most) most = own, best = t;
    }
    if (best < 0) return insert_span(st, span, begin, end);
    bool words = tokenizer_type(st->tokenizer) == TOKENIZER_WORD;
#define BEGINS(t) (words || tokenizer_begins_word(st->tokenizer, id[t]))
    for (*begin = best; *begin > 0 && goes_on(st, *begin - 1, !BEGINS(*begin), span);) --*begin;
    for (*end = best + 1; *end + 1 < m && goes_on(st, *end, !BEGINS(*end), span);) ++*end;
#undef BEGINS
    for (int t = *begin; t < *end; t++) st->replacement[t] = "";
    st->replacement[*begin] = span->text;
    return true;
}

/* Decodes; *missing (=) the number of spans that the text lacks. */
static bool decode_spans(char **text, int *missing, const SpanText *st, CopySpan *span,
                         int count, Error *error)
{
    if (!tokenizer_decode_replaced(st->tokenizer, text, st->translation->id,
                                   (size_t)st->translation->length, st->replacement, error))
        return false;
    *missing = find_missing(span, count, *text);
    if (*missing >= 0) return true;
    free(*text), *text = NULL;
    return error_memory(error, "to find spans");
}

/* Replaces words by missing spans, one after the other, as far as that makes fewer missing. */
static bool put_spans(char **text, int *missing, SpanText *st, CopySpan *span, int count,
                      Error *error)
{
    for (int i = 0, begin, end, left; i < count && *missing; i++) {
        char *now;
        if (!span[i].missing || !put_span(st, &span[i], &begin, &end)) continue;
        if (!decode_spans(&now, &left, st, span, count, error)) return false;
        bool better = left < *missing;
        free(better ? *text : now);
        if (better) *text = now, *missing = left;
        while (!better && begin < end) st->replacement[begin++] = NULL;
        if (!better) find_missing(span, count, *text);
    }
    return true;
}

bool copying_spans(char **text, CopySpan *span, int count, const Tokenizer *tokenizer,
                   const Hypothesis *translation, const char *const *copied, LazySnapshot *lazy,
                   Error *error)
{
    size_t m = (size_t)translation->length, n = (size_t)lazy->source_length;
    int missing;
    float *share = malloc(m * n * sizeof *share);
    SpanText st = {tokenizer, translation,
                   share,     calloc(m + 1, sizeof *st.replacement),
                   (int)n,    calloc(m + 1, sizeof *st.inserted)};
    const Snapshot *snapshot = NULL;
    *text = NULL;
    bool good =
        (share && st.replacement && st.inserted) || error_memory(error, "to copy spans");
    if (good && copied) memcpy(st.replacement, copied, m * sizeof *copied);
    good = good && decode_spans(text, &missing, &st, span, count, error);
    if (good && missing && m > 1)
        good = (snapshot = snapshot_get(lazy, error)) &&
               align_shares(share, snapshot, ALIGN_LAYERS, ALIGN_NORM, error) &&
               put_spans(text, &missing, &st, span, count, error);
    if (!good) free(*text), *text = NULL;
    for (size_t t = 0; st.inserted && t < m; t++) free(st.inserted[t]);
    free(st.inserted);
    free(share);
    free(st.replacement);
    return good;
}
