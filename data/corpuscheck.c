/* corpuscheck.c -- what looks wrong in a parallel corpus; see corpuscheck.h. */
#include "data/corpuscheck.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "data/corpusreader.h"

enum { WINDOW = 150, FARTHEST = 5 };                 // lines
static const double CORRELATED = 0.5, RATHER = 0.3;  // at least; more than as they stand
/* Of windows of unrelated pairs: the correlation at most, where lengths in bytes and their deviation, as
 * a share of it, are at least so much; in so many windows in a row. */
enum { UNRELATED_LENGTH = 15, UNRELATED_WINDOWS = 3 };
static const double UNRELATED = 0.2, VARIED = 0.2;
enum { FEW_QUOTED = 5 };  // of the sides with a comma, no sign of a spreadsheet

static bool is_same(CorpusSentence a, CorpusSentence b)
{
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static bool is_number(CorpusSentence line)
{
    size_t digits = 0, at = 0;
    for (; at < line.length && memchr("0123456789+-.,#", line.text[at], 15); at++)
        digits += isdigit((unsigned char)line.text[at]) != 0;
    return digits && at == line.length;
}

/* A label such as SO-333 or D1A_S0_87: ASCII letters, digits and -_.:, and at the end a number after
 * one of these. */
static bool is_label(CorpusSentence line)
{
    size_t at = line.length;
    while (at && isdigit((unsigned char)line.text[at - 1])) at--;
    bool good = at && at < line.length && memchr("-_.:", line.text[at - 1], 4);
    while (good && at--)
        good = isalnum((unsigned char)line.text[at]) || memchr("-_.:", line.text[at], 4);
    return good;
}

static bool is_address(CorpusSentence line)
{
    return (line.length > 7 && !memcmp(line.text, "http://", 7)) ||
           (line.length > 8 && !memcmp(line.text, "https://", 8));
}

static bool is_quoted(CorpusSentence line)
{
    return line.length > 1 && line.text[0] == '"' && line.text[line.length - 1] == '"';
}

static bool has_comma(CorpusSentence line)
{
    return memchr(line.text, ',', line.length);
}

static bool is_doubled(CorpusSentence line)
{
    return is_quoted(line) && memmem(line.text + 1, line.length - 2, "\"\"", 2);
}

static bool is_table(CorpusSentence line)
{
    return memchr(line.text, '\t', line.length) ||
           (is_quoted(line) && memmem(line.text, line.length, "\",\"", 3));
}

/* Whether the line has `open`, one to `most` letters, digits, # or /, and `close`. */
static bool has_markup(CorpusSentence line, char open, char close, size_t most)
{
    for (const char *at = line.text, *end = at + line.length; at < end; at++) {
        if (!(at = memchr(at, open, (size_t)(end - at)))) return false;
        const char *rest = at + 1;
        while (rest < end && (isalnum((unsigned char)*rest) || strchr("#/", *rest))) rest++;
        if (rest < end && *rest == close && rest > at + 1 && rest <= at + 1 + most) return true;
    }
    return false;
}

static int times(CorpusSentence line, const char *mark)
{
    int count = 0;
    size_t width = strlen(mark);
    const char *at = line.text, *end = at + line.length;
    for (; (at = memmem(at, (size_t)(end - at), mark, width)); at += width) count++;
    return count;
}

/* Ġ is a letter of Maltese: as a mark it begins most words. */
static bool has_pieces(CorpusSentence line)
{
    int words = times(line, "Ġ");
    return times(line, "▁") || times(line, "@@ ") || times(line, "￭") ||
           times(line, " ##") > times(line, " ## ") + times(line, " ###") ||
           (words > 1 && words * 2 > times(line, " "));
}

/* " ?" and " !" are French. */
static bool is_tokenised(CorpusSentence line)
{
    return times(line, " , ") ||
           (line.length > 2 && !memcmp(line.text + line.length - 2, " .", 2));
}

static bool has_tags(CorpusSentence line)
{
    return has_markup(line, '<', '>', 8) || times(line, "{\\");
}

static bool has(CorpusCheckKind kind, CorpusSentence s, CorpusSentence t)
{
    switch (kind) {
    case CHECK_COPIES: return false;  // find_copies
    case CHECK_SAME: return is_same(s, t);
    case CHECK_NUMBERED: return is_number(s) || is_label(s) || is_address(s);
    case CHECK_NUMBERED_TARGET: return is_number(t) || is_label(t) || is_address(t);
    case CHECK_TABLE: return is_table(s);
    case CHECK_TABLE_TARGET: return is_table(t);
    case CHECK_QUOTED: return is_quoted(s) || is_quoted(t);
    case CHECK_DOUBLED: return is_doubled(s) || is_doubled(t);
    case CHECK_ENTITIES: return has_markup(s, '&', ';', 8) || has_markup(t, '&', ';', 8);
    case CHECK_TAGS: return has_tags(s) || has_tags(t);
    case CHECK_TOKENISED: return is_tokenised(s) || is_tokenised(t);
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

/* Whether the lengths of a side from ... to-1 vary so much that they say something. */
static bool lengths_vary(const CorpusText *text, CorpusSide side, size_t from, size_t to)
{
    double n = (double)(to - from), variance = 0;
    double mean = (double)(text->start[side][to] - text->start[side][from]) / n;
    for (size_t i = from; i < to; i++) variance += pow(length_of(text, side, i) - mean, 2) / n;
    return mean >= UNRELATED_LENGTH && sqrt(variance) >= VARIED * mean;
}

static void find_slip(CorpusCheck *check, const CorpusText *text)
{
    if (text->pairs < WINDOW + 2 * FARTHEST) return;
    size_t last = text->pairs - FARTHEST - WINDOW;
    int unrelated = 0, windows = 0;
    CorpusLine begins = *text->line;
    for (size_t from = FARTHEST; !check->slipped; from += WINDOW) {
        if (from > last) from = last;
        bool vary = lengths_vary(text, SOURCE, from, from + WINDOW) &&
                    lengths_vary(text, TARGET, from, from + WINDOW);
        bool is = vary && correlation(text, from, from + WINDOW, 0) < UNRELATED;
        unrelated = is ? unrelated + 1 : 0;
        if (unrelated == 1) begins = text->line[windows ? from : 0];
        windows++;
        check->unrelated = unrelated == UNRELATED_WINDOWS ||
                           (from == last && unrelated > 1 && unrelated == windows);
        check->slipped = slip_of(text, from, from + WINDOW);
        size_t before = from > WINDOW ? from - WINDOW : FARTHEST;
        if (check->slipped)
            check->from =
                text->line[place_of_slip(text, before, from + WINDOW, check->slipped)];
        else if (check->unrelated) check->from = begins;
        if (from == last || check->unrelated) return;
    }
}

Spacing corpus_spacing(const CorpusText *text, CorpusSide side)
{
    Spacing spacing = {0};
    spacing_add(&spacing, text->bytes[side], text->start[side][text->pairs]);
    return spacing;
}

/* Finds a sentence that more than a third of the pairs have on a side: of the two that are left when
 * any three different ones strike each other out (Misra and Gries 1982). */
static void find_often(CorpusCheck *check, const CorpusText *text, CorpusSide side)
{
    CorpusSentence left[2] = {{"", 0}, {"", 0}};
    size_t votes[2] = {0};
    for (size_t i = 0; i < text->pairs; i++) {
        CorpusSentence line = corpus_sentence(text, side, i);
        int k = is_same(line, left[0]) || !(votes[0] || is_same(line, left[1])) ? 0 : 1;
        if (is_same(line, left[k]) || !votes[k]) left[k] = line, votes[k]++;
        else votes[0]--, votes[1]--;
    }
    for (int k = 0; k < 2; k++) {
        char start[4 * sizeof check->sentence[side]];
        size_t count = 0;
        for (size_t i = 0; votes[k] && i < text->pairs; i++)
            count += is_same(corpus_sentence(text, side, i), left[k]);
        if (count * 3 <= text->pairs || count < check->often[side]) continue;
        check->often[side] = count;
        snprintf(start, sizeof start, "%.*s", (int)left[k].length, left[k].text);
        utf8_fit(check->sentence[side], sizeof check->sentence[side], start);
    }
}

static void find_copies(CorpusCheck *check, const CorpusText *text)
{
    size_t slots = 2 * text->pairs + 1;
    uint64_t *seen = calloc(slots, sizeof *seen);
    for (size_t i = 0; seen && i < text->pairs; i++) {
        uint64_t hash = corpus_hash(HASH_START, corpus_sentence(text, SOURCE, i));
        hash = corpus_hash(hash, corpus_sentence(text, TARGET, i)) | 1;  // 0 is an empty slot
        size_t at = hash % slots;
        while (seen[at] && seen[at] != hash) at = (at + 1) % slots;
        if (seen[at] && !check->pairs[CHECK_COPIES]++)
            check->first[CHECK_COPIES] = text->line[i];
        seen[at] = hash;
    }
    free(seen);
}

CorpusCheck corpus_check(const CorpusText *text, const char *tag)
{
    CorpusCheck check = {0};
    size_t commas = 0, quoted = 0;  // sides with a comma
    for (size_t i = 0; i < text->pairs; i++) {
        CorpusSentence s = corpus_sentence(text, SOURCE, i),
                       t = corpus_sentence(text, TARGET, i);
        size_t without = tag ? corpus_tag(s.text, s.length, tag) : 0;
        without += without && without < s.length;  // the space
        s = (CorpusSentence){s.text + without, s.length - without};
        for (int kind = 0; kind < CHECKS; kind++)
            if (has((CorpusCheckKind)kind, s, t) && !check.pairs[kind]++)
                check.first[kind] = text->line[i];
        commas += (size_t)has_comma(s) + has_comma(t);
        quoted += (size_t)(has_comma(s) && is_quoted(s)) + (has_comma(t) && is_quoted(t));
    }
    check.spreadsheet = quoted >= FEW_QUOTED && quoted * 2 > commas;
    find_slip(&check, text);
    find_copies(&check, text);
    for (int side = 0; side < SIDES; side++) find_often(&check, text, (CorpusSide)side);
    return check;
}

enum { GRAM = 4, GRAMS = 1 << 20, LINES = 20000 };

/* The share of the sequences of bytes of a side that are in grams [GRAMS]; with `learn` it adds them. */
static double walk_grams(bool *grams, bool learn, const CorpusText *text, CorpusSide side)
{
    double all = 1, same = 0;
    size_t pairs = text->pairs < LINES ? text->pairs : LINES;
    const char *at = text->bytes[side] + text->start[side][0],
               *end = text->bytes[side] + text->start[side][pairs];
    for (; at + GRAM <= end; at++, all++) {
        bool *gram = &grams[hash_bytes(HASH_START, at, GRAM) & (GRAMS - 1)];
        same += *gram;
        *gram |= learn;
    }
    return same / all;
}

int corpus_swapped(const CorpusText *other, const CorpusText *text)
{
    bool *grams = calloc(SIDES, GRAMS);
    double share[SIDES][SIDES] = {{0}};
    for (int side = 0; grams && side < SIDES; side++) {
        walk_grams(grams + side * GRAMS, true, text, (CorpusSide)side);
        for (int s = 0; s < SIDES; s++)
            share[s][side] = walk_grams(grams + side * GRAMS, false, other, (CorpusSide)s);
    }
    free(grams);
    return (share[SOURCE][SOURCE] < share[SOURCE][TARGET]) +
           (share[TARGET][TARGET] < share[TARGET][SOURCE]);
}
