/* run-wordlinks.c -- what a model learns from links of words, which the aligner (training/guide.h) finds
 * in the training text; see run.h.
 *
 *   - which head of cross-attention aligns words best: the one that most often puts its largest
 *     weight on the source token linked to the target token which it is about to write. A head
 *     that aligns the token that it has just read is one row late, and loses
 *   - which target tokens translate each source token: its shortlist (inference/shortlist.h) */
#include "commands/train/run.h"

#include "explain/maps.h"
#include "inference/shortlist.h"

/* Training pairs at most, rounds over them, cells for their pairs of tokens (a prime); validation
 * pairs at most. */
enum { LEARNED = 200000, ROUNDS = 5, CELLS = 4194301, COMPARED = 100 };

bool run_learn_guide(Guide *guide, const Run *run, size_t cells, size_t step, Error *error)
{
    const ModelConfig *config = &run->model.config;
    bool good = guide_create(guide, config_source_vocab(config), config->vocab,
                             config->max_length, cells, error);
    for (int round = 0; good && round < ROUNDS; round++) {
        for (size_t i = 0; i < run->corpus.pairs; i += step) {
            PairIds pair = corpus_pair(&run->corpus, i);
            guide_count(guide, &pair);
        }
        good = guide_end_round(guide, round == ROUNDS - 1, error);
    }
    return good;
}

/* ---- the shortlist ---- */

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

/* The guide must have learned; `step` chooses every step-th pair. */
static bool learn_shortlist(Run *run, Guide *guide, size_t step, Error *error)
{
    const Corpus *corpus = &run->corpus;
    size_t tokens = 0, longest = (size_t)run->model.config.max_length;
    if (guide->sources > SHORTLIST_MOST_VOCAB || guide->targets > SHORTLIST_MOST_VOCAB)
        return true;
    for (size_t p = 0; p < corpus->pairs; p += step)
        tokens += (size_t)corpus_pair(corpus, p).length[TARGET];
    Link *link = malloc(2 * tokens * sizeof *link);
    int *to = malloc(longest * sizeof *to);
    bool good = link && to;
    if (good) {
        size_t count = add_up(link, collect(link, to, guide, corpus, step));
        uint16_t *list = malloc((count + (size_t)guide->sources) * sizeof *list);
        qsort(link, count, sizeof *link, by_count);
        if (list) run->links.shortlist_count = write_list(list, link, count, guide->sources);
        run->links.shortlist = list;
        good = list;
    }
    free(link);
    free(to);
    return good || error_memory(error, "to count links of words");
}

/* ---- the head ---- */

static bool prepare(Run *run, Error *error)
{
    Guide guide = {0};
    WordLinks *links = &run->links;
    const Corpus *valid = &run->valid;
    size_t step = 1 + run->corpus.pairs / LEARNED;
    links->pairs = valid->pairs < COMPARED ? (int)valid->pairs : COMPARED;
    links->link = malloc(valid->start[TARGET][links->pairs] * sizeof *links->link);
    bool good = (links->link || error_memory(error, "for links of words")) &&
                run_learn_guide(&guide, run, CELLS, step, error) &&
                learn_shortlist(run, &guide, step, error);
    for (int i = 0; good && i < links->pairs; i++) {
        PairIds pair = corpus_pair(valid, (size_t)i);
        guide_link(links->link + valid->start[TARGET][i], &guide, &pair, (real)0.5);
    }
    guide_free(&guide);
    if (!good) free(links->link), links->link = NULL;
    return good;
}

/* The rows of a map whose largest weight on a token but </s> is where the link says. */
static int agreements(SnapshotRows map, const int *link)
{
    int count = 0;
    for (int i = 0; i < map.rows - 1; i++)
        count += row_most(snapshot_row(map, i), map.columns - 1) == link[i];
    return count;
}

bool run_find_head(Run *run, Error *error)
{
    const WordLinks *links = &run->links;
    const Transformer *model = &run->model;
    if (!links->link && !prepare(run, error)) return false;
    int H = model->config.heads, all = model->config.decoder_layers * H, best = 0;
    long long linked = 0;
    long long *agreed = calloc((size_t)all, sizeof *agreed);
    bool good = agreed || error_memory(error, "to compare heads");
    for (int p = 0; good && p < links->pairs; p++) {
        PairIds pair = corpus_pair(&run->valid, (size_t)p);
        const int *link = links->link + run->valid.start[TARGET][p];
        Snapshot *snapshot = snapshot_open(model, pair.id[SOURCE], pair.length[SOURCE],
                                           pair.id[TARGET], pair.length[TARGET], error);
        good = snapshot;
        for (int i = 0; i < pair.length[TARGET] - 1; i++) linked += link[i] >= 0;
        for (int h = 0; good && h < all; h++)
            agreed[h] +=
                agreements(snapshot_map(snapshot, ATTENTION_CROSS, h / H, h % H), link);
        snapshot_close(snapshot);
    }
    for (int h = 1; good && h < all; h++)
        if (agreed[h] > agreed[best]) best = h;
    bool aligns = good && linked && agreed[best] * 5 >= linked * 2;
    run->profile.aligning_layer = aligns ? best / H + 1 : 0;
    run->profile.aligning_head = aligns ? best % H + 1 : 0;
    free(agreed);
    return good;
}
