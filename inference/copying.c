/* copying.c -- which unknown word replaces which <unk>, and which words a span; see copying.h. */
#include "inference/copying.h"

#include "inference/align.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

float *copying_shares(LazySnapshot *lazy, Error *error)
{
    const Snapshot *snapshot = snapshot_get(lazy, error);
    return snapshot ? align_shares(snapshot, ALIGN_LAYERS, ALIGN_NORM, error) : NULL;
}

/* Greedy assignment in the order of decreasing weight: the largest share of all <unk> and
 * unused words decides the next pair.
 * copied [m] (=) a text for each <unk> of the translation; NULL where no word is left.
 * share [m,n]   word [n] the unknown words of the source (=) NULL where they are used */
static void assign(const char **copied, const float *share, const char **word,
                   const LazySnapshot *lazy)
{
    int n = lazy->source_length;
    for (;;) {
        int best_word = -1, best_place = -1;
        float most = -1;
        for (int t = 0; t + 1 < lazy->target_length; t++) {
            if (lazy->target[t] != ID_UNKNOWN || copied[t]) continue;
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

bool copying_choose(const char **copied, LazySnapshot *lazy, Error *error)
{
    size_t n = (size_t)lazy->source_length;
    const char *const *unknown = lazy->unknown[SOURCE];
    bool from = false, to = false;  // unknown words of the source, <unk> to replace
    const char **left = calloc(n, sizeof *left);
    if (!left) return error_memory(error, "to copy words");
    for (size_t w = 0; unknown && w < n; w++) {
        if (lazy->source[w] == ID_UNKNOWN) left[w] = unknown[w];
        from |= left[w] != NULL;
    }
    for (int t = 0; t < lazy->target_length; t++) to |= lazy->target[t] == ID_UNKNOWN;
    bool needed = from && to;
    float *share = needed ? copying_shares(lazy, error) : NULL;
    bool good = share || !needed;
    if (share) assign(copied, share, left, lazy);
    free(left);
    free(share);
    return good;
}

/* ---- spans ---- */

static bool both_alnum(char a, char b)
{
    return isalnum((unsigned char)a) && isalnum((unsigned char)b);
}

static int by_text(const void *a, const void *b)
{
    const CopySpan *const *left = a, *const *right = b;
    int order = strcmp((*left)->text, (*right)->text);
    return order ? order : *left < *right ? -1 : 1;
}

bool spanfinder_open(SpanFinder *finder, CopySpan *span, int count, Error *error)
{
    *finder = (SpanFinder){.span = malloc((size_t)count * sizeof *finder->span + 1),
                           .taken = calloc((size_t)count + 1, sizeof *finder->taken),
                           .count = count};
    for (int i = 0; finder->span && i < count; i++) {
        finder->span[i] = &span[i];
        span[i].missing = true;
    }
    if (!finder->span || !finder->taken) return error_memory(error, "to find spans");
    qsort(finder->span, (size_t)count, sizeof *finder->span, by_text);
    return true;
}

void spanfinder_close(SpanFinder *finder)
{
    free(finder->span);
    free(finder->taken);
    *finder = (SpanFinder){0};
}

/* The first span from `first` on whose k-th byte is `byte` or more; all have the same bytes before it. */
static int lower_bound(const SpanFinder *finder, int first, int end, size_t k, int byte)
{
    while (first < end) {
        int middle = first + (end - first) / 2;
        if ((unsigned char)finder->span[middle]->text[k] < byte) first = middle + 1;
        else end = middle;
    }
    return first;
}

const CopySpan *spanfinder_take(SpanFinder *finder, const char *text, const char *at)
{
    int first = 0, end = finder->count;
    CopySpan *found = NULL;
    int *taken = NULL;
    if (at > text && both_alnum(at[-1], *at)) return NULL;
    for (size_t k = 0; first < end; k++) {  // the spans that begin with at[0..k)
        int same = finder->span[first]->text[k] ? first : lower_bound(finder, first, end, k, 1);
        int next = first + finder->taken[first];
        if (next < same && k > 0 && !both_alnum(at[k - 1], at[k]))
            found = finder->span[next], taken = &finder->taken[first];
        if (!at[k]) break;
        first = lower_bound(finder, same, end, k, (unsigned char)at[k]);
        end = lower_bound(finder, first, end, k, (unsigned char)at[k] + 1);
    }
    if (!found) return NULL;
    ++*taken;
    found->missing = false;
    return found;
}

/* Sets span[].missing; *missing (=) whether one is. */
static bool find_missing(bool *missing, CopySpan *span, int count, const char *text,
                         Error *error)
{
    SpanFinder finder;
    bool good = spanfinder_open(&finder, span, count, error);
    for (const char *at = text; good && *at;) {
        const CopySpan *found = spanfinder_take(&finder, text, at);
        at += found ? strlen(found->text) : 1;
    }
    *missing = false;
    for (int i = 0; i < count; i++) *missing |= span[i].missing;
    spanfinder_close(&finder);
    return good;
}

/* What copying_spans works on. */
typedef struct SpanText {
    const Tokenizer *tokenizer;
    const int *id;       // [m] the translation
    float *share;        // [m,n]
    char **replacement;  // [m]
    int m, n;
} SpanText;

static bool begins_word(const SpanText *st, int t)
{
    return tokenizer_type(st->tokenizer) == TOKENIZER_WORD ||
           tokenizer_begins_word(st->tokenizer, st->id[t]);
}

/* The sum of token t's shares on the span; -1 if it is aligned with another: the largest share on the
 * source's words, without </s>, is elsewhere. */
static float share_on(const SpanText *st, int t, const CopySpan *span)
{
    const float *share = st->share + (size_t)t * (size_t)st->n;
    int largest = 0;
    float sum = 0;
    for (int j = 0; j < st->n - 1; j++) {
        if (share[j] > share[largest]) largest = j;
        if (j >= span->first && j < span->end) sum += share[j];
    }
    return largest >= span->first && largest < span->end ? sum : -1;
}

/* Whether the span's words go on with token t, beside another of them: the rest of a word does, but no
 * punctuation; and what is aligned with the span, too. But not a further word: articles and
 * prepositions are aligned with their nouns. The letters from U+0800 on make no words here, as some of
 * their scripts have no spaces. */
static bool goes_on(const SpanText *st, int t, bool same_word, const CopySpan *span)
{
    unsigned char first = (unsigned char)*tokenizer_label(st->tokenizer, st->id[t]);
    bool letter = isalpha(first) || (first >= 0xC3 && first < 0xE0);
    if (st->replacement[t]) return false;
    if (same_word && (letter || isdigit(first))) return true;
    return (same_word || !letter || strchr(span->text, ' ')) && share_on(st, t, span) >= 0;
}

/* The token with the most of the span that is not replaced yet, or -1. */
static int best_token(const SpanText *st, const CopySpan *span)
{
    int best = -1;
    float most = 0;
    for (int t = 0; t + 1 < st->m; t++) {
        float own = share_on(st, t, span);
        if (!st->replacement[t] && own > most) most = own, best = t;
    }
    return best;
}

/* The token that is aligned with the neighbour of a span, or -1. */
static int beside(const SpanText *st, const CopySpan *span)
{
    int at = span->ahead ? span->first : span->first - 1, t = -1;
    float most = 0;
    if (at > st->n - 2) at = st->n - 2;
    if (at < 0) at = 0;
    for (int i = 0; i + 1 < st->m && st->n > 1; i++) {
        float own = st->share[(size_t)i * (size_t)st->n + (size_t)at];
        bool gone = st->replacement[i] && !*st->replacement[i];
        if (!gone && own > most) most = own, t = i;
    }
    return t;
}

/* Where words change places, exchanges the neighbours of <i> and </i>, so that <i> stays before it: if </i>
 * is one of the next FAR spans. */
static void keep_order(const SpanText *st, CopySpan *span, int count)
{
    enum { FAR = 1000 };
    for (int i = 0, k; i < count; i++) {
        const char *name = span[i].text + 1;
        size_t length = strcspn(name, " \t\n/>");
        if (*span[i].text != '<' || !length || !span[i].ahead) continue;
        int end = count - i > FAR ? i + FAR : count;
        for (k = i + 1; k < end; k++)
            if (!strncmp(span[k].text, "</", 2) && !span[k].ahead &&
                !strncmp(span[k].text + 2, name, length) && span[k].text[2 + length] == '>')
                break;
        if (k == end || beside(st, &span[k]) >= beside(st, &span[i])) continue;
        int first = span[i].first;
        span[i].first = span[k].first - 1;
        span[k].first = first + 1;
    }
}

/* Puts a span beside the word that is aligned with its neighbour, if there is one. */
static bool insert_span(SpanText *st, const CopySpan *span, Error *error)
{
    int m = st->m, t = beside(st, span);
    while (span->ahead && t > 0 && !st->replacement[t] && !begins_word(st, t)) t--;
    while (!span->ahead && t >= 0 && t + 2 < m && !st->replacement[t + 1] &&
           !begins_word(st, t + 1))
        t++;
    int id = t < 0 ? ID_UNKNOWN : st->id[t];
    char *word = t < 0 ? NULL : st->replacement[t], *both;
    if (!word && (id == ID_UNKNOWN || tokenizer_byte(st->tokenizer, id) >= 0)) return true;
    bool blank = !word && !strcmp(tokenizer_piece(st->tokenizer, id), TOKENIZER_SPACE);
    const char *of = word ? word : blank ? "" : tokenizer_label(st->tokenizer, id);
    const char *space = span->close ? "" : " ";
    if (asprintf(&both, "%s%s%s", span->ahead ? span->text : of, space,
                 span->ahead ? of : span->text) < 0)
        return error_memory(error, "to copy spans");
    free(word);
    st->replacement[t] = both;
    return true;
}

/* Puts a span in the place of the words that are aligned with it. */
static bool put_span(SpanText *st, const CopySpan *span, Error *error)
{
    int best = best_token(st, span), end = best + 1;
    if (best < 0) return insert_span(st, span, error);
    while (best > 0 && goes_on(st, best - 1, !begins_word(st, best), span)) best--;
    while (end + 1 < st->m && goes_on(st, end, !begins_word(st, end), span)) end++;
    for (int t = best; t < end; t++)
        if (!(st->replacement[t] = strdup(t == best ? span->text : "")))
            return error_memory(error, "to copy spans");
    return true;
}

/* *text (=) the translation; span[].missing and *missing (=) what it lacks */
static bool decode_spans(char **text, bool *missing, const SpanText *st, CopySpan *span,
                         int count, Error *error)
{
    return tokenizer_decode_replaced(st->tokenizer, text, st->id, (size_t)st->m,
                                     (const char *const *)st->replacement, error) &&
           find_missing(missing, span, count, *text, error);
}

bool copying_spans(char **text, CopySpan *span, int count, const Tokenizer *tokenizer,
                   const char *const *copied, LazySnapshot *lazy, Error *error)
{
    int m = lazy->target_length;
    SpanText st = {.tokenizer = tokenizer,
                   .id = lazy->target,
                   .replacement = calloc((size_t)m, sizeof *st.replacement),
                   .m = m,
                   .n = lazy->source_length};
    bool missing, good = st.replacement || error_memory(error, "to copy spans");
    *text = NULL;
    for (int t = 0; good && t < m; t++)
        if (copied[t] && !(st.replacement[t] = strdup(copied[t])))
            good = error_memory(error, "to copy spans");
    good = good && decode_spans(text, &missing, &st, span, count, error);
    if (good && missing && m > 1) {
        good = (st.share = copying_shares(lazy, error));
        if (good) keep_order(&st, span, count);
        for (int i = 0; good && i < count; i++)
            good = !span[i].missing || put_span(&st, &span[i], error);
        free(*text), *text = NULL;
        good = good && decode_spans(text, &missing, &st, span, count, error);
    }
    for (int t = 0; st.replacement && t < m; t++) free(st.replacement[t]);
    free(st.replacement);
    free(st.share);
    return good;
}
