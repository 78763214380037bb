/* passage.c -- texts to sentences and back; see passage.h. */
#include "inference/passage.h"

#include <unicode/uchar.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/utf8.h"
#include "data/words.h"

enum {
    LONG = 40,      // tokens of a line that is split if nothing is known of the training text
    SENTENCES = 3,  // of a line that is split in any case
};

/* The share of the training lines that makes something usual. */
static const double MANY_SENTENCES = 0.05, MANY_CAPITALS = 0.01, MANY_TAGS = 0.9,
                    MANY_NUMBERS = 0.5;

static const char *const split_names[] = {"auto", "always", "never", NULL};

#define FIELD(name) offsetof(PassageConfig, name)
// clang-format off
const Option passage_options[] = {
    {"split", OPTION_CHOICE, FIELD(split), 0, 0, split_names, NULL,
     "translate the sentences of a line one by one: auto, where the model's training lines had fewer "
     "or shorter ones", 0},
    {"wrapped", OPTION_FLAG, FIELD(wrapped), 0, 0, NULL, NULL,
     "lines belong together up to an empty line: join them", 0},
    {"protect", OPTION_LIST, FIELD(protect), 0, 0, NULL, "REGEX",
     "also keep what this matches as it is, as numbers, addresses, tags and {…} are", 0},
    {"terms", OPTION_TEXT, FIELD(terms), 0, 0, NULL, "FILE",
     "lines of term TAB translation: translate these terms so", 0},
    {"min-score", OPTION_REAL, FIELD(min_score), -1000, 0, NULL, NULL,
     "say that a translation is doubtful if its score is lower; 0: lower than 98 % of those of the "
     "validation text", OPTION_EXPERT},
};
// clang-format on
const int passage_option_count = sizeof passage_options / sizeof *passage_options;

bool passages_open(Passages *p, const Bundle *bundle, const PassageConfig *config, Error *error)
{
    bool numbers = bundle->text.numbers > MANY_NUMBERS;
    *p = (Passages){.bundle = bundle,
                    .numbers = numbers,
                    .plain = numbers,
                    .config = config,
                    .placeholder = vocabulary_placeholder(&bundle->vocabulary),
                    .lines.find_unknown = true};
    if (!known_open(&p->known, bundle, error)) return false;
    if (!GROW(p->lines.start, p->lines.start_size, 1))
        return error_memory(error, "for the lines of a text");
    p->lines.start[0] = 0;
    const StringList *protect = &config->protect;
    if (!config->rules)
        p->own = spanrules_open(protect->item, protect->count, config->terms, error);
    p->rules = config->rules ? config->rules : p->own;
    return p->rules || (passages_free(p), false);
}

static void passage_free(Passage *passage)
{
    free(passage->text), free(passage->typed), free(passage->place);
    strings_free(&passage->unknown);
}

void passages_clear(Passages *p)
{
    idlines_clear(&p->lines);
    for (int i = 0; i < p->spans; i++) free(p->span[i].text);
    for (int i = 0; i < p->count; i++) passage_free(&p->passage[i]);
    p->count = p->spans = 0;
    p->begun = NULL;
}

void passages_free(Passages *p)
{
    passages_clear(p);
    idlines_free(&p->lines);
    spanrules_free(p->own);
    segments_free(&p->segments);
    spans_free(&p->found);
    known_close(&p->known);
    free(p->word);
    free(p->character);
    free(p->sentence);
    free(p->span);
    free(p->passage);
    *p = (Passages){0};
}

/* ---- unknown words ---- */

/* Leaves each word once, where it is first. */
static void keep_distinct(StringList *words)
{
    json_t *seen = json_object();
    int kept = 0;
    for (int i = 0; i < words->count; i++) {
        char *word = words->item[i];
        bool new = !json_object_get(seen, word);
        json_object_set_new(seen, word, json_null());
        if (new) words->item[kept++] = word;
        else free(word);
    }
    words->count = kept;
    json_decref(seen);
}

bool unknown_words(StringList *words, const IdLines *lines, int first, int end, Error *error)
{
    static const char marks[] = "!\"'(),-./:;?[]{}";
    bool good = true;
    for (int t = lines->start[first]; good && t < lines->start[end]; t++) {
        bool unknown = lines->ids.id[t] == ID_UNKNOWN && lines->unknown[t];
        char *text = unknown ? strdup(lines->unknown[t]) : NULL, *rest = NULL;
        char *word = text ? strtok_r(text, " \t", &rest) : NULL;
        for (; good && word; word = strtok_r(NULL, " \t", &rest)) {
            size_t from = strspn(word, marks), to = strlen(word);
            while (from < to && strchr(marks, word[to - 1])) word[--to] = 0;
            good = strings_add(words, from < to ? word + from : word, error);
        }
        free(text);
    }
    keep_distinct(words);
    return good;
}

/* ---- one sentence ---- */

static bool all_blank(const char *text, size_t begin, size_t end)
{
    while (begin < end && words_blank(text[begin])) begin++;
    return begin == end;
}

/* The text that is encoded, and the word of each of its bytes. */
typedef struct Encoded {
    char *text;
    int *word;
    size_t length, text_size, word_size;
    bool lowered;  // some of it
} Encoded;

/* unit [units]: of each byte of the text; the last of them of what is longer */
static bool append(Encoded *e, const char *text, size_t length, const int *unit, size_t units,
                   Error *error)
{
    if (!GROW(e->text, e->text_size, e->length + length + 1) ||
        !GROW(e->word, e->word_size, e->length + length + 1))
        return error_memory(error, "for a sentence");
    memcpy(e->text + e->length, text, length);
    for (size_t i = 0; i < length; i++) e->word[e->length++] = unit[i < units ? i : units - 1];
    return true;
}

/* Appends text[begin..end), which has no span, as the model knows it: word by word. */
static bool append_text(Encoded *e, const Passages *p, const char *text, size_t begin,
                        size_t end, LetterCase written, Error *error)
{
    bool good = true;
    for (size_t at = begin; good && at < end;) {
        size_t from = at;
        while (from < end && words_blank(text[from])) from++;
        size_t to = from;
        while (to < end && !words_blank(text[to]) && p->word[to] == p->word[from]) to++;
        char *clean = NULL, *lowered = NULL;
        const int *unit = p->unit + (to > from ? from : at);
        size_t units = to > from ? to - from : 1;
        bool space = from > at, small = p->known.small && !p->plain;
        bool begins = e->length == p->passage[p->count].tag && !small;
        LetterCase from_case = small ? CASE_UPPER : written;
        good =
            text_cleaned(&clean, text + from, to - from, known_character, &p->known, error) &&
            (from_case == CASE_SENTENCE ||
             known_lower(&lowered, &p->known, clean, from_case, begins, error)) &&
            append(e, " ", space, unit, 1, error);
        // an unknown word is copied as typed
        bool as_typed =
            good && small && written == CASE_SENTENCE &&
            known_tokens(&p->known, NULL, lowered, strlen(lowered)) >= KNOWN_UNKNOWN;
        const char *word = lowered && !as_typed ? lowered : clean;
        good = good && append(e, word, strlen(word), unit, units, error);
        e->lowered |= good && word != clean && strcmp(word, clean);
        free(clean);
        free(lowered);
        at = to;
    }
    return good;
}

/* Appends span i of a sentence, or its placeholder. */
static bool append_span(Encoded *e, const Passages *p, const char *text, const Span *span,
                        int i, Error *error)
{
    char placeholder[16];
    int length = snprintf(placeholder, sizeof placeholder, "<ph%d>", i % PLACEHOLDERS + 1);
    const int *unit = p->unit + span->begin;
    size_t bytes = span->end - span->begin;
    return p->placeholder ? append(e, placeholder, (size_t)length, unit, 1, error)
                          : append(e, text + span->begin, bytes, unit, bytes, error);
}

/* Of COPYING_CAPITALS. */
static bool is_capitals(const Span *span)
{
    return span->begin == span->end;
}

/* Adds a span with a character that the model does not know to the unknown words. ASCII's, in
 * "{name}" or "a@b", say nothing about its language. */
static bool name_unknown(const Passages *p, Passage *passage, const Span *span, Error *error)
{
    unsigned c;
    bool known = true;
    for (size_t at = span->begin; known && at < span->end;) {
        at += (size_t)utf8_decode(passage->text + at, span->end - at, &c);
        known = c < 0x80 || known_character(&p->known, c);
    }
    if (known || span->mark) return true;  // a mark comes back as it is
    char *text = strndup(passage->text + span->begin, span->end - span->begin);
    bool good =
        text ? strings_add(&passage->unknown, text, error) : error_memory(error, "for a word");
    free(text);
    return good;
}

/* Keeps the spans first .. last-1 that were found: those that are marks, or the others. */
static bool keep_spans(Passages *p, int *count, const char *text, int first, int last,
                       bool marks, Error *error)
{
    if (!GROW(p->span, p->span_size, (size_t)(p->spans + last - first)))
        return error_memory(error, "for the spans of a sentence");
    bool touches = false;  // another span touches them
    const Span *all = p->found.span;
    size_t begin = 0, end = 0;  // of the marks that touch a mark
    for (int i = first; i < last; i++) {
        const Span *found = &all[i];
        if (found->mark != marks) continue;
        if (marks && found->begin >= end) {
            int k = i + 1;
            for (begin = found->begin;
                 k < last && all[k].mark && all[k].begin == all[k - 1].end;)
                k++;
            end = all[k - 1].end;
            touches = k < last && all[k].begin == end;
        }
        bool after = !begin || words_blank(text[begin - 1]);
        UChar32 next;
        U8_GET_UNSAFE(text, end, next);
        bool stop = U_GET_GC_MASK(next) & (U_GC_PO_MASK | U_GC_PE_MASK | U_GC_PF_MASK);
        bool before = !next || words_blank(text[end]) || (stop && !touches);
        char *copy = span_text(found, text);
        if (!copy) return error_memory(error, "for the spans of a sentence");
        p->span[p->spans++] = (CopySpan){.text = copy,
                                         .ahead = marks && after && !before,
                                         .close = marks && (!after || !before)};
        ++*count;
    }
    return true;
}

const CopySpan *passages_span(const Passages *p, const Sentence *s, int id,
                              int seen[PLACEHOLDERS])
{
    int k = id - p->placeholder;
    if (!p->placeholder || k < 0 || k >= PLACEHOLDERS) return NULL;
    int i = k + PLACEHOLDERS * seen[k]++;
    return i < s->spans ? &p->span[s->span + i] : NULL;
}

/* The tokens of the spans, of which `first` and `end` are bytes of the text that was encoded; of
 * a mark the one after it. */
static void find_tokens(Passages *p, const Sentence *s)
{
    if (!s->spans && !s->marks) return;
    const Ids *begin = &p->lines.begin;
    CopySpan *span = p->span + s->span;
    int tokens = p->lines.start[p->lines.count] - p->lines.start[p->lines.count - 1] - 1, t = 0;
    for (int i = 0; i < s->spans; i++, span++) {
        while (t + 1 < tokens && begin->id[t + 1] <= span->first) t++;
        int next = t + 1;
        while (next < tokens && begin->id[next] < span->end) next++;
        bool cut = !tokens || (t + 1 == tokens && (size_t)tokens < begin->count &&
                               begin->id[tokens] <= span->first);
        span->first = t, span->end = cut ? t : next;
    }
    for (int i = t = 0; i < s->marks; i++, span++) {
        while (t < tokens && begin->id[t] < span->first) t++;
        span->first = span->end = t;
    }
}

/* Encodes a sentence; finds its placeholders, or the tokens of its spans. */
static bool encode(Passages *p, Sentence *s, const Encoded *e, Error *error)
{
    IdLines *lines = &p->lines;
    int row = (int)lines->ids.count, seen[PLACEHOLDERS] = {0};
    size_t cut;
    lines->word_at = e->word;
    if (!bundle_encode(p->bundle, SOURCE, lines, e->text, e->length, &cut, error)) return false;
    s->cut = (int)cut;
    find_tokens(p, s);
    for (; row < (int)lines->ids.count; row++) {
        const CopySpan *kept = passages_span(p, s, lines->ids.id[row], seen);
        if (!kept) continue;
        lines->unknown[row] = strdup(kept->text);
        if (!lines->unknown[row]) return error_memory(error, "for the spans of a sentence");
    }
    return true;
}

/* Whether text[begin..end), c, is a quotation mark that the model does not know. */
static bool is_strange_quote(const Passages *p, UChar32 c, const char *text, size_t begin,
                             size_t end)
{
    return u_hasBinaryProperty(c, UCHAR_QUOTATION_MARK) &&
           (!known_character(&p->known, (unsigned)c) ||
            known_tokens(&p->known, NULL, text + begin, end - begin) >= KNOWN_UNKNOWN);
}

/* Leaves out brackets and straight quotation marks around a whole sentence, and others if the model does
 * not know them. */
static void trim_quotes(const Passages *p, const char *text, size_t *begin, size_t *end)
{
    size_t first = *begin, last = *end;
    UChar32 opening = 0, closing = 0;
    if (first < last) U8_NEXT_UNSAFE(text, first, opening);
    if (first < last) U8_PREV_UNSAFE(text, last, closing);
    bool pair = opening && opening < 0x80 && strchr("([\"'", opening) &&
                u_getBidiPairedBracket(opening) == closing;
    int apart = abs(opening - closing);  // “ ” „ are neighbours, ‘ ’ ‚ too; « is 16 before »
    if (first < last &&
        (pair ||
         ((apart < 3 || apart == 16) && is_strange_quote(p, opening, text, *begin, first) &&
          is_strange_quote(p, closing, text, last, *end))) &&
        !memmem(text + first, last - first, text + *begin, first - *begin) &&
        !memmem(text + first, last - first, text + last, *end - last))
        *begin = first, *end = last;
}

/* Leaves out the full stop of a sentence if the vocabulary is of words and the training text had none. */
static void trim_stop(const Passages *p, const char *text, size_t begin, size_t *end)
{
    const TextProfile *profile = &p->bundle->text;
    UChar32 c = 0;
    if (!profile->known || tokenizer_type(p->known.tokenizer) != TOKENIZER_WORD) return;
    for (size_t at = *end; at > begin; *end = at) {
        U8_PREV_UNSAFE(text, at, c);
        bool stop = u_hasBinaryProperty(c, UCHAR_S_TERM);
        if (stop ? textprofile_has(profile, (unsigned)c) : !u_isUWhiteSpace(c)) return;
    }
}

/* Appends text[begin..end) of the last passage as a sentence, unless there is nothing to translate. */
static bool add_sentence(Passages *p, size_t begin, size_t end, Error *error)
{
    Passage *passage = &p->passage[p->count];
    const char *text = passage->text;
    Spans *found = &p->found;
    Encoded e = {0};
    bool letters = false;
    found->count = 0;
    if (!p->plain) trim_quotes(p, text, &begin, &end);
    if (!p->plain && !(spans_find(found, p->rules, text + begin, end - begin, known_character,
                                  &p->known, error) &&
                       known_dots(found, &p->known, text + begin, end - begin, error)))
        return false;
    int first = 0, last = found->count;
    for (int i = 0; i < last; i++) {
        Span *span = &found->span[i];
        span->begin += begin, span->end += begin;
        if (!name_unknown(p, passage, span, error)) return false;
    }
    while (first < last && found->span[first].outer &&
           all_blank(text, begin, found->span[first].begin))
        begin = found->span[first++].end;
    while (first < last && found->span[last - 1].outer &&
           all_blank(text, found->span[last - 1].end, end))
        end = found->span[--last].begin;
    size_t inner =
        first < last ? found->span[first].begin : end;  // a user's span may have blanks
    while (begin < inner && words_blank(text[begin])) begin++;
    inner = first < last ? found->span[last - 1].end : begin;
    while (inner < end && words_blank(text[end - 1])) end--;
    if (!p->plain) trim_stop(p, text, inner, &end);

    Sentence s = {.begin = begin, .end = end, .span = p->spans};
    bool good = append(&e, text + begin, end - begin, &(int){0}, 1, error);
    for (int i = first; good && i < last; i++) {  // what is left without the spans
        const Span *span = &found->span[i];
        bool number = u_isdigit((unsigned char)text[span->end - 1]);  // of 10km
        memset(e.text + (span->begin - begin), number ? '0' : ' ', span->end - span->begin);
        letters |= span->replacement != NULL;
    }
    letters = letters || p->numbers || (good && words_has_letter(e.text, e.length));
    if (good && !p->plain && p->bundle->text.upper + p->bundle->text.title <= MANY_CAPITALS) {
        e.text[e.length] = 0;
        s.written = text_case(e.text, e.length);
        int count = found->count;
        if (s.written == CASE_SENTENCE)
            good = known_capitals(found, &s.written, &p->known, e.text, e.length, begin, error);
        last += found->count - count;
    }
    good = good && keep_spans(p, &s.spans, text, first, last, false, error) &&
           keep_spans(p, &s.marks, text, first, last, true, error);
    e.length = 0;
    good = good && append(&e, text, passage->tag, &(int){0}, 1, error);
    size_t at = begin;
    int spans = 0, marks = 0;
    LetterCase written = s.written;
    for (int i = first; good && letters && i < last; at = found->span[i++].end) {
        bool mark = found->span[i].mark;
        CopySpan *kept = &p->span[s.span + (mark ? s.spans + marks++ : spans)];
        good = append_text(&e, p, text, at, found->span[i].begin, written, error);
        if (is_capitals(&found->span[i])) written ^= CASE_UPPER, s.shouted = true;
        kept->first = (int)e.length;
        while (mark && kept->first && words_blank(e.text[kept->first - 1])) kept->first--;
        good = good && (mark || append_span(&e, p, text, &found->span[i], spans++, error));
        kept->end = (int)e.length;
    }
    good = good && append_text(&e, p, text, at, end, s.written, error);
    if (!e.lowered || s.written == CASE_HEADLINE)
        s.written = CASE_SENTENCE;  // names: "Good Morning, Mary"
    if (good && letters) {
        good = (GROW(p->sentence, p->sentence_size, (size_t)p->lines.count + 1) ||
                error_memory(error, "for the sentences of a text")) &&
               encode(p, &s, &e, error);
        if (good) p->sentence[p->lines.count - 1] = s, passage->count++;
    }
    free(e.text);
    free(e.word);
    return good;
}

/* ---- a text ---- */

/* Whether the sentences in text[begin..end) are translated one by one. */
static bool splits(bool *split, const Passages *p, const char *text, size_t begin, size_t end,
                   int sentences, Error *error)
{
    *split = p->config->split == SPLIT_ALWAYS;
    if (p->config->split != SPLIT_AUTO) return true;
    Ids ids = {0};
    bool good = tokenizer_encode(p->known.tokenizer, &ids, text + begin, end - begin, error);
    const TextProfile *text_of = &p->bundle->text;
    size_t usual = text_of->known ? (size_t)text_of->length[PROFILE_LENGTHS - 1] : LONG;
    *split = sentences >= SENTENCES || ids.count > usual ||
             (text_of->known && text_of->sentences < MANY_SENTENCES);
    free(ids.id);
    return good;
}

/* Adds the sentences of segments first .. last, which stand on one line. */
static bool add_run(Passages *p, int first, int last, Error *error)
{
    const Segment *segment = p->segments.segment;
    size_t begin = segment[first].begin, end = segment[last].end;
    int sentences = 0;
    for (int i = first; i <= last; i++) sentences += !segment[i].kept;
    bool split = false, good = true;
    if (sentences > 1 && !p->whole)
        good = splits(&split, p, p->passage[p->count].text, begin, end, sentences, error);
    if (!split) return good && add_sentence(p, begin, end, error);
    for (int i = first; good && i <= last; i++) {
        int count = p->lines.count;
        if (segment[i].kept) continue;
        good = add_sentence(p, segment[i].begin, segment[i].end, error);
        if (good && p->lines.count > count) p->sentence[count].follows = i > first;
    }
    return good;
}

/* Whether the kept text s ends no paragraph: it is one line break with blanks around it, but no two before
 * it, or with all of the "> " that the line before it begins with, which is no heading or row of a table. */
static bool is_wrap(const char *line, const char *text, const Segment *s)
{
    const char *end = text + s->end, *first = memchr(text + s->begin, '\n', s->end - s->begin);
    if (!s->kept || !first++ || memchr(first, '\n', (size_t)(end - first))) return false;
    if (!all_blank(text, s->begin, (size_t)(first - text)) ||
        !strncmp(text + s->begin, "  ", 2) ||
        memchr(line, '|', (size_t)(text + s->begin - line)))
        return false;
    const char *mark = line + strspn(line, "> ");
    if (strchr("#=", *mark) && words_blank(mark[strspn(mark, "#=")])) return false;
    size_t prefix = (size_t)(end - first);
    size_t quoted = (size_t)(mark - line);
    return (all_blank(first, 0, prefix) && !memchr(line, '>', quoted)) ||
           (quoted >= prefix && !strncmp(line, first, prefix) &&
            !memchr(line + prefix, '>', quoted - prefix));
}

/* Whether a character is of text without spaces between its words, whose wrapped lines are joined without one. */
static bool is_unspaced(UChar32 code)
{
    return words_unspaced((unsigned)code) || words_spaceless((unsigned)code);
}

/* The bytes at the end of text[0..end) that go with the line break before `after`: of a soft hyphen, or of a
 * hyphen between two small letters; 0 in text without spaces; -1 if a space is in its place. */
static int hyphen_at(const char *text, size_t end, const char *after)
{
    UChar32 before, next;
    U8_PREV_UNSAFE(text, end, before);
    U8_GET_UNSAFE(after, 0, next);
    if (before == 0xAD) return 2;
    if (is_unspaced(before) && is_unspaced(next)) return 0;
    if (before != '-' || !end) return -1;
    U8_PREV_UNSAFE(text, end, before);
    return u_islower(before) && u_islower(next) ? 1 : -1;
}

/* The segments of the text after its tag. */
static bool find_segments(Passages *p, const Passage *passage, Error *error)
{
    size_t tag = passage->tag;
    bool good = segments_find(&p->segments, passage->text + tag, passage->length - tag,
                              p->bundle->text.language, error);
    if (good && p->numbers && !all_blank(passage->text, tag, passage->length)) {
        p->segments.segment[0] = (Segment){.end = passage->length - tag};
        p->segments.count = 1;
    }
    for (int i = 0; good && i < p->segments.count; i++)
        p->segments.segment[i].begin += tag, p->segments.segment[i].end += tag;
    return good;
}

/* Makes spaces of the line breaks between two sentences of a paragraph, but none in text without spaces; a
 * hyphen before one goes with it. */
static bool unwrap(Passages *p, Passage *passage, Error *error)
{
    const Segments *segments = &p->segments;
    char *text = passage->text;
    size_t to = passage->tag, line = to;  // so far; where the line begins that s ends
    passage->typed = strdup(text);
    passage->place = malloc((passage->length + 1) * sizeof *passage->place);
    if (!passage->typed || !passage->place) return error_memory(error, "for a text");
    for (size_t i = 0; i < to; i++) passage->place[i] = i;
    for (int i = 0; i < segments->count; i++) {
        const Segment *s = &segments->segment[i];
        size_t bytes = s->end - s->begin;
        int hyphen = -1;
        bool wrap = i && i + 1 < segments->count && !s[-1].kept && !s[1].kept &&
                    is_wrap(text + line, text, s);
        if (wrap) hyphen = hyphen_at(text, to, text + s->end);
        if (hyphen >= 0) to -= (size_t)hyphen;
        else
            for (size_t at = s->begin; at < s->end; at++)
                passage->place[to] = at, text[to++] = text[at];
        if (wrap && hyphen < 0) text[(to -= bytes - 1) - 1] = ' ';
        const char *end = wrap || !s->kept ? NULL : memrchr(text + to - bytes, '\n', bytes);
        if (end) line = (size_t)(end + 1 - text);
    }
    passage->place[to] = passage->length;
    text[passage->length = to] = 0;
    return find_segments(p, passage, error);
}

static bool add_sentences(Passages *p, Error *error)
{
    Passage *passage = &p->passage[p->count];
    size_t length = passage->length;
    int count;
    const Segments *segments = &p->segments;
    free(p->word), free(p->character);
    p->word = p->character = NULL;
    bool good = find_segments(p, passage, error) &&
                (!p->config->wrapped || unwrap(p, passage, error)) &&
                (p->word = words_number(&count, passage->text, length = passage->length, false,
                                        error)) &&
                (!p->lines.characters ||
                 (p->character = words_number(&count, passage->text, length, true, error)));
    p->unit = p->character ? p->character : p->word;
    for (int first = 0, last; good && first < segments->count; first = last + 1) {
        last = first;
        if (segments->segment[first].kept) continue;
        for (int i = first + 1; i < segments->count && (p->whole || i <= last + 2); i++)
            if (!segments->segment[i].kept && (p->whole || segments->segment[i].continues))
                last = i;
        good = add_run(p, first, last, error);
    }
    return good;
}

/* Sets the tag. If it is missing, the error names some that are not. */
static bool find_tag(Passage *passage, const Passages *p, Error *error)
{
    const TextProfile *text = &p->bundle->text;
    if (text->known && text->tags == 0) return true;
    passage->tag = tokenizer_tag(p->known.tokenizer, passage->text, passage->length);
    while (passage->tag && words_blank(passage->text[passage->tag])) passage->tag++;
    if (passage->tag || text->tags < MANY_TAGS || all_blank(passage->text, 0, passage->length))
        return true;
    char begin[41], known[64] = "";
    utf8_fit(begin, sizeof begin, passage->text);
    for (int id = 0, length = 0;
         id < tokenizer_vocab_size(p->known.tokenizer) && length < (int)sizeof known; id++)
        if (tokenizer_is_tag(p->known.tokenizer, id))
            length += snprintf(known + length, sizeof known - (size_t)length, " %s",
                               tokenizer_label(p->known.tokenizer, id));
    return error_set(error, "'%s' begins with no tag that the model has learned, which are%s",
                     begin, known);
}

bool passages_add(Passages *p, const char *text, size_t length, Error *error)
{
    if (!GROW(p->passage, p->passage_size, (size_t)p->count + 1))
        return error_memory(error, "for %d texts", p->count + 1);
    Passage *passage = &p->passage[p->count];
    *passage = (Passage){.text = malloc(length + 1), .length = length, .first = p->lines.count};
    if (!passage->text) return error_memory(error, "for a text");
    memcpy(passage->text, text, length);
    passage->text[length] = 0;
    bool good =
        (p->kept || (find_tag(passage, p, error) && add_sentences(p, error))) &&
        unknown_words(&passage->unknown, &p->lines, passage->first, p->lines.count, error);
    p->count += good;
    if (!good) passage_free(passage);
    return good;
}
