/* align.c -- from attention to an alignment of words; see align.h. */
#include "inference/align.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares ---- */

static bool layer_weights(float *out, const Snapshot *snapshot, int layer, int head,
                          Error *error)
{
    if (head == ALIGN_NORM)
        return snapshot_norms(out, snapshot, ATTENTION_CROSS, layer, -1, error);
    if (head == ALIGN_MEAN) snapshot_mean(out, snapshot, ATTENTION_CROSS, layer);
    else snapshot_head(out, snapshot, ATTENTION_CROSS, layer, head);
    return true;
}

/* one [count] scratch */
static bool weights(float *out, float *one, size_t count, const Snapshot *snapshot, int layer,
                    int head, Error *error)
{
    if (layer != ALIGN_LAYERS) return layer_weights(out, snapshot, layer, head, error);
    memset(out, 0, count * sizeof *out);
    for (int l = 0; l < snapshot_layers(snapshot, ATTENTION_CROSS); l++) {
        if (!layer_weights(one, snapshot, l, head, error)) return false;
        for (size_t i = 0; i < count; i++) out[i] += one[i];
    }
    return true;
}

bool align_shares(float *share, const Snapshot *snapshot, int layer, int head, AlignStep step,
                  Error *error)
{
    AttentionMap map = snapshot_map(snapshot, ATTENTION_CROSS, 0, 0);
    size_t columns = (size_t)map.columns, first = step == STEP_READS ? columns : 0;
    size_t count = (size_t)map.rows * columns;
    float *all = malloc(2 * count * sizeof *all);
    if (!all) return error_set(error, "not enough memory to align %d words", map.rows);
    bool good = weights(all, all + count, count, snapshot, layer, head, error);  // (1)
    memcpy(share, all + first, (size_t)(map.rows - 1) * columns * sizeof *share);
    free(all);
    for (int i = 0; i + 1 < map.rows && good; i++) {  // (2)
        float *row = share + (size_t)i * columns;
        double sum = 0;
        for (int j = 0; j < map.columns; j++) sum += (double)row[j];
        for (int j = 0; j < map.columns && sum > 0; j++) row[j] = (float)(row[j] / sum);
    }
    return good;
}

/* ---- links ---- */

/* Keeps neither order nor distinctness. */
static bool links_add(Links *links, Link link, Error *error)
{
    if (links->count == links->size) {
        int size = links->size ? 2 * links->size : 32;
        Link *grown = realloc(links->link, (size_t)size * sizeof *grown);
        if (!grown) return error_set(error, "not enough memory for %d links", size);
        links->link = grown;
        links->size = size;
    }
    links->link[links->count++] = link;
    return true;
}

void links_free(Links *links)
{
    free(links->link);
    *links = (Links){0};
}

static int compare(const void *a, const void *b)
{
    const Link *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return x->possible - y->possible;  // a sure one first, which distinct() keeps
}

static void sort_distinct(Links *links)
{
    int kept = 0;
    if (links->count) qsort(links->link, (size_t)links->count, sizeof *links->link, compare);
    for (int i = 0; i < links->count; i++) {
        const Link *link = &links->link[i];
        if (kept && links->link[kept - 1].source == link->source &&
            links->link[kept - 1].target == link->target)
            continue;
        links->link[kept++] = *link;
    }
    links->count = kept;
}

/* The largest of count numbers, `stride` apart; the first of equals. */
static int largest(const float *x, int count, int stride)
{
    int at = 0;
    for (int k = 1; k < count; k++)
        if (x[(size_t)k * (size_t)stride] > x[(size_t)at * (size_t)stride]) at = k;
    return at;
}

static bool is_linked(const Links *links, int source)
{
    for (int k = 0; k < links->count; k++)
        if (links->link[k].source == source) return true;
    return false;
}

bool align_links(Links *links, const float *share, int m, int n, const int *target_word,
                 const int *source_word, double threshold, Error *error)
{
    int width = n + 1;
    bool good = true;
    links->count = 0;
    for (int i = 0; i < m && n && good; i++) {
        const float *row = share + (size_t)i * (size_t)width;
        for (int j = 0; j < n && threshold > 0 && good; j++)
            if ((double)row[j] >= threshold)
                good = links_add(links, (Link){source_word[j], target_word[i], false}, error);
        if (threshold > 0) continue;
        int j = largest(row, n, 1);
        good = links_add(links, (Link){source_word[j], target_word[i], false}, error);
    }
    int first_pass = links->count;
    for (int j = 0; j < n && m && threshold <= 0 && good; j++) {
        Links linked = {links->link, first_pass, first_pass};
        if (is_linked(&linked, source_word[j])) continue;
        int i = largest(share + j, m, width);
        good = links_add(links, (Link){source_word[j], target_word[i], false}, error);
    }
    sort_distinct(links);
    return good;
}

/* ---- a right alignment ---- */

/* A number of decimal digits at *text, at most `limit`, behind which *text goes; else -1. */
static int read_place(const char **text, int limit)
{
    const char *c = *text;
    long value = 0;
    while (*c >= '0' && *c <= '9' && value <= INT_MAX / 10 - 9)
        value = 10 * value + (*c++ - '0');
    if (c == *text || value > limit) return -1;
    *text = c;
    return (int)value;
}

bool links_read(Links *links, const char *text, const char *where, int source_words,
                int target_words, Error *error)
{
    links->count = 0;
    while (*(text += strspn(text, " \t\r"))) {
        const char *begin = text;
        int length = (int)strcspn(text, " \t\r");
        int source = read_place(&text, INT_MAX / 10), mark = source < 0 ? 0 : *text++;
        int target = mark && strchr("-?p", mark) ? read_place(&text, INT_MAX / 10) : -1;
        if (target < 0 || text != begin + length)
            return error_set(error,
                             "%s: '%.*s' is not a link like 0-0, or 0?0 if it is possible",
                             where, length, begin);
        if (source >= source_words || target >= target_words)
            return error_set(error,
                             "%s: there is no %.*s between %d words and %d; words are counted "
                             "from 0",
                             where, length, begin, source_words, target_words);
        if (!links_add(links, (Link){source, target, mark != '-'}, error)) return false;
    }
    sort_distinct(links);
    return true;
}

/* Both are sorted: one walk along the two. */
void align_compare(AlignError *counts, const Links *links, const Links *right)
{
    int k = 0;
    counts->links += links->count;
    for (int r = 0; r < right->count; r++) {
        const Link *want = &right->link[r];
        counts->sure += !want->possible;
        while (k < links->count && (links->link[k].source < want->source ||
                                    (links->link[k].source == want->source &&
                                     links->link[k].target < want->target)))
            k++;
        if (k == links->count || links->link[k].source != want->source ||
            links->link[k].target != want->target)
            continue;
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
