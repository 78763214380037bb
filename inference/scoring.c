/* scoring.c -- batches of pairs through the whole network; see scoring.h.
 *
 *   ln p(y_t | y_<t, x) = z[y_t] - ln Σ_c e^(z_c)                     of one model
 *                       = ln 1/M Σ_m e^(ln p_m(y_t | y_<t, x))        of several
 *
 * Pairs are packed without padding, so they need no sorting: a batch is the next pairs with at
 * most BATCH_TOKENS tokens (or one longer pair). Each thread takes the next batch when it is
 * free. The logits of LOGITS_ROWS rows are in memory at a time. */
#include "inference/scoring.h"

#include <math.h>

#include "inference/choices.h"

enum { BATCH_TOKENS = 512 };

typedef struct PairBatch {
    Packed source, target;
    double *log_probability;  // [target.rows]
    SoftTarget *soft;         // [target.rows,models,SOFT_TARGETS], or NULL
} PairBatch;

/* A thread's memory for one batch and model. */
typedef struct Workspace {
    Arena arena;  // holds the rest:
    Activations activations;
    real *logits;
    double *each;  // [target rows] ln p of one model
} Workspace;

/* One call of scoring_run. */
typedef struct ScoringRun {
    const Ensemble *ensemble;
    const volatile sig_atomic_t *stop;
    int threads;
    Workspace *workspace;  // [threads]
    PairBatch *batch;      // [batches]
    int batches;
} ScoringRun;

/* ---- the batches ---- */

static int pair_tokens(const Packed *source, const Packed *target, int s)
{
    return packed_length(source, s) + packed_length(target, s);
}

/* Takes the arrays of the batches; fills them unless the arena only measures. */
static void batches_layout(ScoringRun *run, Arena *arena, double *log_probability,
                           SoftTarget *soft, const Packed *source, const Packed *target)
{
    size_t each = (size_t)(run->ensemble->count * SOFT_TARGETS);
    int S = source->sentences;
    run->batch = ARENA_TAKE(arena, PairBatch, (size_t)S);
    int *start = ARENA_TAKE(arena, int, 4 * (size_t)S);  // a side: one more than sentences
    run->workspace = ARENA_TAKE(arena, Workspace, (size_t)run->threads);
    if (!start) return;
    for (int t = 0; t < run->threads; t++) run->workspace[t] = (Workspace){0};
    for (int first = 0, end; first < S; first = end) {
        int tokens = pair_tokens(source, target, first);
        for (end = first + 1; end < S; end++)
            if ((tokens += pair_tokens(source, target, end)) > BATCH_TOKENS) break;
        int starts = end - first + 1;
        run->batch[run->batches++] =
            (PairBatch){packed_slice(start, source, first, end),
                        packed_slice(start + starts, target, first, end),
                        log_probability + target->start[first],
                        soft ? soft + each * (size_t)target->start[first] : NULL};
        start += 2 * starts;
    }
}

/* ---- one thread ---- */

static void workspace_layout(Workspace *w, Arena *arena, const Transformer *model,
                             const PairBatch *batch)
{
    int M = batch->target.rows;
    transformer_layout(&w->activations, arena, model, &batch->source, &batch->target, NULL,
                       KEEP_OUTPUT);
    w->logits = logits_layout(arena, M, model->config.vocab);
    w->each = ARENA_TAKE(arena, double, (size_t)M);
}

/* soft [SOFT_TARGETS] (=) the most probable classes of z [C], with probabilities scaled to sum to
 * `sum`. */
static void soften(SoftTarget *soft, const real *z, int C, double sum)
{
    Best best[SOFT_TARGETS] = {{0, 0}};
    double all = 0;
    int count = choices_keep(best, SOFT_TARGETS, z, C, (real)-INFINITY);
    for (int i = 0; i < count; i++) all += exp(best[i].value - best->value);
    for (int i = 0; i < SOFT_TARGETS; i++) {
        double e = i < count ? exp(best[i].value - best->value) : 0;
        soft[i] = (SoftTarget){best[i].id, (real)(sum * e / all)};
    }
}

/* ln p of one model in w->each. */
static bool score_model(Workspace *w, const Ensemble *ensemble, int m, SoftTarget *soft,
                        Error *error)
{
    const Transformer *model = ensemble->model[m];
    const Packed *target = w->activations.target;
    int M = target->rows, V = model->config.vocab, D = model->config.d_model;
    transformer_forward(&w->activations, model);
    for (int i = 0; i < M; i++) {
        const real *z = logits_row(w->logits, i, w->activations.output, &model->weights.output,
                                   model->weights.logits_bias, M, V, D);
        w->each[i] = (double)z[target->id[i]] - search_normaliser(z, V - 1);
        if (!isfinite(w->each[i]))
            return error_set(error, "the model's scores are not numbers (NaN or infinity): it "
                                    "cannot score");
        if (soft)
            soften(soft + (i * ensemble->count + m) * SOFT_TARGETS, z, V - 1,
                   1.0 / ensemble->count);
    }
    return true;
}

static bool score_batch(void *context, size_t number, int worker, Error *error)
{
    const ScoringRun *run = context;
    const Ensemble *ensemble = run->ensemble;
    const PairBatch *batch = &run->batch[number];
    Workspace *w = &run->workspace[worker];
    if (run->stop && *run->stop) return error_set(error, "%s", "");
    int rows = batch->target.rows;
    double *sum = batch->log_probability;
    for (int m = 0; m < ensemble->count; m++) {
        Arena measure = {0};
        workspace_layout(w, &measure, ensemble->model[m], batch);
        if (!arena_fit(&w->arena, measure.used))
            return error_memory(error,
                                "to score with %.1f MB: shorter sentences or "
                                "fewer `threads` need less",
                                (double)measure.used / 1e6);
        workspace_layout(w, &w->arena, ensemble->model[m], batch);
        if (!score_model(w, ensemble, m, batch->soft, error)) return false;
        for (int i = 0; i < rows; i++)  // ln(e^sum + e^each)
            sum[i] = m ? fmax(sum[i], w->each[i]) + log1p(exp(-fabs(sum[i] - w->each[i])))
                       : w->each[i];
    }
    for (int i = 0; i < rows; i++) sum[i] -= log(ensemble->count);
    return true;
}

static bool pairs_check(const Packed *source, const Packed *target, const ModelConfig *config,
                        Error *error)
{
    if (source->sentences != target->sentences)
        return error_set(error, "%d sources, but %d targets", source->sentences,
                         target->sentences);
    for (int side = 0; side < 2; side++) {
        const Packed *packed = side ? target : source;
        for (int s = 0; s < packed->sentences; s++)
            if (!sentence_check(packed->id + packed->start[s], packed_length(packed, s), config,
                                side == 0, error))
                return error_prefix(error, "%s sentence %d", side ? "target" : "source", s + 1);
    }
    return true;
}

bool scoring_run(double *log_probability, SoftTarget *soft, const Ensemble *ensemble,
                 const Packed *source, const Packed *target, Workers *workers,
                 const volatile sig_atomic_t *stop, Error *error)
{
    ModelConfig config = ensemble_config(ensemble);
    ScoringRun run = {.ensemble = ensemble, .stop = stop, .threads = workers_count(workers)};
    Arena plan = {0};
    if (!pairs_check(source, target, &config, error)) return false;
    batches_layout(&run, &plan, log_probability, soft, source, target);
    if (!arena_reserve(&plan, NULL))
        return error_memory(error, "for %d sentences", source->sentences);
    batches_layout(&run, &plan, log_probability, soft, source, target);
    bool good = workers_each(workers, (size_t)run.batches, score_batch, &run, error);
    for (int t = 0; t < run.threads; t++) arena_free(&run.workspace[t].arena);
    arena_free(&plan);
    return good;
}
