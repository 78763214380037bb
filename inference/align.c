/* align.c -- from attention to a word alignment; see align.h. */
#include "inference/align.h"

#include "base/grow.h"

/* ---- shares ---- */

float *align_shares(const Snapshot *snapshot, int layer, int head, Error *error)
{
    SnapshotRows map = snapshot_map(snapshot, ATTENTION_CROSS, 0, 0);
    size_t count = (size_t)map.rows * (size_t)map.columns;
    bool all = layer == ALIGN_LAYERS;
    int end = all ? snapshot_layers(snapshot, ATTENTION_CROSS) : layer + 1;
    float *one = malloc(count * sizeof *one), *share = calloc(count, sizeof *share);
    bool good = (one && share) || error_memory(error, "to align %d words", map.rows);
    for (int l = all ? 0 : layer; good && l < end; l++) {  // (1)
        if (head != ALIGN_NORM) snapshot_weights(one, snapshot, ATTENTION_CROSS, l, head);
        else good = snapshot_norms(one, snapshot, l, error);
        for (size_t i = 0; good && i < count; i++) share[i] += one[i];
    }
    free(one);
    if (!good) return free(share), NULL;
    rows_normalise(share, map.rows, map.columns);  // (2)
    return share;
}

/* ---- links ---- */

bool links_add(Links *links, Link link, Error *error)
{
    if (!GROW(links->link, links->size, (size_t)links->count + 1))
        return error_memory(error, "for %d links", links->count + 1);
    links->link[links->count++] = link;
    return true;
}

void links_free(Links *links)
{
    free(links->link);
    *links = (Links){0};
}

static int by_words(const Link *x, const Link *y)
{
    return x->source != y->source ? x->source - y->source : x->target - y->target;
}

/* Of links of the same words the sure ones come first, those of the highest score before others. */
static int compare(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    int order = by_words(x, y);
    if (!order) order = x->possible - y->possible;
    return order ? order : (x->score < y->score) - (x->score > y->score);
}

/* Sorts the links and keeps the first of the same words. */
static void sort_distinct(Links *links)
{
    int kept = 0;
    if (links->count) qsort(links->link, (size_t)links->count, sizeof *links->link, compare);
    for (int i = 0; i < links->count; i++) {
        if (kept && by_words(&links->link[kept - 1], &links->link[i]) == 0) continue;
        links->link[kept++] = links->link[i];
    }
    links->count = kept;
}

/* The index of the largest of `count` numbers, `stride` apart; the first of equals. */
static int largest(const float *x, int count, int stride)
{
    int at = 0;
    for (int k = 1; k < count; k++)
        if (x[(size_t)k * (size_t)stride] > x[(size_t)at * (size_t)stride]) at = k;
    return at;
}

/* The link of target token i and source token j; word by word where both have several. */
static bool add_link(Links *links, int j, int i, float score, const int *target_word,
                     const int *source_word, Error *error)
{
    Link link = {source_word[j], target_word[i], false, score};
    do
        if (!links_add(links, link, error)) return false;
    while (++link.source < source_word[j + 1] && ++link.target < target_word[i + 1]);
    return true;
}

bool align_links(Links *links, const float *share, int m, int n, const int *target_word,
                 const int *source_word, Error *error)
{
    int width = n + 1;
    links->count = 0;
    for (int i = 0; i < m && n; i++) {
        const float *row = share + (size_t)i * (size_t)width;
        int j = largest(row, n, 1);
        if (!add_link(links, j, i, row[j], target_word, source_word, error)) return false;
    }
    int first_pass = links->count;
    for (int j = 0; j < n && m; j++) {
        int k = 0;
        while (k < first_pass && links->link[k].source != source_word[j]) k++;
        if (k < first_pass) continue;
        int i = largest(share + j, m, width);
        float score = share[(size_t)i * (size_t)width + (size_t)j];
        if (!add_link(links, j, i, score, target_word, source_word, error)) return false;
    }
    sort_distinct(links);
    return true;
}

bool links_spread(Links *links, const int *source, const int *target, Error *error)
{
    Links of = *links;
    bool good = true;
    *links = (Links){0};
    for (const Link *l = of.link; l < of.link + of.count; l++)
        for (int s = source[l->source]; s < source[l->source + 1]; s++)
            for (int t = target[l->target]; good && t < target[l->target + 1]; t++)
                good = links_add(links, (Link){s, t, false, l->score}, error);
    links_free(&of);
    sort_distinct(links);
    return good;
}

/* ---- a gold alignment ---- */

bool links_read(Links *links, const char *text, const char *where, int source_words,
                int target_words, Error *error)
{
    links->count = 0;
    for (int length; *(text += strspn(text, " \t\r")); text += length) {
        int source, target, end = 0;
        char mark[2], link[24];
        length = (int)strcspn(text, " \t\r");
        snprintf(link, sizeof link, "%.*s", length, text);  // sscanf reads all that follows
        bool known = (int)strspn(text, "0123456789-?p") >= length;  // sscanf takes a sign, too
        if (!known || sscanf(link, "%9d%1[-?p]%9d%n", &source, mark, &target, &end) != 3 ||
            source < 0 || target < 0 || end != length)
            return error_set(error,
                             "%s: '%.*s' is not a link like 0-0, or 0?0 if it is possible",
                             where, length, text);
        if (source >= source_words || target >= target_words)
            return error_set(error,
                             "%s: there is no %.*s between %d words and %d; words are counted "
                             "from 0",
                             where, length, text, source_words, target_words);
        if (!links_add(links, (Link){source, target, *mark != '-', 1}, error)) return false;
    }
    sort_distinct(links);
    return true;
}

/* Merges the two sorted lists. */
void align_compare(AlignError *counts, const Links *links, const Links *gold)
{
    int k = 0;
    counts->links += links->count;
    for (int g = 0; g < gold->count; g++) {
        const Link *want = &gold->link[g];
        counts->sure += !want->possible;
        while (k < links->count && by_words(&links->link[k], want) < 0) k++;
        if (k == links->count || by_words(&links->link[k], want) != 0) continue;
        counts->links_possible++;
        counts->links_sure += !want->possible;
    }
}

double align_error(const AlignError *c)
{
    double all = (double)(c->links + c->sure);
    return all > 0 ? 1 - (double)(c->links_sure + c->links_possible) / all : NAN;
}

double align_precision(const AlignError *c)
{
    return c->links ? (double)c->links_possible / (double)c->links : NAN;
}

double align_recall(const AlignError *c)
{
    return c->sure ? (double)c->links_sure / (double)c->sure : NAN;
}
