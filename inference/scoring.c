/* scoring.c -- batches of pairs through the whole network; see scoring.h.
 *
 *   ln p(y_t | y_<t, x) = z[y_t] - ln Σ_c e^(z_c)                     of one model
 *                       = ln 1/M Σ_m e^(ln p_m(y_t | y_<t, x))        of several
 *
 * Pairs are packed without padding, so they need no sorting: a batch is the next pairs with at
 * most BATCH_TOKENS tokens (or one longer pair). Each thread takes the next batch when it is
 * free. The logits of LOGITS_ROWS rows are in memory at a time. */
#include "inference/scoring.h"

#include "inference/choices.h"

enum { BATCH_TOKENS = 512 };

/* A thread's memory for one batch and model. */
typedef struct Workspace {
    int start[2][BATCH_TOKENS / 2 + 1];  // a pair has two tokens at least
    Packed source, target;
    Arena arena;  // holds the rest:
    Activations activations;
    real *logits;
    double *each;  // [target rows] ln p of one model
} Workspace;

/* One call of scoring_run. */
typedef struct ScoringRun {
    const Ensemble *ensemble;
    const Packed *source, *target;
    double *log_probability;
    SoftTarget *soft;
    const volatile sig_atomic_t *stop;
    Workspace *workspace;  // [threads]
    int *first;            // [batches+1] each batch's first pair
    size_t batches;
} ScoringRun;

static void cut_batches(ScoringRun *run)
{
    int tokens = 0, S = run->source->sentences;
    for (int s = 0; s < S; s++) {
        int more = packed_length(run->source, s) + packed_length(run->target, s);
        tokens += more;
        if (s > 0 && tokens <= BATCH_TOKENS) continue;
        run->first[run->batches++] = s;
        tokens = more;
    }
    run->first[run->batches] = S;
}

static void workspace_layout(Workspace *w, Arena *arena, const Transformer *model)
{
    int M = w->target.rows;
    transformer_layout(&w->activations, arena, model, &w->source, &w->target, NULL,
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
    const Packed *target = &w->target;
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
    Workspace *w = &run->workspace[worker];
    if (run->stop && *run->stop) return error_set(error, "%s", "");
    int first = run->first[number], end = run->first[number + 1];
    size_t row = (size_t)run->target->start[first];
    double *sum = run->log_probability + row;
    SoftTarget *soft = run->soft;
    if (soft) soft += row * (size_t)ensemble->count * SOFT_TARGETS;
    w->source = packed_slice(w->start[0], run->source, first, end);
    w->target = packed_slice(w->start[1], run->target, first, end);
    for (int m = 0; m < ensemble->count; m++) {
        Arena measure = {0};
        workspace_layout(w, &measure, ensemble->model[m]);
        if (!arena_fit(&w->arena, measure.used))
            return error_memory(error,
                                "to score with %.1f MB: shorter sentences or "
                                "fewer `threads` need less",
                                (double)measure.used / 1e6);
        workspace_layout(w, &w->arena, ensemble->model[m]);
        if (!score_model(w, ensemble, m, soft, error)) return false;
        for (int i = 0; i < w->target.rows; i++)  // ln(e^sum + e^each)
            sum[i] = m ? fmax(sum[i], w->each[i]) + log1p(exp(-fabs(sum[i] - w->each[i])))
                       : w->each[i];
    }
    for (int i = 0; i < w->target.rows; i++) sum[i] -= log(ensemble->count);
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
    int threads = workers_count(workers);
    if (!pairs_check(source, target, &config, error)) return false;
    ScoringRun run = {.ensemble = ensemble,
                      .source = source,
                      .target = target,
                      .log_probability = log_probability,
                      .soft = soft,
                      .stop = stop,
                      .workspace = calloc((size_t)threads, sizeof *run.workspace),
                      .first = malloc(((size_t)source->sentences + 1) * sizeof *run.first)};
    bool good = (run.workspace && run.first) ||
                error_memory(error, "for %d sentences", source->sentences);
    if (good) cut_batches(&run);
    good = good && workers_each(workers, run.batches, score_batch, &run, error);
    for (int t = 0; run.workspace && t < threads; t++) arena_free(&run.workspace[t].arena);
    free(run.workspace);
    free(run.first);
    return good;
}
