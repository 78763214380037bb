/* copying.c -- which unknown word replaces which <unk>; see copying.h. */
#include "inference/copying.h"

#include "inference/align.h"

#include <stdlib.h>
#include <string.h>

/* Greedy assignment in the order of decreasing weight: the largest share of all <unk> and
 * unused words decides the next pair.
 * copied [m] (=) a text for each <unk> of the translation; NULL where no word is left.
 * share [m-1,n]   word [n] the unknown words of the source (=) NULL where they are used */
static void assign(const char **copied, const float *share, const char **word,
                   const Hypothesis *translation, int n)
{
    for (;;) {
        int best_word = -1, best_place = -1;
        float most = -1;
        for (int t = 0; t + 1 < translation->length; t++) {
            if (translation->id[t] != ID_UNKNOWN || copied[t]) continue;
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

bool copying_choose(const char ***copied, const IdLines *lines, int s,
                    const Hypothesis *translation, LazySnapshot *lazy, Error *error)
{
    size_t m = (size_t)translation->length, first = (size_t)lines->start[s],
           n = (size_t)lines->start[s + 1] - first;
    bool from = false, to = false;  // unknown words of the source, <unk> to replace
    *copied = NULL;
    for (size_t w = 0; lines->find_unknown && w < n; w++)
        from |= lines->unknown[first + w] != NULL;
    for (size_t t = 0; t < m; t++) to |= translation->id[t] == ID_UNKNOWN;
    if (!from || !to) return true;

    const Snapshot *snapshot = snapshot_get(lazy, error);
    if (!snapshot) return false;
    float *share = malloc(m * n * sizeof *share);
    const char **left = malloc(n * sizeof *left);
    *copied = calloc(m, sizeof **copied);
    bool good = ((share && left && *copied) || error_memory(error, "to copy words")) &&
                align_shares(share, snapshot, ALIGN_LAYERS, ALIGN_NORM, error);
    if (good) {
        memcpy(left, lines->unknown + first, n * sizeof *left);
        assign(*copied, share, left, translation, (int)n);
    }
    free(share);
    free(left);
    return good;
}
