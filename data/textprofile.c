/* textprofile.c -- what a training text was like; see textprofile.h. */
#include "data/textprofile.h"

#include "base/options.h"
#include "data/segments.h"
#include "data/spans.h"
#include "data/typography.h"

#include <unicode/uchar.h>

enum { SAMPLE = 20000, USUAL = 100, LONG = 2000 };  // lines, per cent, bytes
static const int PER_CENT[PROFILE_LENGTHS] = {50, 90, 95, 99};

#define FIELD(name) offsetof(TextProfile, name)
static const Option fields[] = {
    {.name = "language", .kind = OPTION_TEXT, .offset = FIELD(language)},
    {.name = "length-50", .kind = OPTION_INT, .offset = FIELD(length[0])},
    {.name = "length-90", .kind = OPTION_INT, .offset = FIELD(length[1])},
    {.name = "length-95", .kind = OPTION_INT, .offset = FIELD(length[2])},
    {.name = "length-99", .kind = OPTION_INT, .offset = FIELD(length[3])},
    {.name = "sentences", .kind = OPTION_REAL, .offset = FIELD(sentences)},
    {.name = "numbers", .kind = OPTION_REAL, .offset = FIELD(numbers)},
    {.name = "tags", .kind = OPTION_REAL, .offset = FIELD(tags)},
    {.name = "upper", .kind = OPTION_REAL, .offset = FIELD(upper)},
    {.name = "title", .kind = OPTION_REAL, .offset = FIELD(title)},
    {.name = "doubtful", .kind = OPTION_REAL, .offset = FIELD(doubtful)},
    {.name = "aligning-layer", .kind = OPTION_INT, .offset = FIELD(aligning_layer)},
    {.name = "aligning-head", .kind = OPTION_INT, .offset = FIELD(aligning_head)},
    {.name = "characters", .kind = OPTION_TEXT, .offset = FIELD(characters)},
};

static OptionGroup group_of(const TextProfile *profile)
{
    return (OptionGroup){NULL, "source", fields, sizeof fields / sizeof *fields,
                         (void *)profile};
}

void textprofile_language(char language[3], const char *path)
{
    size_t length = strlen(path);
    if (length > 3 && !strcmp(path + length - 3, ".gz")) length -= 3;
    bool says = length >= 4 && path[length - 3] == '.' &&
                strspn(path + length - 2, "abcdefghijklmnopqrstuvwxyz") >= 2;
    snprintf(language, 3, "%s", says ? path + length - 2 : "");
}

bool textprofile_is_mark(unsigned character)
{
    return character >= 0x80 &&
           U_GET_GC_MASK((UChar32)character) & (U_GC_PI_MASK | U_GC_PF_MASK | U_GC_PD_MASK);
}

bool textprofile_characters(TextProfile *p, const CorpusText *text, const Tokenizer *tokenizer,
                            Error *error)
{
    unsigned *times = calloc(CORPUS_CODES, sizeof *times);
    size_t count = 1, at = 0;
    if (times) corpus_characters(times, text, SOURCE, tokenizer);
    for (unsigned c = 0; times && c < CORPUS_CODES; c++) count += times[c] > 0;
    char *to = p->characters = calloc(count, U8_MAX_LENGTH);
    for (unsigned c = 1; times && to && c < CORPUS_CODES; c++)
        if (times[c] && (!textprofile_is_mark(c) ||
                         times[c] >= (times['"'] + times['\''] + times['-']) / USUAL))
            U8_APPEND_UNSAFE(to, at, c);
    free(times);
    return (times && to) || error_memory(error, "to count characters");
}

/* *changes (=) whether the first span of the source sentence, unless it is a mark, is none of the target's. */
static bool span_changes(bool *changes, Spans spans[SIDES], const SpanRules *rules,
                         CorpusSentence source, CorpusSentence target, Error *error)
{
    *changes = false;
    if (source.length > LONG || target.length > LONG) return true;
    if (!spans_find(&spans[SOURCE], rules, source.text, source.length, NULL, NULL, error))
        return false;
    const Span *first = spans[SOURCE].span;
    if (!spans[SOURCE].count || first->mark) return true;
    size_t length = first->end - first->begin;
    if (!spans_find(&spans[TARGET], rules, target.text, target.length, NULL, NULL, error))
        return false;
    *changes = true;
    for (int i = 0; i < spans[TARGET].count; i++) {
        const Span *other = &spans[TARGET].span[i];
        if (other->end - other->begin == length &&
            !memcmp(target.text + other->begin, source.text + first->begin, length))
            *changes = false;
    }
    return true;
}

bool textprofile_read(TextProfile *p, const CorpusText *text, const char *path, Error *error)
{
    *p = (TextProfile){.known = true};
    Segments segments = {0};
    Spans spans[SIDES] = {0};
    SpanRules *rules = spanrules_open(NULL, 0, NULL, error);
    char language[3];
    textprofile_language(language, path);
    bool changes = false, good = rules && (!*language || (p->language = strdup(language)) ||
                                           error_memory(error, "for a language"));
    int lines = 0;
    for (size_t i = 0; good && i < text->pairs; i += 1 + text->pairs / SAMPLE, lines++) {
        int sentences = 0;
        CorpusSentence line = corpus_sentence(text, SOURCE, i);
        good =
            segments_find(&segments, line.text, line.length, p->language, error) &&
            span_changes(&changes, spans, rules, line, corpus_sentence(text, TARGET, i), error);
        for (int s = 0; s < segments.count; s++) sentences += !segments.segment[s].kept;
        LetterCase letters = text_case(line.text, line.length);
        p->sentences += sentences > 1;
        p->numbers += sentences == 0 || changes;
        p->upper += letters == CASE_UPPER;
        p->title += letters == CASE_TITLE || letters == CASE_HEADLINE;
    }
    for (int side = 0; side < SIDES; side++) spans_free(&spans[side]);
    spanrules_free(rules);
    segments_free(&segments);
    p->sentences /= lines, p->upper /= lines, p->title /= lines, p->numbers /= lines;
    return good;
}

void textprofile_free(TextProfile *p)
{
    free(p->language);
    free(p->characters);
    *p = (TextProfile){0};
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

bool textprofile_count(TextProfile *p, const Corpus *corpus, const Tokenizer *tokenizer,
                       Error *error)
{
    int *length = malloc(corpus->pairs * sizeof *length);
    if (!length) return error_memory(error, "for lengths");
    for (size_t i = 0; i < corpus->pairs; i++) {
        PairIds pair = corpus_pair(corpus, i);
        length[i] = pair.length[SOURCE];
        p->tags += tokenizer_is_tag(tokenizer, pair.id[SOURCE][0]) / (double)corpus->pairs;
    }
    qsort(length, corpus->pairs, sizeof *length, by_number);
    for (int q = 0; q < PROFILE_LENGTHS; q++)
        p->length[q] = length[(corpus->pairs - 1) * (size_t)PER_CENT[q] / 100];
    free(length);
    return true;
}

bool textprofile_has(const void *profile, unsigned character)
{
    char bytes[5] = "";
    size_t length = 0;
    U8_APPEND_UNSAFE(bytes, length, character);
    return character && strstr(((const TextProfile *)profile)->characters, bytes);
}

char *textprofile_to_json(const TextProfile *p)
{
    OptionGroup group = group_of(p);
    return p->known ? options_to_json(&group, 1, false) : NULL;
}

bool textprofile_from_json(TextProfile *p, const char *text, const char *source, Error *error)
{
    OptionGroup group = group_of(p);
    *p = (TextProfile){.known = text};
    return !text || (options_from_json(&group, 1, text, source, false, error) &&
                     (p->characters ||
                      error_set(error, "%s: its training text has no characters", source)));
}
