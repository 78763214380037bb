/* ter.c -- TER: Snover, Dorr, Schwartz, Micciulla and Makhoul 2006 (AMTA 2006), "A study of
 * translation edit rate with targeted human annotation".
 *
 *   TER = 100 · edits / words of the references
 *
 * An edit inserts, deletes or replaces a word, or shifts a run of words to another place. The fewest
 * edits are not computable in practice; the search is that of the authors' tercom 7.25, which
 * sacrebleu follows, and the scores agree with both:
 *
 *   1. the edit distance without shifts, in a beam around the diagonal, and its alignment
 *   2. every shift of up to 10 words that match a run of the reference no more than 50 places away,
 *      if both places have an error now; at most 1000 in all are tried
 *   3. the shift after which the distance is least; of several the longest, the first, and the one
 *      to the first place. If it is no gain: the end. Otherwise it is made, and 1 follows
 *
 * White space separates the words, and case is ignored, as in tercom without options. */
#include "scores/statistics.h"

#include "base/arena.h"
#include "scores/ngrams.h"

enum { BEAM = 25, SHIFT_WORDS = 10, SHIFT_PLACES = 50, SHIFTS = 1000, FAR = 1 << 29 };

/* cost(i, j): the edits from the first i words of the hypothesis to the first j of the reference.
 * Row i holds the columns first(i) up to end(i); elsewhere the cost is FAR. */
typedef struct Search {
    const uint32_t *reference;  // [m]
    int n, m, beam, width;      // width: the most columns of a row
    double slope;               // the diagonal is at column slope·i
    uint32_t *words, *shifted;  // [n] the hypothesis, and after a shift
    int *cost, *trial;          // [n+1, width] of either
    int *place;  // [m] the word of the hypothesis at or before each of the reference
    bool *own_error, *ref_error;  // [n], [m] words that the edits touch
    int tried;                    // shifts
} Search;

typedef struct Shift {
    int gain, length, from, to;
} Shift;

static int first(const Search *s, int i)
{
    int column = (int)floor(i * s->slope) - s->beam;
    return column > 0 ? column : 0;
}

static int end(const Search *s, int i)
{
    int column = (int)floor(i * s->slope) + s->beam;
    return i == s->n || column > s->m + 1 ? s->m + 1 : column;
}

static int cost_at(const Search *s, const int *cost, int i, int j)
{
    if (i == 0) return j;
    if (j < first(s, i) || j >= end(s, i)) return FAR;
    return cost[(size_t)i * (size_t)s->width + (size_t)(j - first(s, i))];
}

/* Row i of the table `cost` of these words; the row before is in the table `before`. */
static void fill_row(const Search *s, int *cost, const int *before, const uint32_t *words,
                     int i)
{
    int from = first(s, i), left = FAR, *row = cost + (size_t)i * (size_t)s->width;
    for (int j = from, stop = end(s, i); j < stop; j++) {
        int least = cost_at(s, before, i - 1, j) + 1;  // deletes words[i-1]
        if (left + 1 < least) least = left + 1;
        if (j > 0) {
            int diagonal = cost_at(s, before, i - 1, j - 1);
            diagonal += words[i - 1] != s->reference[j - 1];
            if (diagonal < least) least = diagonal;
        }
        row[j - from] = left = least;
    }
}

/* What a shift saves, which changes the words from `changed` on. */
static int shift_gain(const Search *s, int changed)
{
    for (int i = changed + 1; i <= s->n; i++)
        fill_row(s, s->trial, i == changed + 1 ? s->cost : s->trial, s->shifted, i);
    return cost_at(s, s->cost, s->n, s->m) - cost_at(s, s->trial, s->n, s->m);
}

/* Walks the table back. Replacing is preferred to deleting, and that to inserting. */
static void align(Search *s)
{
    memset(s->own_error, 0, (size_t)s->n * sizeof *s->own_error);
    memset(s->ref_error, 0, (size_t)s->m * sizeof *s->ref_error);
    for (int i = s->n, j = s->m; i > 0 || j > 0;) {
        int cost = cost_at(s, s->cost, i, j);
        bool differ = i && j && s->words[i - 1] != s->reference[j - 1];
        if (i && j && cost == cost_at(s, s->cost, i - 1, j - 1) + differ) {
            i--, j--;
            s->place[j] = i;
            s->own_error[i] = s->ref_error[j] = differ;
        } else if (i && cost == cost_at(s, s->cost, i - 1, j) + 1) {
            s->own_error[--i] = true;
        } else {
            s->ref_error[--j] = true;
            s->place[j] = i - 1;
        }
    }
}

/* Moves words [from, from+length) before word `to`, or by to - from if `to` is one of them or the
 * next. Returns where they begin then. */
static int shift(const Search *s, const Shift *move)
{
    int length = move->length, to = move->to;
    if (to > move->from + length) to -= length;
    else if (to > s->n - length) to = s->n - length;
    const uint32_t *w = s->words, *block = w + move->from;
    uint32_t *out = s->shifted;
    for (int i = 0, next = 0; i < s->n; i++) {
        if (next == move->from) next += length;
        out[i] = i >= to && i < to + length ? block[i - to] : w[next++];
    }
    return to;
}

/* Tries to shift words [h, h+length), which are those of the reference from r on. */
static void try_shifts(Search *s, Shift *best, int h, int r, int length)
{
    bool inside = s->place[r] >= h && s->place[r] < h + length;
    if (inside || !memchr(s->own_error + h, true, (size_t)length) ||
        !memchr(s->ref_error + r, true, (size_t)length))
        return;
    for (int offset = -1, to, previous = -1; offset < length; offset++, previous = to) {
        to = r + offset < 0 ? 0 : s->place[r + offset] + 1;
        if (to == previous) continue;
        Shift move = {.length = length, .from = h, .to = to};
        int begin = shift(s, &move);
        move.gain = shift_gain(s, begin < h ? begin : h);
        s->tried++;
        int better = move.gain - best->gain;
        if (!better) better = length - best->length;
        if (!better) better = best->from - h;
        if (!better) better = best->to - to;
        if (!best->length || better > 0) *best = move;
    }
}

static Shift best_shift(Search *s)
{
    Shift best = {0};
    align(s);
    for (int h = 0; h < s->n; h++) {
        int nearest = h > SHIFT_PLACES ? h - SHIFT_PLACES : 0;
        for (int r = nearest; r < s->m && r <= h + SHIFT_PLACES; r++)
            for (int k = 0; k < SHIFT_WORDS && h + k < s->n && r + k < s->m; k++) {
                if (s->words[h + k] != s->reference[r + k]) break;
                try_shifts(s, &best, h, r, k + 1);
                if (s->tried >= SHIFTS) return (Shift){0};
            }
    }
    return best;
}

static int search(Search *s)
{
    int shifts = 0;
    for (int i = 1; i <= s->n; i++) fill_row(s, s->cost, s->cost, s->words, i);
    for (Shift best; best = best_shift(s), best.gain > 0; shifts++) {
        shift(s, &best);
        memcpy(s->words, s->shifted, (size_t)s->n * sizeof *s->words);
        for (int i = 1; i <= s->n; i++) fill_row(s, s->cost, s->cost, s->words, i);
    }
    return shifts + cost_at(s, s->cost, s->n, s->m);
}

/* Takes the arrays, or measures them (arena.h). */
static void search_layout(Search *s, Arena *arena)
{
    size_t n = (size_t)s->n, m = (size_t)s->m, cells = (n + 1) * (size_t)s->width;
    s->words = ARENA_TAKE(arena, uint32_t, n);
    s->shifted = ARENA_TAKE(arena, uint32_t, n);
    s->cost = ARENA_TAKE(arena, int, cells);
    s->trial = ARENA_TAKE(arena, int, cells);
    s->place = ARENA_TAKE(arena, int, m);
    s->own_error = ARENA_TAKE(arena, bool, n);
    s->ref_error = ARENA_TAKE(arena, bool, m);
}

/* *edits (=) */
static bool count_edits(int *edits, const Codepoints *hypothesis, const Codepoints *reference,
                        Error *error)
{
    Search s = {.reference = reference->at, .n = hypothesis->length, .m = reference->length};
    *edits = s.n ? s.n : s.m;
    if (!s.n || !s.m) return true;
    s.slope = (double)s.m / s.n;
    s.beam = BEAM < s.slope / 2 ? (int)ceil(s.slope / 2 + BEAM) : BEAM;
    s.width = 2 * s.beam + 2;
    Arena arena = {0};
    search_layout(&s, &arena);
    if (!arena_reserve(&arena, NULL))
        return error_memory(error, "to count the edits of %d words", s.n);
    search_layout(&s, &arena);
    memcpy(s.words, hypothesis->at, (size_t)s.n * sizeof *s.words);
    *edits = search(&s);
    arena_free(&arena);
    return true;
}

bool ter_add(Ter *ter, const char *hypothesis, const char *const *reference, int references,
             Error *error)
{
    Comparison s;
    Ter one = {.references = references};
    bool good =
        comparison_read(&s, hypothesis, reference, references, true, NULL, NULL, error) &&
        ngrams_number_words(&s, error);
    for (int r = 0, edits; good && r < references; r++) {
        good = count_edits(&edits, s.text, &s.text[r + 1], error);
        if (r == 0 || edits < one.edits) one.edits = edits;
        one.reference_length += (double)s.text[r + 1].length / references;
    }
    comparison_free(&s);
    if (good) ter_join(ter, &one);
    return good;
}

void ter_join(Ter *ter, const Ter *part)
{
    ter->edits += part->edits;
    ter->reference_length += part->reference_length;
    ter->references = references_join(ter->references, part->references);
}

double ter_score(const Ter *ter)
{
    if (ter->reference_length > 0) return 100 * (double)ter->edits / ter->reference_length;
    return ter->edits ? 100 : 0;
}

void ter_format(const Ter *ter, char *text, size_t size)
{
    char references[32];
    references_format(ter->references, references, sizeof references);
    snprintf(text, size,
             "TER|%s|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:" SCORE_VERSION
             " = %.2f",
             references, ter_score(ter));
}
