/* alignhead.c -- which head aligns words best; see alignhead.h. */
#include "commands/train/alignhead.h"

#include "commands/train/lexicon.h"

#include <stdlib.h>

/* Training pairs at most, rounds over them, cells for their pairs of tokens (a prime); validation
 * pairs at most. */
enum { LEARNED = 200000, ROUNDS = 5, CELLS = 4194301, COMPARED = 100 };

static bool learn(Guide *guide, const Corpus *corpus, size_t step, const ModelConfig *config,
                  Error *error)
{
    if (!guide_create(guide, config, CELLS, error)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < corpus->pairs; i += step) {
            PairIds pair = corpus_pair(corpus, i);
            guide_count(guide, &pair);
        }
        if (!guide_end_round(guide, config, error)) return false;
    }
    return true;
}

bool alignhead_prepare(AlignHead *head, const Corpus *corpus, const Corpus *valid,
                       const ModelConfig *config, Error *error)
{
    Guide guide = {0};
    size_t step = 1 + corpus->pairs / LEARNED;
    head->pairs = valid->pairs < COMPARED ? (int)valid->pairs : COMPARED;
    head->link = malloc(valid->start[TARGET][head->pairs] * sizeof *head->link);
    bool good =
        (head->link || error_memory(error, "for links of words")) &&
        learn(&guide, corpus, step, config, error) &&
        lexicon_learn(&head->lexicon, &head->lexicon_count, &guide, corpus, step, error);
    for (int i = 0; good && i < head->pairs; i++) {
        PairIds pair = corpus_pair(valid, (size_t)i);
        guide_link(head->link + valid->start[TARGET][i], &guide, &pair, (real)0.5);
    }
    guide_free(&guide);
    return good;
}

void alignhead_free(AlignHead *head)
{
    free(head->link);
    free(head->lexicon);
    *head = (AlignHead){0};
}

/* The rows of a map whose largest weight on a token but </s> is where the link says. */
static int agreements(SnapshotRows map, const int *link)
{
    int count = 0;
    for (int i = 0; i < map.rows - 1; i++) {
        const real *weight = snapshot_row(map, i);
        int most = 0;
        for (int j = 1; j < map.columns - 1; j++)
            if (weight[j] > weight[most]) most = j;
        count += most == link[i];
    }
    return count;
}

bool alignhead_find(int *layer, int *head, const AlignHead *links, const Transformer *model,
                    const Corpus *valid, Error *error)
{
    int H = model->config.heads, all = model->config.decoder_layers * H, best = 0;
    long long linked = 0;
    long long *agreed = calloc((size_t)all, sizeof *agreed);
    bool good = agreed || error_memory(error, "to compare heads");
    for (int p = 0; good && p < links->pairs; p++) {
        PairIds pair = corpus_pair(valid, (size_t)p);
        const int *link = links->link + valid->start[TARGET][p];
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
    *layer = aligns ? best / H : -1, *head = aligns ? best % H : -1;
    free(agreed);
    return good;
}
