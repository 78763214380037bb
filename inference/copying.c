/* copying.c -- which unknown word replaces which <unk>, and which words a span; see copying.h. */
#include "inference/copying.h"

#include "base/utf8.h"
#include "inference/align.h"

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
        for (int t = 0; left[w] && t < lazy->target_length; t++)
            if (copied[t] && !strcmp(copied[t], left[w])) left[w] = NULL;
        from |= left[w] != NULL;
    }
    for (int t = 0; t < lazy->target_length; t++)
        to |= lazy->target[t] == ID_UNKNOWN && !copied[t];
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
    int *source;         // [m] the source token, not </s>, on which each has its largest share
    int *target;         // [n] of put_marks: the token with the largest share of each, or -1
    char **replacement;  // [m]
    int m, n, forced;    // of m, the first: no span replaces them
} SpanText;

static bool begins_word(const SpanText *st, int t)
{
    return tokenizer_type(st->tokenizer) == TOKENIZER_WORD ||
           tokenizer_begins_word(st->tokenizer, st->id[t]);
}

static bool align_sources(SpanText *st, Error *error)
{
    st->source = calloc((size_t)st->m, sizeof *st->source);
    if (!st->source) return error_memory(error, "to copy spans");
    for (int t = 0; t + 1 < st->m; t++) {
        const float *share = st->share + (size_t)t * (size_t)st->n;
        for (int j = 1; j + 1 < st->n; j++)
            if (share[j] > share[st->source[t]]) st->source[t] = j;
    }
    return true;
}

/* The sum of token t's shares on the span; -1 if it is aligned with another. */
static float share_on(const SpanText *st, int t, const CopySpan *span)
{
    const float *share = st->share + (size_t)t * (size_t)st->n;
    int end = at_most(span->end, st->n - 1);
    float sum = 0;
    if (t < st->forced || st->source[t] < span->first || st->source[t] >= span->end) return -1;
    for (int j = span->first; j < end; j++) sum += share[j];
    return sum;
}

/* Whether the span's words go on with token t, beside another of them: the rest of a word does, but no
 * punctuation; and what is aligned with the span, too. But not a further word: articles and
 * prepositions are aligned with their nouns. The letters from U+0800 on make no words here, as some of
 * their scripts have no spaces. */
static bool goes_on(const SpanText *st, int t, bool same_word, const CopySpan *span)
{
    unsigned char first = (unsigned char)*tokenizer_label(st->tokenizer, st->id[t]);
    bool letter = isalpha(first) || (first >= 0xC3 && first < 0xE0);
    if (st->replacement[t] || t < st->forced) return false;
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

static bool is_byte(const SpanText *st, int t)
{
    return tokenizer_byte(st->tokenizer, st->id[t]) >= 0;
}

/* Whether a mark can stand beside token t. */
static bool holds_mark(const SpanText *st, int t)
{
    const char *word = st->replacement[t];
    return word ? *word != 0 : st->id[t] != ID_UNKNOWN && !is_byte(st, t);
}

/* Replaces the first byte of each character by the character, and its others by nothing. */
static bool join_bytes(SpanText *st, Error *error)
{
    for (int t = 0; t < st->m; t++) {
        char text[5] = "";
        size_t count = 0;
        unsigned c;
        for (int i = t; i < st->m && count < 4 && is_byte(st, i) && !st->replacement[i]; i++)
            text[count++] = (char)tokenizer_byte(st->tokenizer, st->id[i]);
        count = count ? (size_t)utf8_decode(text, count, &c) : 0;
        if (count == 1 && c >= 0x80) continue;  // no character
        text[count] = 0;
        for (int i = 0; i < (int)count; i++)
            if (!(st->replacement[t + i] = strdup(i ? "" : text)))
                return error_memory(error, "to copy spans");
        if (count) t += (int)count - 1;
    }
    return true;
}

/* The token with the largest share of source token j, or -1. */
static int aligned(const SpanText *st, int j)
{
    int t = -1;
    float most = 0;
    for (int i = 0; i + 1 < st->m && st->n > 1; i++) {
        float own = st->share[(size_t)i * (size_t)st->n + (size_t)j];
        if (own > most && holds_mark(st, i)) most = own, t = i;
    }
    return t;
}

/* The source token that a span follows, or precedes. */
static int neighbour(const SpanText *st, const CopySpan *span)
{
    int at = at_most(span->ahead ? span->first : span->first - 1, st->n - 2);
    return at < 0 ? 0 : at;
}

static bool is_punctuation(const SpanText *st, int t)
{
    const char *label = tokenizer_label(st->tokenizer, st->id[t]);
    if (st->replacement[t] || !*label) return false;
    while (ispunct((unsigned char)*label)) label++;
    return !*label;
}

/* Whether token t is a word of its own, or goes on with none. */
static bool stands_alone(const SpanText *st, int t)
{
    return (st->replacement[t] && !is_byte(st, t)) || begins_word(st, t);
}

/* The first or the last token of the word of token t, without punctuation around it. */
static int word_edge(const SpanText *st, int t, bool first)
{
    int edge = t, step = first ? 1 : -1;
    if (first)
        while (edge > 0 && !stands_alone(st, edge)) edge--;
    else
        while (edge + 2 < st->m && !stands_alone(st, edge + 1)) edge++;
    while (edge != t && (is_punctuation(st, edge) || !holds_mark(st, edge))) edge += step;
    return edge;
}

/* Puts a span before or after token t, or nowhere if there is no token that it can stand beside. */
static bool insert_span(SpanText *st, const CopySpan *span, bool ahead, int t, Error *error)
{
    if (t < 0 || !holds_mark(st, t)) return true;
    char *word = st->replacement[t], *both;
    bool blank = !word && !strcmp(tokenizer_piece(st->tokenizer, st->id[t]), TOKENIZER_SPACE);
    const char *of = word ? word : blank ? "" : tokenizer_label(st->tokenizer, st->id[t]);
    const char *space = span->close ? "" : " ";
    if (asprintf(&both, "%s%s%s", ahead ? span->text : of, space, ahead ? of : span->text) < 0)
        return error_memory(error, "to copy spans");
    free(word);
    st->replacement[t] = both;
    return true;
}

/* ---- marks ----
 *
 * <b> and </b>, or [ and ](a.md), enclose the words that are aligned with theirs in the source, and all between these.
 * Pairs that would cross, where words change places, are cut: the first ends where the second begins. */

typedef struct TagPair {
    int open, close;  // their spans; close -1: there is none
    int outer;        // the pair around it, while pair_tags or cut_crossing works
    int low, high;    // the tokens that it encloses
} TagPair;

typedef struct Place {
    const CopySpan *span;
    bool ahead;
    int at;          // before or after this token
    int far, order;  // of those with the same token, the lowest stands next to it
} Place;

static bool is_mark(const CopySpan *span)
{
    return span->missing && span->first == span->end;
}

/* The characters of emphasis: **. */
#define EMPHASIS "*_~'" COPYING_CAPITALS

/* Whether a mark can open a pair: <b>, [b], [ of a link, or emphasis. */
static bool opens(const char *mark)
{
    size_t last = strlen(mark) - 1;
    return last && strchr("<[", *mark)
               ? isalnum((unsigned char)mark[1]) && mark[last - 1] != '/'
               : mark[last] == '[' || !mark[strspn(mark, EMPHASIS)];
}

/* Whether </b> closes <b class="c">, ](a.md) [ or **, or ** another **. */
static bool closes(const char *close, const char *open)
{
    size_t length = strlen(close + 1) - 1;
    if (*close == ']') return open[strlen(open) - 1] == '[';
    if (!strchr("<[", *close) || close[1] != '/')
        return !close[strspn(close, EMPHASIS)] && !strcmp(close, open);
    return *open == *close && !strncmp(close + 2, open + 1, length - 1) &&
           strchr(" \t\n>=]", open[length]);
}

/* Returns how many pairs there are. A half is closed if the other is one of the DEEP that are open. */
static int pair_tags(TagPair *pair, const CopySpan *span, int count)
{
    enum { DEEP = 1000 };
    int opened = 0, top = -1, pairs = 0;
    for (int i = 0; i < count; i++) {
        const char *mark = span[i].text;
        int p = top;
        if (!is_mark(&span[i])) continue;
        for (int k = 0; p >= 0 && k < DEEP && !closes(mark, span[pair[p].open].text); k++)
            p = pair[p].outer;
        if (p >= 0 && closes(mark, span[pair[p].open].text)) {
            pair[p].close = i, top = pair[p].outer;
        } else if (opens(mark)) {
            pair[opened] = (TagPair){.open = i, .close = -1, .outer = top};
            top = opened++;
        }
    }
    for (int p = 0; p < opened; p++)
        if (pair[p].close >= 0) pair[pairs++] = pair[p];
    return pairs;
}

/* Leaves out tokens at both ends beside which no mark can stand. */
static void shrink(TagPair *pair, const SpanText *st)
{
    while (pair->low <= pair->high && !holds_mark(st, pair->low)) pair->low++;
    while (pair->high > pair->low && !holds_mark(st, pair->high)) pair->high--;
}

/* Sets low and high, by words that are aligned in both directions if there are any; high < low: it encloses
 * none. */
static void enclose(TagPair *pair, const SpanText *st, const CopySpan *span)
{
    int first = span[pair->open].first, end = span[pair->close].first;
    bool loosely = strcmp(span[pair->open].text, COPYING_CAPITALS);
    for (int both = 1; both >= !loosely; both--) {
        pair->low = st->m, pair->high = -1;
        for (int j = first; j < end && j + 1 < st->n; j++) {
            int t = st->target[j];
            if (t < 0 || (both && (st->source[t] < first || st->source[t] >= end))) continue;
            if (t < pair->low) pair->low = t;
            if (t > pair->high) pair->high = t;
        }
        if (pair->high >= 0) break;
    }
    if (pair->high < 0) return;
    pair->low = word_edge(st, pair->low, true), pair->high = word_edge(st, pair->high, false);
    shrink(pair, st);
}

static int by_low(const void *a, const void *b)
{
    const TagPair *left = a, *right = b;
    if (left->low != right->low) return left->low < right->low ? -1 : 1;
    if (left->high != right->high) return left->high > right->high ? -1 : 1;
    return left->open < right->open ? -1 : 1;
}

/* pair [pairs] sorted by_low */
static void cut_crossing(TagPair *pair, int pairs, const SpanText *st)
{
    int top = -1;
    for (int p = 0; p < pairs; p++) {
        if (pair[p].high < pair[p].low) continue;
        for (; top >= 0 && pair[top].high < pair[p].high; top = pair[top].outer)
            if (pair[top].high >= pair[p].low)
                pair[top].high = pair[p].low - 1, shrink(&pair[top], st);
        pair[p].outer = top, top = p;
    }
}

static int by_nearness(const void *a, const void *b)
{
    const Place *left = a, *right = b;
    if (left->far != right->far) return left->far < right->far ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* place [count] (=) where each span that is a mark comes to stand. Marks without a partner stand outside of pairs. */
static void place_marks(Place *place, TagPair *pair, const SpanText *st, const CopySpan *span,
                        int count)
{
    int pairs = pair_tags(pair, span, count);
    for (int i = 0; i < count; i++) {
        int at = st->target[neighbour(st, &span[i])];
        if (at >= 0) at = word_edge(st, at, span[i].ahead);
        place[i] = (Place){&span[i], span[i].ahead, at, INT_MAX, span[i].ahead ? -i : i};
    }
    for (int p = 0; p < pairs; p++) enclose(&pair[p], st, span);
    qsort(pair, (size_t)pairs, sizeof *pair, by_low);
    cut_crossing(pair, pairs, st);
    for (const TagPair *p = pair; p < pair + pairs; p++) {
        Place *open = &place[p->open], *close = &place[p->close];
        if (p->high < p->low) {
            close->ahead = open->ahead, close->at = open->at;
            close->order = open->ahead ? -p->close : p->close;
        } else {
            *open = (Place){open->span, true, p->low, p->high, -p->open};
            *close = (Place){close->span, false, p->high, -p->low, -p->open};
        }
    }
}

static bool put_marks(SpanText *st, const CopySpan *span, int count, Error *error)
{
    st->target = malloc((size_t)st->n * sizeof *st->target);
    Place *place = malloc((size_t)count * sizeof *place);
    TagPair *pair = malloc((size_t)count * sizeof *pair);
    bool good = (st->target && place && pair) || error_memory(error, "to copy spans");
    good = good && join_bytes(st, error);
    if (good) {
        for (int j = 0; j < st->n; j++) st->target[j] = aligned(st, j);
        place_marks(place, pair, st, span, count);
        qsort(place, (size_t)count, sizeof *place, by_nearness);
    }
    for (int i = 0; good && i < count; i++)
        good = !is_mark(place[i].span) ||
               insert_span(st, place[i].span, place[i].ahead, place[i].at, error);
    free(place);
    free(pair);
    return good;
}

/* Puts a span in the place of the words that are aligned with it. */
static bool put_span(SpanText *st, const CopySpan *span, Error *error)
{
    int best = best_token(st, span), end = best + 1;
    if (best < 0) {
        if (st->forced == st->m) return true;
        best = aligned(st, neighbour(st, span));
        if (best < st->forced) best = st->forced - 1;
        return insert_span(st, span, false, best < 0 ? best : word_edge(st, best, false),
                           error);
    }
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
                   const char *const *copied, int forced, char **shown, LazySnapshot *lazy,
                   Error *error)
{
    int m = lazy->target_length;
    SpanText st = {.tokenizer = tokenizer,
                   .id = lazy->target,
                   .replacement = shown,
                   .m = m,
                   .n = lazy->source_length,
                   .forced = forced};
    bool missing, good = true;
    *text = NULL;
    for (int t = 0; good && t < m; t++)
        if (copied[t] && !(st.replacement[t] = strdup(copied[t])))
            good = error_memory(error, "to copy spans");
    good = good && decode_spans(text, &missing, &st, span, count, error);
    if (good && missing && m > 1) {
        good = (st.share = copying_shares(lazy, error)) && align_sources(&st, error);
        for (int i = 0; good && i < count; i++)
            good = !span[i].missing || is_mark(&span[i]) || put_span(&st, &span[i], error);
        good = good && put_marks(&st, span, count, error);
        free(*text), *text = NULL;
        good = good && decode_spans(text, &missing, &st, span, count, error);
    }
    free(st.share);
    free(st.source);
    free(st.target);
    return good;
}
