/* answer.c -- translations of sentences to that of a text; see answer.h. */
#include "inference/answer.h"

#include "base/textstream.h"
#include "base/utf8.h"
#include "data/words.h"

/* r->replaced (=) also what the placeholders of the translation stand for. */
static bool put_back(SentenceAnswer *r, const Passages *p, const Sentence *s, Error *error)
{
    const Hypothesis *h = r->hypothesis;
    int seen[PLACEHOLDERS] = {0};
    for (int t = 0; t < h->length; t++) {
        const CopySpan *span = passages_span(p, s, h->id[t], seen);
        if (span) r->replaced[t] = span->text;
    }
    for (int i = 0; i < s->spans; i++)
        if (i / PLACEHOLDERS >= seen[i % PLACEHOLDERS] &&
            !strings_add(&r->missing, p->span[s->span + i].text, error))
            return false;
    return true;
}

/* Puts the text in the case of its sentence, and of its words in capitals, but for its spans. */
static bool restore_case(char **text, const Passages *p, const Sentence *s, Error *error)
{
    TextStream stream;
    SpanFinder finder = {0};
    LetterCase written = s->written;
    char language[3];
    bundle_language(language, p->bundle, TARGET);
    bool good = textstream_open(&stream) &&
                spanfinder_open(&finder, p->span + s->span, s->spans + s->marks, error);
    for (const char *at = *text, *end = at; good && *at; at = end) {
        const CopySpan *found = NULL;
        while (*end && !(found = spanfinder_take(&finder, *text, end))) end++;
        char *piece;
        good = text_in_case(&piece, at, (size_t)(end - at), written, language, error);
        bool shout = found && s->shouted && !strcmp(found->text, COPYING_CAPITALS);
        if (good)
            fprintf(stream.out, "%s%s", piece, found && !shout ? found->text : ""), free(piece);
        if (shout) written ^= CASE_UPPER;
        if (found) end += strlen(found->text);
    }
    spanfinder_close(&finder);
    char *all = textstream_close(&stream);
    if (!all) return good && error_memory(error, "for a translation");
    free(*text);
    *text = all;
    return good;
}

/* r->text (=) the translation with the marks, and the spans that it lacks and no placeholder stands for. */
static bool copy_spans(SentenceAnswer *r, const Passages *p, const Sentence *s, int forced,
                       Error *error)
{
    int count = 0, first = p->placeholder ? s->spans : 0, end = s->spans + s->marks;
    CopySpan *span = calloc((size_t)end + 1, sizeof *span);
    bool good = span || error_memory(error, "for the spans of a translation");
    for (int i = first; good && i < end; i++) {
        const CopySpan *kept = &p->span[s->span + i];
        if ((i >= s->spans || kept->first < kept->end) && *kept->text) span[count++] = *kept;
        else if (*kept->text) good = strings_add(&r->missing, kept->text, error);
    }
    good = good && copying_spans(&r->text, span, count, p->bundle->vocabulary.tokenizer[TARGET],
                                 r->replaced, forced, r->shown, &r->lazy, error);
    for (int i = 0; good && i < count; i++)
        if (span[i].missing && strcmp(span[i].text, COPYING_CAPITALS))
            good = strings_add(&r->missing, span[i].text, error);
    free(span);
    return good;
}

/* r->missing (=) the spans of a sentence that its given translation lacks. */
static bool find_missing(SentenceAnswer *r, const Passages *p, const char *sentence,
                         size_t length, Error *error)
{
    Spans found = {0};
    bool good = spans_find(&found, p->rules, sentence, length, NULL, NULL, error);
    for (int i = 0; good && i < found.count; i++) {
        char *text = span_text(&found.span[i], sentence);
        good = text ? strstr(r->text, text) || strings_add(&r->missing, text, error)
                    : error_memory(error, "for the spans of a sentence");
        free(text);
    }
    spans_free(&found);
    return good;
}

/* r->missing (+=) the digits from 3 on, each a word of its own, that the translation of a sentence has neither so
 * nor in words, each once. The words for 1 and 2 have too many forms. */
static bool find_digits(SentenceAnswer *r, const Passages *p, const char *sentence,
                        size_t length, Error *error)
{
    char language[3], digit[2] = "";
    unsigned asked = 0;
    bundle_language(language, p->bundle, TARGET);
    for (size_t i = 0; *language && i < length; i++) {
        size_t next = i + 1 + (i + 1 < length && strchr(".,;:!?)", sentence[i + 1]));
        bool word = (!i || words_blank(sentence[i - 1])) &&
                    (next >= length || words_blank(sentence[next]));
        int number = sentence[i] - '0';
        if (!word || number < 3 || number > 9 || asked >> number & 1) continue;
        asked |= 1u << number;
        *digit = sentence[i];
        if (!words_say(r->text, number, language) && !strings_add(&r->missing, digit, error))
            return false;
    }
    return true;
}

/* Decodes a translation of sentence `number`. */
static bool render(SentenceAnswer *r, const Passages *p, int number, bool copies, Error *error)
{
    const Sentence *s = &p->sentence[number];
    const Hypothesis *h = r->hypothesis;
    r->replaced = calloc((size_t)h->length, sizeof *r->replaced);
    r->shown = calloc((size_t)h->length, sizeof *r->shown);
    if (!r->replaced || !r->shown) return error_memory(error, "for a translation");
    const int *start = p->begun ? p->begun->start + number : (int[]){0, 0};
    int forced = at_most(start[1] - start[0], h->length);
    for (int t = 0; t < forced; t++) r->replaced[t] = p->begun->unknown[start[0] + t];
    return (!copies || copying_choose(r->replaced, &r->lazy, error)) &&
           (!p->placeholder || put_back(r, p, s, error)) &&
           copy_spans(r, p, s, forced, error) &&
           ((s->written == CASE_SENTENCE && !s->shouted) ||
            restore_case(&r->text, p, s, error));
}

/* ---- the text ---- */

/* The character before text[at], or 0. */
static unsigned before(const char *text, size_t at)
{
    unsigned code = 0;
    size_t last = at;
    while (last > 0 && (text[--last] & 0xC0) == 0x80) continue;
    if (at) utf8_next(text + last, &code);
    return code;
}

/* The space between two translations whose sentences have kept [length] between them. */
static const char *space_between(const char *first, const char *kept, size_t *length,
                                 const char *after)
{
    unsigned a = before(first, strlen(first)), b = 0;
    if (*after) utf8_next(after, &b);
    bool spaceless = words_spaceless(a) && (words_spaceless(b) || !words_unspaced(a));  // 。5
    if (!*length && !spaceless && a && b) return *length = 1, " ";
    if (spaceless && strspn(kept, " ") >= *length) *length = 0;
    return kept;
}

/* Where a space is missing beside what text without spaces keeps between two sentences of a line, such as [1] or
 * </b>: before it (-1), after it (1) or nowhere (0). */
static int space_beside(const char *text, size_t begin, size_t end, const char *after)
{
    unsigned next, target = 0, last = before(text, end);
    const char *tag = last == '>' ? memrchr(text + begin, '<', end - begin) : NULL;
    for (size_t at = begin; at < end; at++)
        if (words_blank(text[at])) return 0;
    utf8_next(text + end, &next);
    if (*after) utf8_next(after, &target);
    bool unspaced = words_spaceless(before(text, begin)) || words_spaceless(next);
    if (!unspaced || words_spaceless(last) || words_spaceless(target)) return 0;
    return (tag ? tag[1] != '/' : words_opening(last)) ? -1 : 1;
}

/* a->text (=) the text with its sentences replaced by their translations. */
static bool join(TextAnswer *a, const Passages *p, const Passage *passage, Error *error)
{
    TextStream stream;
    size_t at = passage->tag;
    FILE *out = textstream_open(&stream);
    for (int i = 0; out && i <= passage->count; i++) {
        const Sentence *s = i < passage->count ? &p->sentence[passage->first + i] : NULL;
        const char *kept = passage->text + at;
        size_t length = (s ? s->begin : passage->length) - at;
        if (i > 0 && s)
            kept = space_between(a->sentence[i - 1].text, kept, &length, a->sentence[i].text);
        int space = i > 0 && s && s->follows && s->begin > at
                        ? space_beside(passage->text, at, s->begin, a->sentence[i].text)
                        : 0;
        fprintf(out, "%s%.*s%s", space < 0 ? " " : "", (int)length, kept, space > 0 ? " " : "");
        if (!s) break;
        a->sentence[i].begin = (size_t)ftell(out);
        fputs(a->sentence[i].text, out);
        at = s->end;
    }
    a->text = textstream_close(&stream);
    return a->text || error_memory(error, "for a translation");
}

/* ---- doubts ---- */

/* The share of the source's tokens that are at least ATTENDED of what some target token takes. */
static bool find_coverage(double *coverage, LazySnapshot *lazy, Error *error)
{
    const double ATTENDED = 0.1;
    int n = lazy->source_length, m = lazy->target_length, reached = 0;
    float *share = copying_shares(lazy, error);
    if (!share) return false;
    for (int j = 0; j < n - 1; j++) {
        float most = 0;
        for (int i = 0; i < m - 1; i++)
            most = fmaxf(most, share[(size_t)i * (size_t)n + (size_t)j]);
        reached += (double)most >= ATTENDED;
    }
    *coverage = n > 1 ? (double)reached / (n - 1) : NAN;
    free(share);
    return true;
}

/* a->sentence[i] (=) a translation of a sentence of the text. */
static bool answer_sentence(SentenceAnswer *r, const Passages *p, const char *text, int number,
                            const Translation *t, int h, bool copies, bool coverage,
                            Error *error)
{
    double set = p->config->min_score, least = set < 0 ? set : p->bundle->text.doubtful;
    r->hypothesis = &t->hypothesis[h < t->count ? h : t->count - 1];
    r->lazy = copying_snapshot(&p->bundle->model, &p->lines, number, r->hypothesis);
    r->limit = r->hypothesis->length >= t->limit;
    r->doubtful = least < 0 && r->hypothesis->log_probability / r->hypothesis->length < least;
    r->coverage = NAN;
    const Sentence *own = &p->sentence[number];
    size_t length = own->end - own->begin;
    text += own->begin;
    if (!render(r, p, number, copies, error) ||
        (p->whole && !p->numbers && !find_missing(r, p, text, length, error)) ||
        (!p->plain && !find_digits(r, p, text, length, error)))
        return false;
    r->lazy.unknown[TARGET] = r->replaced;
    return !coverage || find_coverage(&r->coverage, &r->lazy, error);
}

bool answer_create(TextAnswer *a, const Passages *p, int number, const Translation *translation,
                   int h, const SearchConfig *config, bool coverage, Error *error)
{
    const Passage *passage = &p->passage[number];
    size_t count = (size_t)passage->count;
    int tokens = 0;
    bool good = true, copies = config->copy_unknown && !p->plain;
    *a = (TextAnswer){.sentence = calloc(count + 1, sizeof *a->sentence)};
    if (!a->sentence) return error_memory(error, "for %zu sentences", count);
    for (int i = 0; good && i < passage->count; i++) {
        SentenceAnswer *r = &a->sentence[a->count++];
        good = answer_sentence(r, p, passage->text, passage->first + i, &translation[i], h,
                               copies, coverage, error);
        if (count > 1) snapshot_drop(&r->lazy);  // one is in memory at a time
        a->log_probability += r->hypothesis->log_probability;
        tokens += r->hypothesis->length;
    }
    if (tokens) a->score = search_score(config, a->log_probability, tokens);
    return good && join(a, p, passage, error);
}

void answer_free(TextAnswer *a)
{
    for (int i = 0; i < a->count; i++) {
        SentenceAnswer *r = &a->sentence[i];
        snapshot_drop(&r->lazy);
        strings_free(&r->missing);
        free(r->replaced);
        for (int t = 0; r->shown && t < r->hypothesis->length; t++) free(r->shown[t]);
        free(r->shown);
        free(r->text);
    }
    free(a->sentence);
    free(a->text);
    *a = (TextAnswer){0};
}
