/* batch-search.h -- a search of one batch, greedy or by beams, for tests. */
#ifndef TESTS_BATCH_SEARCH_H
#define TESTS_BATCH_SEARCH_H

#include <math.h>

#include "inference/beam.h"
#include "inference/greedy.h"
#include "tests/searches.h"

enum { MOST_LENGTH = 64 };

/* What a search finds for one batch. */
typedef struct Found {
    Translation sentence[64], *at[64];
    Hypothesis hypothesis[64][MAX_BEAM];
    int id[64][MAX_BEAM][MOST_LENGTH];
} Found;

static inline bool search(Found *found, const Transformer *model, const Packed *source,
                          const SearchConfig *config, bool greedy)
{
    for (int s = 0; s < source->sentences; s++) {
        found->sentence[s] = (Translation){found->hypothesis[s], 0};
        found->at[s] = &found->sentence[s];
        for (int i = 0; i < MAX_BEAM; i++)
            found->hypothesis[s][i] = (Hypothesis){.id = found->id[s][i]};
    }
    union {
        Greedy greedy;
        BeamSearch beam;
    } *state = malloc(sizeof *state);
    Arena arena = {0};
    Error error;
    Ensemble alone = ensemble_of(model);
    SearchTask task[64];
    for (int s = 0; s < source->sentences; s++)
        task[s] =
            (SearchTask){.limit = search_limit(config, &model->config,
                                               source->start[s + 1] - source->start[s], 0)};
    for (int pass = 0; pass < 2; pass++) {
        if (greedy) greedy_layout(&state->greedy, &arena, &alone, source, task, config);
        else beam_layout(&state->beam, &arena, &alone, source, task, config);
        if (pass == 0) assert_true(arena_reserve(&arena, &error));
    }
    bool fine = greedy ? greedy_search(found->at, &state->greedy)
                       : beam_search(found->at, &state->beam);
    arena_free(&arena);
    free(state);
    return fine;
}

static Found one, two;

#endif
