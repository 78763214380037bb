/* predictor.c -- the scores of one model, or the mean of several models' probabilities:
 *
 *   z_c = ln Σ_m e^(z_mc - n_m),   n_m = ln Σ_c e^(z_mc),      ln p(c) = z_c - ln M
 *
 * Two terms a ≥ b are added as a + ln(1 + e^(b - a)), so that ln p is right even if every
 * model's probability is too small for a float (e^-90). Why this mean: ensemble.h. */
#include "inference/predictor.h"

#include "kernels/vecexp.h"

int scores_place(const Scores *scores, int token)
{
    int first = 0, end = scores->count;
    if (!scores->token) return token;
    while (end - first > 1) {
        int middle = (first + end) / 2;
        if (scores->token[middle] <= token) first = middle;
        else end = middle;
    }
    return scores->token[first] == token ? first : -1;
}

/* ---- a shortlist ---- */

/* Takes the memory for the tokens of each sentence; returns the most that one can have. */
static int candidates_layout(Predictor *predictor, Arena *arena, const SearchBatch *batch)
{
    const Ensemble *ensemble = batch->ensemble;
    int S = batch->source.sentences, C = ensemble_tokens(ensemble), largest = 0;
    predictor->candidates = ARENA_TAKE(arena, Candidates, (size_t)S);
    predictor->bits = ARENA_TAKE(arena, uint64_t, shortlist_words(C));
    for (int s = 0; s < S; s++) {
        const SearchTask *task = &batch->task[s];
        int most = shortlist_most(ensemble->shortlist, task->source, task->length, C) + 2 +
                   PLACEHOLDERS + CONTINUATIONS + task->prefix_length;
        Candidates c = {.token = ARENA_TAKE(arena, int, (size_t)most)};
        c.rows = int8_take(arena, most, ensemble->model[0]->config.d_model);
        c.bias = ARENA_TAKE(arena, real, (size_t)most);
        if (predictor->candidates) predictor->candidates[s] = c;
        if (most > largest) largest = most;
    }
    return largest;
}

/* Whether a byte beyond ASCII is among the tokens. */
static bool has_bytes(const Candidates *c, int first_byte)
{
    bool found = false;
    for (int i = 0; i < c->count; i++)
        found |= c->token[i] >= first_byte + CONTINUATION && c->token[i] <= first_byte + 0xFF;
    return found;
}

static void candidates_find(Predictor *predictor)
{
    const SearchBatch *batch = predictor->batch;
    const Weights *w = &batch->ensemble->model[0]->weights;
    int C = ensemble_tokens(batch->ensemble);
    memset(predictor->bits, 0, shortlist_words(C) * sizeof *predictor->bits);
    for (int s = 0; s < batch->source.sentences; s++) {
        const SearchTask *task = &batch->task[s];
        Candidates *c = &predictor->candidates[s];
        uint64_t *bits = predictor->bits;
        bool bytes = false;  // that begin a character: then it can end, too
        do {
            shortlist_add(bits, ID_END), shortlist_add(bits, ID_UNKNOWN);
            for (int i = 0; task->placeholder && i < PLACEHOLDERS; i++)
                shortlist_add(bits, task->placeholder + i);
            for (int i = 0; bytes && i < CONTINUATIONS; i++)
                shortlist_add(bits, task->first_byte + CONTINUATION + i);
            for (int i = 0; i < task->prefix_length; i++) shortlist_add(bits, task->prefix[i]);
            c->count = shortlist_find(c->token, bits, batch->ensemble->shortlist, task->source,
                                      task->length, C);
        } while (!bytes && task->first_byte && (bytes = has_bytes(c, task->first_byte)));
        int8_gather(c->rows, w->output.int8, c->token, c->count);
        for (int i = 0; i < c->count; i++) c->bias[i] = w->logits_bias[c->token[i]];
    }
}

/* The logits of all rows of a sentence are computed with its first row. */
static Scores candidates_row(Predictor *predictor, int r)
{
    const Prefix *prefix = predictor->prefix;
    int sentence = prefix[r].sentence, end = r + 1;
    const Candidates *c = &predictor->candidates[sentence];
    real *block = predictor->logits[0];
    if (r == 0 || prefix[r - 1].sentence != sentence) {
        while (end < predictor->rows && prefix[end].sentence == sentence) end++;
        predictor->first = r;
        int8_multiply(block, predictor->X[0] + (size_t)r * (size_t)c->rows->columns, c->rows,
                      c->bias, end - r, c->count);
    }
    return (Scores){block + (size_t)(r - predictor->first) * (size_t)c->count, c->count,
                    c->token};
}

/* ---- one or several models ---- */

void predictor_layout(Predictor *predictor, Arena *arena, const SearchBatch *batch)
{
    const SearchConfig *c = batch->config;
    int S = batch->source.sentences, each = search_rows(c), steps = 0, capacity = 0;
    for (int s = 0; s < S; s++) {
        if (batch->task[s].limit > steps) steps = batch->task[s].limit;
        capacity += batch->task[s].limit * each;
    }
    predictor->batch = batch;
    predictor->rows = 0;
    predictor->candidates = NULL;
    predictor->screened = batch->ensemble->screening && batch->ensemble->count == 1 &&
                          c->beam == 1 && c->no_scores && !c->sample;
    predictor->written = ARENA_TAKE(arena, int, (size_t)steps);
    if (c->sample)
        sampling_layout(&predictor->sampling, arena, ensemble_tokens(batch->ensemble));
    for (int m = 0; m < batch->ensemble->count; m++) {
        const Transformer *model = batch->ensemble->model[m];
        predictor->logits[m] =
            c->shortlist
                ? ARENA_TAKE(arena, real,
                             (size_t)each * (size_t)candidates_layout(predictor, arena, batch))
                : logits_layout(arena, S * each, model->config.vocab);
        cache_layout(&predictor->cache[m], arena, model, &batch->source, S * each, steps,
                     capacity);
    }
}

void predictor_encode(Predictor *predictor)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    for (int m = 0; m < ensemble->count; m++)
        cache_encode(&predictor->cache[m], ensemble->model[m]);
    if (predictor->candidates) candidates_find(predictor);
}

int predictor_step(Predictor *predictor, const Prefix *prefix, int count)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    for (int m = 0; m < ensemble->count; m++)
        predictor->X[m] = cache_step(&predictor->cache[m], ensemble->model[m], prefix, count);
    predictor->prefix = prefix;
    predictor->rows = count;
    return predictor->cache->nodes - count;
}

static real *model_row(Predictor *predictor, int m, int r)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    const Transformer *model = ensemble->model[m];
    const Matrix rows = {.int8 = predictor->screened ? ensemble->screening->rows : NULL};
    return logits_row(predictor->logits[m], r, predictor->X[m],
                      rows.int8 ? &rows : &model->weights.output, model->weights.logits_bias,
                      predictor->rows, model->config.vocab, model->config.d_model);
}

/* ln(1 + x) for x in [0, 1], without a branch, to 1e-7: with s = x / (2 + x) <= 1/3 it is
 * 2 artanh s = 2 (s + s³/3 + s⁵/5 + …). */
static inline real log_one_plus(real x)
{
    real s = x / (2 + x), q = s * s, sum = 0;
    for (int k = 15; k > 0; k -= 2) sum = sum * q + (real)1 / (real)k;
    return 2 * s * sum;
}

/* sum [C] (=) ln(e^sum + e^(z - n)) */
static void add_model(real *sum, const real *z, real n, int C)
{
#pragma omp simd
    for (int c = 0; c < C; c++) {
        real x = z[c] - n, high = x > sum[c] ? x : sum[c], low = x > sum[c] ? sum[c] : x;
        sum[c] = high + log_one_plus(vec_exp(low - high));
    }
}

Scores predictor_row(Predictor *predictor, int r, double *normaliser)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    int models = ensemble->count, C = ensemble_tokens(ensemble);
    Scores scores = predictor->candidates ? candidates_row(predictor, r)
                                          : (Scores){model_row(predictor, 0, r), C, NULL};
    if (!normaliser && models == 1) return scores;
    assert(normaliser);
    double n = search_normaliser(scores.z, scores.count);
    *normaliser = n;
    if (models == 1) return scores;
    real *sum = scores.z;
    for (int c = 0; c < C; c++) sum[c] -= (real)n;
    for (int m = 1; m < models; m++) {
        const real *z = model_row(predictor, m, r);
        double other = search_normaliser(z, C);
        if (!isfinite(other)) *normaliser = NAN;
        add_model(sum, z, (real)other, C);
    }
    if (isfinite(*normaliser)) *normaliser = log(models);
    return scores;
}
