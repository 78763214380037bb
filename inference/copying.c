/* copying.c -- which unknown word replaces which <unk>; see copying.h. */
#include "inference/copying.h"

#include "inference/align.h"

#include <stdlib.h>
#include <string.h>

/* The first unknown word of line s; *count (=) how many the line has. */
static const Unknown *unknown_of_line(const IdLines *lines, int s, int *count)
{
    int first = 0, end;
    while (first < lines->unknowns && lines->unknown[first].row < lines->start[s]) first++;
    for (end = first; end < lines->unknowns && lines->unknown[end].row < lines->start[s + 1];)
        end++;
    *count = end - first;
    return lines->unknown + first;
}

static int count_unknown(const Hypothesis *translation)
{
    int count = 0;
    for (int t = 0; t < translation->length; t++) count += translation->id[t] == ID_UNKNOWN;
    return count;
}

/* Greedy assignment in the order of decreasing weight: the largest share of all <unk> and
 * unused words decides the next pair.
 * copied [m] (=) a text for each <unk> of the translation; NULL where no word is left.
 * share [m-1,n]   left [words]: true */
static void assign(const char **copied, const float *share, bool *left, const Unknown *word,
                   int words, const Hypothesis *translation, int source_start, int n)
{
    for (;;) {
        int best_word = -1, best_place = -1;
        float most = -1;
        for (int t = 0; t + 1 < translation->length; t++) {
            if (translation->id[t] != ID_UNKNOWN || copied[t]) continue;
            for (int w = 0; w < words; w++) {
                float own = share[(size_t)t * (size_t)n + (size_t)(word[w].row - source_start)];
                if (left[w] && own > most) most = own, best_word = w, best_place = t;
            }
        }
        if (best_word < 0) return;
        copied[best_place] = word[best_word].text;
        left[best_word] = false;
    }
}

bool copying_decode(char **text, const Tokenizer *tokenizer, const IdLines *lines, int s,
                    const Hypothesis *translation, LazySnapshot *lazy, Error *error)
{
    int words = 0, first = lines->start[s], n = lines->start[s + 1] - first;
    size_t m = (size_t)translation->length;
    const Unknown *word = unknown_of_line(lines, s, &words);
    if (!words || !count_unknown(translation))
        return tokenizer_decode(tokenizer, text, translation->id, m, error);

    const Snapshot *snapshot = snapshot_get(lazy, error);
    if (!snapshot) return false;
    float *share = malloc(m * (size_t)n * sizeof *share);
    const char **copied = calloc(m, sizeof *copied);
    bool *left = calloc((size_t)words, sizeof *left);
    bool good =
        ((share && copied && left) || error_set(error, "not enough memory to copy words")) &&
        align_shares(share, snapshot, ALIGN_LAYERS, ALIGN_NORM, STEP_WRITES, error);
    if (good) {
        memset(left, true, (size_t)words);
        assign(copied, share, left, word, words, translation, first, n);
        good = tokenizer_decode_unknown(tokenizer, text, translation->id, m, copied, error);
    }
    free(share);
    free(copied);
    free(left);
    return good;
}
