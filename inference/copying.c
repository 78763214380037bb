/* copying.c -- which unknown word goes where; see copying.h. */
#include "inference/copying.h"

#include "inference/align.h"

#include <stdlib.h>

/* The unknown words of line s: the first of them, and how many. */
static const Unknown *of_line(const IdLines *lines, int s, int *count)
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

/* copied [m] (=) a text for each <unk> of the translation, as far as there are enough.
 * share [m-1,n]   left [words]: true */
static void give_out(const char **copied, const float *share, bool *left, const Unknown *word,
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

bool copying_decode(char **text, const Bundle *bundle, const IdLines *lines, int s,
                    const Hypothesis *translation, Error *error)
{
    const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[TARGET];
    int words = 0, m = translation->length, first = lines->start[s];
    int n = lines->start[s + 1] - first;
    const Unknown *word = of_line(lines, s, &words);
    if (!words || !count_unknown(translation))
        return tokenizer_decode(tokenizer, text, translation->id, (size_t)m, error);

    Snapshot *snapshot =
        snapshot_open(&bundle->model, lines->ids.id + first, n, translation->id, m, error);
    if (!snapshot) return false;
    float *share = malloc((size_t)m * (size_t)n * sizeof *share);
    const char **copied = calloc((size_t)m, sizeof *copied);
    bool *left = malloc((size_t)words * sizeof *left);
    bool good =
        (share && copied && left) || error_set(error, "not enough memory to copy words");
    good = good && align_shares(share, snapshot, ALIGN_LAYERS, ALIGN_NORM, STEP_WRITES, error);
    if (good) {
        for (int w = 0; w < words; w++) left[w] = true;
        give_out(copied, share, left, word, words, translation, first, n);
        good = tokenizer_decode_unknown(tokenizer, text, translation->id, (size_t)m, copied,
                                        error);
    }
    free(share);
    free(copied);
    free(left);
    snapshot_close(snapshot);
    return good;
}
