/* scoring.c -- batches of pairs through the whole network; see scoring.h.
 *
 *   ln p(y_t | y_<t, x) = z[y_t] - ln Σ_c e^(z_c)                     of one model
 *                       = ln 1/M Σ_m e^(ln p_m(y_t | y_<t, x))        of several
 *
 * Pairs are not padded, so they need no sorting: a batch is the next pairs that BATCH_TOKENS leave
 * room for, and the threads take batch after batch. The scores of the vocabulary live for
 * LOGITS_ROWS rows at a time. */
#include "inference/scoring.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "inference/search.h"

enum { BATCH_TOKENS = 512 };

typedef struct Batch {
    Packed source, target;
    double *log_probability;  // [target.rows]
} Batch;

typedef struct Work {
    const Ensemble *ensemble;
    const volatile sig_atomic_t *stop;
    Batch *batch;  // [batches]
    int batches;
    atomic_int next;
    atomic_bool failed;
    Error *error;
} Work;

/* ---- the cut into batches ---- */

static int pair_tokens(const Packed *source, const Packed *target, int s)
{
    return packed_length(source, s) + packed_length(target, s);
}

/* Takes, and fills if the arena does not only measure, what the batches point to. */
static void batches_layout(Work *work, Arena *arena, double *log_probability,
                           const Packed *source, const Packed *target)
{
    int S = source->sentences;
    work->batch = ARENA_TAKE(arena, Batch, (size_t)S);
    int *start = ARENA_TAKE(arena, int, 4 * (size_t)S);  // a batch has one more than sentences
    if (!start) return;
    for (int first = 0, end; first < S; first = end) {
        int tokens = pair_tokens(source, target, first);
        for (end = first + 1; end < S; end++)
            if ((tokens += pair_tokens(source, target, end)) > BATCH_TOKENS) break;
        int starts = end - first + 1;
        work->batch[work->batches++] = (Batch){packed_slice(start, source, first, end),
                                               packed_slice(start + starts, target, first, end),
                                               log_probability + target->start[first]};
        start += 2 * starts;
    }
}

/* ---- a thread's part ---- */

typedef struct Room {
    Pass pass;
    real *logits;
    Arena arena;
} Room;

static void room_layout(Room *room, Arena *arena, const Transformer *model, const Batch *batch)
{
    transformer_layout(&room->pass, arena, model, &batch->source, &batch->target, NULL,
                       PASS_SCORE);
    room->logits = logits_layout(arena, batch->target.rows, model->config.vocab);
}

/* each [M] (=) ln p of one model. */
static bool score_rows(double *each, Room *room, const Transformer *model, Error *error)
{
    const Weights *w = &model->weights;
    const Packed *target = room->pass.target;
    int M = target->rows, V = model->config.vocab, D = model->config.d_model;
    transformer_forward(&room->pass, model);
    for (int i = 0; i < M; i++) {
        const real *z = logits_row(room->logits, i, room->pass.output, w, M, V, D);
        each[i] = (double)z[target->id[i]] - search_normaliser(z, V - 1);
        if (!isfinite(each[i]))
            return error_set(error, "the model's scores are not numbers (NaN or infinity): it "
                                    "cannot score");
    }
    return true;
}

/* ln(e^a + e^b) */
static double add_exponentials(double a, double b)
{
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static bool score_batch(const Ensemble *ensemble, const Batch *batch, Room *room, Error *error)
{
    int rows = batch->target.rows, models = ensemble->count;
    double *sum = batch->log_probability;
    double *each = models > 1 ? malloc((size_t)rows * sizeof *each) : NULL;
    if (models > 1 && !each)
        return error_set(error, "not enough memory to score %d tokens", rows);
    bool good = true;
    for (int m = 0; good && m < models; m++) {
        Arena measure = {0};
        room_layout(room, &measure, ensemble->model[m], batch);
        good = arena_fit(&room->arena, measure.used) ||
               error_set(error,
                         "not enough memory to score with %.1f MB: shorter sentences or "
                         "fewer --threads need less",
                         (double)measure.used / 1e6);
        if (!good) break;
        room_layout(room, &room->arena, ensemble->model[m], batch);
        good = score_rows(m ? each : sum, room, ensemble->model[m], error);
        for (int i = 0; good && m && i < rows; i++) sum[i] = add_exponentials(sum[i], each[i]);
    }
    for (int i = 0; good && i < rows; i++) sum[i] -= log(models);
    free(each);
    return good;
}

static void take_batches(void *context, int worker)
{
    (void)worker;
    Work *work = context;
    Error error;
    Room *room = calloc(1, sizeof *room);
    bool good = room || error_set(&error, "not enough memory to score");
    while (good && !atomic_load(&work->failed) && !(work->stop && *work->stop)) {
        int next = atomic_fetch_add(&work->next, 1);
        if (next >= work->batches) break;
        good = score_batch(work->ensemble, &work->batch[next], room, &error);
    }
    if (!good && !atomic_exchange(&work->failed, true))
        error_set(work->error, "%s", error.text);
    if (room) arena_free(&room->arena);
    free(room);
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

bool scoring_run(double *log_probability, const Ensemble *ensemble, const Packed *source,
                 const Packed *target, Workers *workers, const volatile sig_atomic_t *stop,
                 Error *error)
{
    ModelConfig config = ensemble_config(ensemble);
    Work work = {.ensemble = ensemble, .stop = stop, .error = error};
    Arena plan = {0};
    if (!pairs_check(source, target, &config, error)) return false;
    batches_layout(&work, &plan, log_probability, source, target);
    if (!arena_reserve(&plan, NULL))
        return error_set(error, "not enough memory for %d sentences", source->sentences);
    batches_layout(&work, &plan, log_probability, source, target);
    workers_run(workers, take_batches, &work);
    arena_free(&plan);
    if (atomic_load(&work.failed)) return false;
    return atomic_load(&work.next) >= work.batches || error_set(error, "%s", "");
}
