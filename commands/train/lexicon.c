/* lexicon.c -- counts links of words; see lexicon.h. */
#include "commands/train/lexicon.h"

#include "inference/shortlist.h"

#include <stdlib.h>

/* Targets of a source token at most, and as a share of its links at least 1 in .. ; the frequent
 * tokens. */
enum { TARGETS = 50, RARE = 1000, FREQUENT = 150 };
static const real LINKED = (real)0.05;  // the least probability of a link

/* A target token of a source token. */
typedef struct Link {
    int source, target;
    int count;
} Link;

static int by_tokens(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    return x->source != y->source ? x->source - y->source : x->target - y->target;
}

static int by_count(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    return x->source != y->source ? x->source - y->source
           : x->count != y->count ? y->count - x->count
                                  : x->target - y->target;
}

/* The links of all pairs; a token is linked to </s>, too, which counts it. */
static size_t collect(Link *link, int *to, Guide *guide, const Corpus *corpus, size_t step)
{
    size_t links = 0;
    for (size_t p = 0; p < corpus->pairs; p += step) {
        PairIds pair = corpus_pair(corpus, p);
        guide_link(to, guide, &pair, LINKED);
        for (int i = 0; i < pair.length[TARGET] - 1; i++) {
            int target = pair.id[TARGET][i];
            link[links++] = (Link){ID_END, target, 1};
            if (to[i] >= 0) link[links++] = (Link){pair.id[SOURCE][to[i]], target, 1};
        }
    }
    return links;
}

/* Equal links become one with their number. */
static size_t add_up(Link *link, size_t links)
{
    size_t kept = 0;
    qsort(link, links, sizeof *link, by_tokens);
    for (size_t i = 1; i < links; i++)
        if (by_tokens(&link[kept], &link[i])) link[++kept] = link[i];
        else link[kept].count++;
    return links ? kept + 1 : 0;
}

/* list (=) the most frequent targets of each source token; returns how many numbers. */
static size_t write_list(uint16_t *list, const Link *link, size_t links, int sources)
{
    size_t used = 0, i = 0;
    for (int s = 0; s < sources; s++) {
        uint16_t *count = &list[used++];
        long long all = 0;
        size_t first = i;
        for (; i < links && link[i].source == s; i++) all += link[i].count;
        *count = 0;
        for (size_t k = first; k < i && *count < (s == ID_END ? FREQUENT : TARGETS); k++) {
            if (s != ID_END && (long long)link[k].count * RARE < all) break;
            list[used++] = (uint16_t)link[k].target;
            ++*count;
        }
    }
    return used;
}

bool lexicon_learn(uint16_t **list, size_t *count, Guide *guide, const Corpus *corpus,
                   size_t step, Error *error)
{
    size_t tokens = 0, longest = 0;
    *list = NULL;
    if (guide->sources > SHORTLIST_MOST_VOCAB || guide->targets > SHORTLIST_MOST_VOCAB)
        return true;
    for (size_t p = 0; p < corpus->pairs; p += step) {
        size_t length = (size_t)corpus_pair(corpus, p).length[TARGET];
        if (length > longest) longest = length;
        tokens += length;
    }
    Link *link = malloc(2 * tokens * sizeof *link);
    int *to = malloc(longest * sizeof *to);
    bool good = link && to;
    if (good) {
        size_t links = add_up(link, collect(link, to, guide, corpus, step));
        qsort(link, links, sizeof *link, by_count);
        *list = malloc((links + (size_t)guide->sources) * sizeof **list);
        if (*list) *count = write_list(*list, link, links, guide->sources);
        good = *list;
    }
    free(link);
    free(to);
    return good || error_memory(error, "to count links of words");
}
