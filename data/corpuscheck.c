/* corpuscheck.c -- what looks wrong in a parallel corpus; see corpuscheck.h. */
#include "data/corpuscheck.h"

#include "base/hash.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 150, FARTHEST = 5 };                 // lines
static const double CORRELATED = 0.5, RATHER = 0.3;  // at least; more than as they stand

typedef struct Line {
    const char *text;
    size_t length;
} Line;

static Line line_of(const CorpusText *text, CorpusSide side, size_t pair)
{
    Line line;
    line.text = corpus_sentence(text, side, pair, &line.length);
    return line;
}

static bool is_number(Line line)
{
    size_t digits = 0;
    while (digits < line.length && isdigit((unsigned char)line.text[digits])) digits++;
    return digits == line.length;
}

static bool is_quoted(Line line)
{
    return line.length > 1 && line.text[0] == '"' && line.text[line.length - 1] == '"';
}

static bool is_doubled(Line line)
{
    return is_quoted(line) && memmem(line.text + 1, line.length - 2, "\"\"", 2);
}

/* Whether the line has `open`, one to `most` letters, digits, # or /, and `close`. */
static bool has_markup(Line line, char open, char close, size_t most)
{
    for (const char *at = line.text, *end = at + line.length; at < end; at++) {
        if (!(at = memchr(at, open, (size_t)(end - at)))) return false;
        const char *rest = at + 1;
        while (rest < end && (isalnum((unsigned char)*rest) || strchr("#/", *rest))) rest++;
        if (rest < end && *rest == close && rest > at + 1 && rest <= at + 1 + most) return true;
    }
    return false;
}

static int times(Line line, const char *mark)
{
    int count = 0;
    size_t width = strlen(mark);
    const char *at = line.text, *end = at + line.length;
    for (; (at = memmem(at, (size_t)(end - at), mark, width)); at += width) count++;
    return count;
}

/* Ġ is a letter of Maltese: as a mark it begins most words. */
static bool has_pieces(Line line)
{
    int words = times(line, "Ġ");
    return times(line, "▁") || times(line, "@@ ") || times(line, "￭") ||
           times(line, " ##") > times(line, " ## ") + times(line, " ###") ||
           (words > 1 && words * 2 > times(line, " "));
}

static bool has_tags(Line line)
{
    return has_markup(line, '<', '>', 8) || times(line, "{\\");
}

static bool has(CorpusCheckKind kind, Line s, Line t)
{
    switch (kind) {
    case CHECK_SAME: return s.length == t.length && !memcmp(s.text, t.text, s.length);
    case CHECK_NUMBERED: return is_number(s);
    case CHECK_QUOTED: return is_quoted(s) || is_quoted(t);
    case CHECK_DOUBLED: return is_doubled(s) || is_doubled(t);
    case CHECK_ENTITIES: return has_markup(s, '&', ';', 8) || has_markup(t, '&', ';', 8);
    case CHECK_TAGS: return has_tags(s) || has_tags(t);
    default: return has_pieces(s) || has_pieces(t);
    }
}

static double length_of(const CorpusText *text, CorpusSide side, size_t pair)
{
    return (double)(text->start[side][pair + 1] - text->start[side][pair]);
}

/* The correlation of the lengths of sources from ... to-1 and of the targets `by` lines on. */
static double correlation(const CorpusText *text, size_t from, size_t to, int by)
{
    double n = (double)(to - from), s = 0, t = 0, ss = 0, tt = 0, st = 0;
    for (size_t i = from; i < to; i++) {
        double x = length_of(text, SOURCE, i), y = length_of(text, TARGET, i + (size_t)by);
        s += x, t += y, ss += x * x, tt += y * y, st += x * y;
    }
    double variances = (ss - s * s / n) * (tt - t * t / n);
    return variances > 0 ? (st - s * t / n) / sqrt(variances) : 0;
}

/* By how many lines the targets of a window, which has FARTHEST pairs around it, have slipped; 0 if they
 * stand best as they are. */
static int slip_of(const CorpusText *text, size_t from, size_t to)
{
    int best = 0;
    double most = fmax(correlation(text, from, to, 0) + RATHER, CORRELATED);
    for (int by = -FARTHEST; by <= FARTHEST; by++) {
        double r = correlation(text, from, to, by);
        if (r > most) most = r, best = by;
    }
    return best;
}

/* The pair from..to-1 from which on the lengths go better with the target `by` lines on. */
static size_t place_of_slip(const CorpusText *text, size_t from, size_t to, int by)
{
    size_t place = from;
    double mean[SIDES], sum = 0, most = 0;
    for (int side = 0; side < SIDES; side++)
        mean[side] =
            (double)(text->start[side][to] - text->start[side][from]) / (double)(to - from);
    for (size_t i = from; i < to; i++) {
        double x = length_of(text, SOURCE, i) - mean[SOURCE];
        double y = length_of(text, TARGET, i) - mean[TARGET];
        size_t other = i + (size_t)by;
        double z = other < text->pairs ? length_of(text, TARGET, other) - mean[TARGET] : 0;
        sum += x * (y - z);
        if (sum > most) most = sum, place = i + 1;
    }
    return place;
}

static void find_slip(CorpusCheck *check, const CorpusText *text)
{
    if (text->pairs < WINDOW + 2 * FARTHEST) return;
    size_t last = text->pairs - FARTHEST - WINDOW;
    for (size_t from = FARTHEST; !check->slipped; from += WINDOW) {
        if (from > last) from = last;
        check->slipped = slip_of(text, from, from + WINDOW);
        size_t before = from > WINDOW ? from - WINDOW : FARTHEST;
        if (check->slipped)
            check->from =
                text->line[place_of_slip(text, before, from + WINDOW, check->slipped)];
        if (from == last) return;
    }
}

bool corpus_is_unspaced(const CorpusText *text, CorpusSide side)
{
    const char *at = text->bytes[side], *end = at + text->start[side][text->pairs];
    size_t spaces = 0, size = (size_t)(end - at);
    for (; at < end; at++) spaces += *at == ' ';
    return spaces * 40 < size;
}

CorpusCheck corpus_check(const CorpusText *text)
{
    CorpusCheck check = {.unspaced = corpus_is_unspaced(text, TARGET)};
    for (size_t i = 0; i < text->pairs; i++) {
        Line s = line_of(text, SOURCE, i), t = line_of(text, TARGET, i);
        for (int kind = 0; kind < CHECKS; kind++)
            if (has((CorpusCheckKind)kind, s, t) && !check.pairs[kind]++)
                check.first[kind] = text->line[i];
    }
    find_slip(&check, text);
    return check;
}

enum { GRAM = 4, GRAMS = 1 << 20, LINES = 20000 };

/* The share of the sequences of bytes of a side that are in grams [GRAMS]; with `learn` it adds them. */
static double walk_grams(bool *grams, bool learn, const CorpusText *text, CorpusSide side)
{
    double all = 1, same = 0;
    size_t pairs = text->pairs < LINES ? text->pairs : LINES;
    const char *at = text->bytes[side], *end = at + text->start[side][pairs];
    for (; at + GRAM <= end; at++, all++) {
        bool *gram = &grams[hash_bytes(HASH_START, at, GRAM) & (GRAMS - 1)];
        same += *gram;
        *gram |= learn;
    }
    return same / all;
}

bool corpus_swapped(const CorpusText *other, const CorpusText *text)
{
    bool *grams = calloc(SIDES, GRAMS);
    double share[SIDES][SIDES] = {{0}};
    for (int side = 0; grams && side < SIDES; side++) {
        walk_grams(grams + side * GRAMS, true, text, (CorpusSide)side);
        for (int s = 0; s < SIDES; s++)
            share[s][side] = walk_grams(grams + side * GRAMS, false, other, (CorpusSide)s);
    }
    free(grams);
    return share[SOURCE][SOURCE] < share[SOURCE][TARGET] ||
           share[TARGET][TARGET] < share[TARGET][SOURCE];
}
