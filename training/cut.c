/* cut.c -- an update's sentences, shared out to micro-batches; see cut.h. */
#include "training/cut.h"

#include <stdlib.h>
#include <string.h>

static int count_of(const Packed *source, const Packed *target, int tokens, int together)
{
    int S = source->sentences;
    long long total = (long long)source->rows + target->rows;
    long long count = (total + tokens - 1) / tokens;
    if (count > together) count = (count + together - 1) / together * together;
    return count < 1 ? 1 : count > S ? S : (int)count;
}

static bool grow(int **numbers, size_t count)
{
    int *grown = realloc(*numbers, count * sizeof **numbers);
    if (grown) *numbers = grown;
    return grown;
}

static bool make_room(Cut *cut, int sentences, int count)
{
    size_t S = (size_t)sentences, K = (size_t)count;
    if (count > cut->room) {
        if (!grow(&cut->first, K + 1) || !grow(&cut->tokens, K)) return false;
        cut->room = count;
    }
    if (sentences > cut->sentences_room) {
        Share *share = realloc(cut->share, S * sizeof *share);
        if (share) cut->share = share;
        if (!share || !grow(&cut->sentence, S)) return false;
        cut->sentences_room = sentences;
    }
    return true;
}

static int longer_first(const void *a, const void *b)
{
    const Share *one = a, *other = b;
    if (one->tokens != other->tokens) return one->tokens > other->tokens ? -1 : 1;
    return one->sentence < other->sentence ? -1 : 1;
}

static int lightest(const int *tokens, int count)
{
    int least = 0;
    for (int k = 1; k < count; k++)
        if (tokens[k] < tokens[least]) least = k;
    return least;
}

bool cut_make(Cut *cut, const Packed *source, const Packed *target, int tokens, int together,
              Error *error)
{
    int S = source->sentences, count = count_of(source, target, tokens, together);
    if (!make_room(cut, S, count))
        return error_set(error, "not enough memory for %d micro-batches", count);
    Share *share = cut->share;
    for (int s = 0; s < S; s++)
        share[s] = (Share){packed_length(source, s) + packed_length(target, s), s, 0};
    qsort(share, (size_t)S, sizeof *share, longer_first);

    int *first = cut->first;
    cut->count = count;
    memset(cut->tokens, 0, (size_t)count * sizeof *cut->tokens);
    memset(first, 0, (size_t)count * sizeof *first);
    for (int s = 0; s < S; s++) {
        int k = share[s].micro_batch = lightest(cut->tokens, count);
        cut->tokens[k] += share[s].tokens;
        first[k]++;
    }
    for (int k = 1; k < count; k++) first[k] += first[k - 1];  // where each ends
    for (int s = S - 1; s >= 0; s--)
        cut->sentence[--first[share[s].micro_batch]] = share[s].sentence;
    first[count] = S;
    return true;
}

void cut_free(Cut *cut)
{
    free(cut->first);
    free(cut->sentence);
    free(cut->tokens);
    free(cut->share);
    *cut = (Cut){0};
}
