/* trainer.c -- micro-batches in, new weights out; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator
 *   (2)  slices of the parameter block: sum the accumulators, square for the norm (gradients.h)
 *   (3)  slices again: clip and Adam
 *   (4)  the new weights, from their owners to all ranks
 *
 * All threads of all ranks meet between these, since the norm is needed before the first weight
 * may change. */
#include "training/trainer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/parts.h"
#include "training/adam.h"
#include "training/distributed.h"
#include "training/gradients.h"
#include "training/schedule.h"

/* A thread's own buffers. */
typedef struct Worker {
    Arena arena;
    Pass pass;
    int *start[2];    // [capacity+1] of source and target: starts counted from the micro-batch
    size_t capacity;  // sentences
    Error error;
    bool failed;
} Worker;

/* One call of trainer_update or trainer_evaluate. */
typedef struct Job {
    const Packed *source, *target;
    bool training;
    long long update;
    int count;             // micro-batches
    int *first;            // [count+1] their first sentences
    double *nll;           // [count] of a micro-batch, 0 for those of other ranks
    double *objective;     // [count] behind nll
    AdamStep step;
} Job;

struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    Workers *workers;
    Worker *worker;        // [threads]
    int accumulators;      // A
    Gradients gradients;
    real *m, *v;           // of the own part; on rank 0 with room for the whole
    Job job;
    size_t capacity;       // micro-batches that job.first and job.nll have room for
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int *taken;            // [A] micro-batches that were taken for each accumulator
    int *done;             // [A] and those that it holds
};

int trainer_default_accumulators(void)
{
    int processors = workers_processors();
    return processors < 2 ? 2 : processors > 8 ? 8 : processors;
}

/* Numbers of m and of v on this rank; one, if it owns nothing of so small a model. */
static size_t moments(const Trainer *t)
{
    const Gradients *g = &t->gradients;
    size_t own = g->own_end - g->own;
    return distributed_rank() == 0 ? g->size : own ? own : 1;
}

Trainer *trainer_create(Transformer *model, const TrainingConfig *config, Workers *workers,
                        Error *error)
{
    Trainer *t = calloc(1, sizeof *t);
    if (!t) {
        error_set(error, "not enough memory to train");
        return NULL;
    }
    t->model = model;
    t->config = config;
    t->workers = workers;
    t->accumulators = config->accumulators;
    if (!t->accumulators) t->accumulators = trainer_default_accumulators();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->finished, NULL);
    t->worker = calloc((size_t)workers_count(workers), sizeof *t->worker);
    t->taken = calloc((size_t)t->accumulators, sizeof *t->taken);
    t->done = calloc((size_t)t->accumulators, sizeof *t->done);
    bool good = t->worker && t->taken && t->done;
    if (!good) error_set(error, "not enough memory to train");
    good = good && gradients_create(&t->gradients, model, t->accumulators, error) &&
           (t->m = params_block(&(Params){.size = moments(t)}, error)) &&
           (t->v = params_block(&(Params){.size = moments(t)}, error));
    if (good) return t;
    trainer_free(t);
    return NULL;
}

void trainer_free(Trainer *t)
{
    if (!t) return;
    for (int i = 0; t->worker && i < workers_count(t->workers); i++) {
        arena_free(&t->worker[i].arena);
        free(t->worker[i].start[0]);
        free(t->worker[i].start[1]);
    }
    gradients_free(&t->gradients);
    free(t->worker);
    free(t->taken);
    free(t->done);
    free(t->m);
    free(t->v);
    free(t->job.first);
    free(t->job.nll);
    pthread_cond_destroy(&t->finished);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

real *trainer_m(Trainer *t)
{
    return t->m;
}

real *trainer_v(Trainer *t)
{
    return t->v;
}

bool trainer_gather(Trainer *t, Error *error)
{
    return distributed_gather(t->m, t->gradients.part, error) &&
           distributed_gather(t->v, t->gradients.part, error);
}

bool trainer_scatter(Trainer *t, Error *error)
{
    return distributed_scatter(t->m, t->gradients.part, error) &&
           distributed_scatter(t->v, t->gradients.part, error);
}

int trainer_accumulators(const Trainer *t)
{
    return t->accumulators;
}

size_t trainer_memory(const Trainer *t)
{
    size_t bytes = (t->model->params.size + 2 * moments(t)) * sizeof(real) +
                   gradients_memory(&t->gradients);
    for (int i = 0; i < workers_count(t->workers); i++) bytes += t->worker[i].arena.size;
    return bytes;
}

static long long tokens_until(const Job *job, int sentence)
{
    return (long long)job->source->start[sentence] + job->target->start[sentence];
}

/* Cuts the sentences into micro-batches of nearly equal numbers of tokens. */
static bool cut(Trainer *t, Error *error)
{
    Job *job = &t->job;
    int S = job->source->sentences;
    long long total = tokens_until(job, S), micro = t->config->micro_tokens;
    long long wanted = (total + micro - 1) / micro;
    if (wanted > t->accumulators)  // as many for each, so that threads end together
        wanted = (wanted + t->accumulators - 1) / t->accumulators * t->accumulators;
    size_t count = (size_t)(wanted < 1 ? 1 : wanted > S ? S : wanted);
    if (count > t->capacity) {
        int *first = realloc(job->first, (count + 1) * sizeof *first);
        if (first) job->first = first;
        double *nll = realloc(job->nll, 2 * count * sizeof *nll);
        if (nll) job->nll = nll;
        if (!first || !nll) return error_set(error, "not enough memory for %zu micro-batches",
                                             count);
        t->capacity = count;
    }
    int s = 0;
    job->count = 0;
    for (size_t k = 0; k < count && s < S; k++) {
        long long end = total * ((long long)k + 1) / (long long)count;
        job->first[job->count++] = s++;
        while (s < S && tokens_until(job, s + 1) <= end) s++;
    }
    job->first[job->count] = S;
    job->objective = job->nll + job->count;
    memset(job->nll, 0, 2 * (size_t)job->count * sizeof *job->nll);
    return true;
}

/* A view of sentences first .. end-1, with starts of its own. */
static Packed part(const Packed *all, int first, int end, int *start)
{
    for (int s = first; s <= end; s++) start[s - first] = all->start[s] - all->start[first];
    return (Packed){end - first, start[end - first], all->id + all->start[first], start};
}

/* Room for the starts of a micro-batch, and for its pass. */
static bool prepare(Worker *worker, const Trainer *t, Packed *source, Packed *target, int first,
                    int end, const Dropout *dropout)
{
    const Job *job = &t->job;
    size_t sentences = (size_t)(end - first);
    PassKind kind = job->training ? PASS_TRAIN : PASS_SCORE;
    if (sentences > worker->capacity) {
        for (int side = 0; side < 2; side++) {
            int *start = realloc(worker->start[side], (sentences + 1) * sizeof *start);
            if (!start) return error_set(&worker->error, "not enough memory for a micro-batch");
            worker->start[side] = start;
        }
        worker->capacity = sentences;
    }
    *source = part(job->source, first, end, worker->start[0]);
    *target = part(job->target, first, end, worker->start[1]);

    Arena measure = {0};
    transformer_layout(&worker->pass, &measure, t->model, source, target, dropout, kind);
    if (measure.used > worker->arena.size) {
        arena_free(&worker->arena);
        worker->arena.used = measure.used;
        if (!arena_reserve(&worker->arena, &worker->error)) return false;
    }
    arena_reset(&worker->arena);
    transformer_layout(&worker->pass, &worker->arena, t->model, source, target, dropout, kind);
    return true;
}

/* One micro-batch: forward and, when training, backward. */
static bool micro_batch(Trainer *t, Worker *worker, int k)
{
    Job *job = &t->job;
    const TrainingConfig *c = t->config;
    int accumulator = k % t->accumulators, first = job->first[k];
    Dropout dropout = {c->dropout, c->activation_dropout, c->attention_dropout, c->seed,
                       (uint32_t)job->update, (uint32_t)first};
    Packed source, target;
    if (!prepare(worker, t, &source, &target, first, job->first[k + 1],
                 job->training ? &dropout : NULL))
        return false;

    Loss loss = {0};
    transformer_forward(&worker->pass, t->model);
    if (job->training) {
        if (k < t->accumulators) gradients_clear(&t->gradients, accumulator);
        transformer_backward(&loss, &worker->pass, t->model,
                             gradients_weights(&t->gradients, accumulator), c->label_smoothing,
                             (real)(1.0 / job->target->rows));
    } else {
        transformer_loss(&loss, &worker->pass, t->model, c->label_smoothing);
    }
    job->nll[k] = loss.nll;
    job->objective[k] = loss.objective;
    return true;
}

/* Takes the first micro-batch of this rank whose accumulator is free. -1: there is none now, and
 * if not *more, none will come. */
static int take(Trainer *t, bool *more)
{
    int first = -1;
    *more = false;
    for (int a = 0; a < t->accumulators; a++) {
        int k = a + t->accumulators * t->taken[a];
        if (k >= t->job.count || (t->job.training && !gradients_has(&t->gradients, a))) continue;
        *more = true;
        bool free = t->taken[a] == t->done[a] || !t->job.training;
        if (free && (first < 0 || k < first)) first = k;
    }
    if (first >= 0) t->taken[first % t->accumulators]++;
    return first;
}

/* (1) */
static void micro_batches(void *context, int number)
{
    Trainer *t = context;
    Worker *worker = &t->worker[number];
    pthread_mutex_lock(&t->lock);
    bool more;
    for (;;) {
        int k = take(t, &more);
        if (!more) break;
        if (k < 0) {
            Part before = parts_enter(PART_WAITING);
            pthread_cond_wait(&t->finished, &t->lock);
            parts_leave(before);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        bool good = !worker->failed && micro_batch(t, worker, k);
        pthread_mutex_lock(&t->lock);
        if (!good) worker->failed = true;
        t->done[k % t->accumulators]++;
        pthread_cond_broadcast(&t->finished);
    }
    pthread_mutex_unlock(&t->lock);
}

/* (3) */
static void optimize(void *context, size_t begin, size_t count)
{
    Trainer *t = context;
    size_t at = begin - t->gradients.own;
    adam_update(t->model->block + begin, t->m + at, t->v + at,
                gradients_from(&t->gradients, begin), count, &t->job.step);
}

static bool run_micro_batches(Trainer *t, Error *error)
{
    memset(t->taken, 0, (size_t)t->accumulators * sizeof *t->taken);
    memset(t->done, 0, (size_t)t->accumulators * sizeof *t->done);
    if (!cut(t, error)) return false;
    workers_run(t->workers, micro_batches, t);
    for (int i = 0; i < workers_count(t->workers); i++)
        if (t->worker[i].failed) {
            t->worker[i].failed = false;
            return error_set(error, "%s", t->worker[i].error.text);
        }
    return true;
}

static Loss total_loss(const Job *job)
{
    Loss total = {.tokens = job->target->rows};
    for (int k = 0; k < job->count; k++) {
        total.nll += job->nll[k];
        total.objective += job->objective[k];
    }
    return total;
}

/* Says which tensor of the gradient is the first that holds NaN or infinity. */
static bool not_finite(const Trainer *t, const Loss *loss, Error *error)
{
    const Params *params = &t->model->params;
    int tensor;
    if (!gradients_not_finite(&t->gradients, &tensor, params, error)) return false;
    return error_set(error, "update %lld: the gradient%s%s is not finite (loss %g); try a smaller "
                     "--learning-rate, a longer --warmup or a smaller --clip-norm", t->job.update,
                     tensor < params->count ? " of " : "'s norm",
                     tensor < params->count ? params->tensor[tensor].name : "",
                     loss->objective / (double)loss->tokens);
}

bool trainer_update(Trainer *t, long long update, const Packed *source, const Packed *target,
                    UpdateStats *stats, Error *error)
{
    const TrainingConfig *c = t->config;
    Job *job = &t->job;
    job->source = source;
    job->target = target;
    job->training = true;
    job->update = update;
    if (!distributed_agree(run_micro_batches(t, error), error)) return false;       // (1)

    double norm;
    Gradients *g = &t->gradients;
    int used = job->count < t->accumulators ? job->count : t->accumulators;
    if (!gradients_sum(g, &norm, used, t->workers, error) ||                        // (2)
        !distributed_sum(job->nll, 2 * (size_t)job->count, error))
        return false;
    Loss loss = total_loss(job);
    if (!isfinite(norm) || !isfinite(loss.objective)) return not_finite(t, &loss, error);

    double rate = schedule_rate((Schedule)c->schedule, c->learning_rate, update, c->warmup,
                                c->max_updates);
    bool clip = c->clip_norm > 0 && norm > c->clip_norm;
    job->step = (AdamStep){rate, c->beta1, c->beta2, c->epsilon, update,
                           clip ? c->clip_norm / norm : 1};
    slices_run(t->workers, g->own, g->own_end, optimize, t);                        // (3)
    if (!distributed_allgather(t->model->block, g->part, error)) return false;      // (4)

    *stats = (UpdateStats){.loss = loss,
                           .gradient_norm = norm,
                           .learning_rate = rate,
                           .flops = transformer_flops(&t->model->config, source, target),
                           .tokens = (long long)source->rows + target->rows};
    return true;
}

bool trainer_evaluate(Trainer *t, const Packed *source, const Packed *target, Loss *loss,
                      Error *error)
{
    t->job.source = source;
    t->job.target = target;
    t->job.training = false;
    if (!run_micro_batches(t, error)) return false;
    *loss = total_loss(&t->job);
    return true;
}
