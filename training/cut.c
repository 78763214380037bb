/* cut.c -- an update's sentences, shared out to micro-batches; see cut.h. */
#include "training/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int count_of(const Packed *source, const Packed *target, int tokens, int together)
{
    int S = source->sentences;
    long long total = (long long)source->rows + target->rows;
    long long count = (total + tokens - 1) / tokens;
    if (count > together) count = (count + together - 1) / together * together;
    return count < 1 ? 1 : count > S ? S : (int)count;
}

static int longer_first(const void *a, const void *b)
{
    const Share *one = a, *other = b;
    if (one->tokens != other->tokens) return one->tokens > other->tokens ? -1 : 1;
    return one->sentence < other->sentence ? -1 : 1;
}

static int lightest(const CutPart *part, int count)
{
    int least = 0;
    for (int k = 1; k < count; k++)
        if (part[k].tokens < part[least].tokens) least = k;
    return least;
}

bool cut_make(Cut *cut, const Packed *source, const Packed *target, int tokens, int together,
              Error *error)
{
    int S = source->sentences, count = count_of(source, target, tokens, together);
    if (!GROW(cut->part, cut->part_room, (size_t)count) ||
        !GROW(cut->sentence, cut->sentence_room, (size_t)S) ||
        !GROW(cut->share, cut->share_room, (size_t)S))
        return error_set(error, "not enough memory for %d micro-batches", count);
    CutPart *part = cut->part;
    Share *share = cut->share;
    for (int s = 0; s < S; s++)
        share[s] = (Share){packed_length(source, s) + packed_length(target, s), s, 0};
    qsort(share, (size_t)S, sizeof *share, longer_first);

    cut->count = count;
    memset(part, 0, (size_t)count * sizeof *part);
    for (int s = 0; s < S; s++) {
        int k = share[s].part = lightest(part, count);
        part[k].tokens += share[s].tokens;
        part[k].end++;
    }
    for (int k = 0, first = 0; k < count; k++) {
        int sentences = part[k].end;
        part[k].first = part[k].end = first;
        first += sentences;
    }
    for (int s = 0; s < S; s++) cut->sentence[part[share[s].part].end++] = share[s].sentence;
    return true;
}

void cut_free(Cut *cut)
{
    free(cut->part);
    free(cut->sentence);
    free(cut->share);
    *cut = (Cut){0};
}
