/* choices.c -- see choices.h. */
#include "inference/choices.h"

#include <math.h>

#include "base/packed.h"
#include "inference/constraints.h"

/* Whether the constraints need no logits but those of </s> and <unk>, which are in the first
 * piece. */
static bool in_pieces(const SearchBatch *batch)
{
    const SearchConfig *config = batch->config;
    bool simple = batch->ensemble->count == 1 && config->repetition_penalty <= 1 &&
                  !config->no_repeat_ngram && !config->min_length;
    for (int s = 0; s < batch->source.sentences; s++)
        simple = simple && !batch->task[s].unknowns && !batch->task[s].prefix_length;
    return simple;
}

void choices_layout(Choices *choices, Arena *arena, const SearchBatch *batch, int most)
{
    size_t rows = (size_t)batch->source.sentences * (size_t)search_rows(batch->config);
    bool pieces = most && in_pieces(batch);
    choices->most = most;
    Best *token = ARENA_TAKE(arena, Best, rows * (size_t)most);
    choices->choice = ARENA_TAKE(arena, Choice, most ? rows : 0);
    for (size_t r = 0; choices->choice && r < (most ? rows : 0); r++)
        choices->choice[r].token = token + r * (size_t)most;
    choices->piece = pieces ? ARENA_TAKE(arena, real, rows * NORMALISED) : NULL;
    predictor_layout(&choices->predictor, arena, batch, !pieces);
}

/* Whether all of z [C] are finite. */
static bool all_finite(const real *z, int C)
{
    int infinite = 0;
#pragma omp simd reduction(| : infinite) simdlen(16)
    for (int c = 0; c < C; c++) infinite |= !(z[c] - z[c] == 0);
    return !infinite;
}

/* The score that a further token must exceed. */
static real least_kept(const Choice *choice, int most)
{
    return choice->count < most ? (real)-INFINITY : (real)choice->token[most - 1].value;
}

/* Keeps the best of z [count], the scores of the classes from `first` on. A block is skipped if
 * its largest cannot be kept. */
static void keep_best(Choice *choice, int most, const real *z, int first, int count)
{
    enum { BLOCK = 64 };
    for (int c = 0; c < count; c += BLOCK) {
        int end = c + at_most(count - c, BLOCK);
        real least = least_kept(choice, most);
        if (!(search_maximum(z + c, end - c) > least)) continue;
        for (int i = c; i < end; i++) {
            if (!(z[i] > least)) continue;
            best_add(choice->token, &choice->count, most, first + i, z[i]);
            least = least_kept(choice, most);
        }
    }
}

/* Adds the classes from `first` on to row r's choice.   z [count], at most `largest` */
static void choose(Choices *choices, const Prefix *prefix, int r, real *z, int first, int count,
                   real largest)
{
    const SearchTask *task = &choices->predictor.batch->task[prefix[r].sentence];
    Choice *choice = &choices->choice[r];
    int forced = constraints_forced(task, choices->predictor.cache->step);
    if (forced != NOTHING_FORCED) {
        if (forced >= first && forced < first + count)
            best_add(choice->token, &choice->count, choices->most, forced, z[forced - first]);
        return;
    }
    if (first == 0) constraints_apply(z, choice->normaliser, &choices->predictor, r, task);
    if (largest > least_kept(choice, choices->most))
        keep_best(choice, choices->most, z, first, count);
}

static bool fill_in_pieces(Choices *choices, const Prefix *prefix, bool normalised)
{
    const Predictor *predictor = &choices->predictor;
    const Transformer *model = predictor->batch->ensemble->model[0];
    int C = model->config.vocab - 1, rows = predictor->rows;
    bool finite = true;
    for (int first = 0; first < C && finite; first += NORMALISED) {
        int count = at_most(C - first, NORMALISED);
        real *z = choices->piece;
        logits_classes(z, predictor->X[0], &model->weights, rows, first, count,
                       model->config.d_model);
        for (int r = 0; r < rows; r++, z += count) {
            real largest = normalised ? normaliser_add(&choices->choice[r].sum, z, count)
                                      : search_maximum(z, count);
            finite = finite && (normalised || all_finite(z, count));
            choose(choices, prefix, r, z, first, count, largest);
        }
    }
    for (int r = 0; r < rows && normalised; r++) {
        Choice *choice = &choices->choice[r];
        choice->normaliser = normaliser_value(&choice->sum);
        finite = finite && isfinite(choice->normaliser);
    }
    return finite;
}

bool choices_fill(Choices *choices, const Prefix *prefix, bool normalised)
{
    int C = ensemble_tokens(choices->predictor.batch->ensemble);
    for (int r = 0; r < choices->predictor.rows; r++)
        choices->choice[r] = (Choice){.token = choices->choice[r].token};
    if (choices->piece) return fill_in_pieces(choices, prefix, normalised);
    for (int r = 0; r < choices->predictor.rows; r++) {
        double *normaliser = &choices->choice[r].normaliser;
        real *z = predictor_row(&choices->predictor, r, normaliser);
        if (!isfinite(*normaliser)) return false;
        choose(choices, prefix, r, z, 0, C, (real)INFINITY);
    }
    return true;
}
