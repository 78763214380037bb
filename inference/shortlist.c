/* shortlist.c -- see shortlist.h. */
#include "inference/shortlist.h"

bool shortlist_open(Shortlist *s, uint16_t *list, size_t count, const ModelConfig *config,
                    Error *error)
{
    int sources = config_source_vocab(config);
    size_t at = 0;
    *s = (Shortlist){.list = list, .count = count, .joint = !config->source_vocab};
    if (!list) return true;
    s->start = malloc((size_t)sources * sizeof *s->start);
    bool good = s->start || error_memory(error, "for the shortlist");
    for (int i = 0; good && i < sources; i++) {
        s->start[i] = at;
        good = (at < count && list[at] < count - at) ||
               error_set(error, "the shortlist ends at token %d of %d", i, sources);
        for (size_t k = 1; good && k <= list[at]; k++)
            good = list[at + k] < config->vocab - 1 ||
                   error_set(error, "the shortlist has token %d, but the vocabulary 0 to %d",
                             list[at + k], config->vocab - 2);
        if (good) at += 1 + (size_t)list[at];
    }
    return good && (at == count ||
                    error_set(error, "the shortlist has %zu numbers too many", count - at));
}

void shortlist_free(Shortlist *s)
{
    free(s->list);
    free(s->start);
    *s = (Shortlist){0};
}

int shortlist_most(const Shortlist *s, const int *id, int n, int C)
{
    size_t sum = s->joint ? (size_t)n : 0;
    for (int j = 0; j < n; j++) sum += s->list[s->start[id[j]]];
    return sum < (size_t)C ? (int)sum : C;
}

int shortlist_find(int *token, uint64_t *bits, const Shortlist *s, const int *id, int n, int C)
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        const uint16_t *list = s->list + s->start[id[j]];
        for (int k = 1; k <= list[0]; k++) shortlist_add(bits, list[k]);
        if (s->joint) shortlist_add(bits, id[j]);
    }
    for (size_t word = 0; word < shortlist_words(C); word++)
        for (; bits[word]; bits[word] &= bits[word] - 1)
            token[count++] = (int)word * 64 + __builtin_ctzll(bits[word]);
    return count;
}
