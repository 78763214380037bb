/* trainer.c -- micro-batches in, new weights out; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator
 *   (2)  slices of the parameter block: sum the accumulators, square for the norm
 *   (3)  slices again: clip and Adam
 *
 * Each is one call of workers_run; between them all threads meet, since the norm is needed before
 * the first weight may change. */
#include "training/trainer.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parts.h"
#include "training/adam.h"
#include "training/schedule.h"

enum { SLICE = 16384, MAX_ACCUMULATORS = 64 };

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
    Loss *loss;            // [count]
    int next;              // the micro-batch to take next
    int used;              // accumulators that are in use
    AdamStep step;
    atomic_size_t slice;   // the slice to take next
} Job;

struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    Workers *workers;
    Worker *worker;        // [threads]
    int accumulators;      // A
    real *gradient[MAX_ACCUMULATORS];
    Weights *dw;           // [A] gradient's tensors
    real *m, *v;
    size_t slices;
    double *squares;       // [slices] Σ g²
    Job job;
    size_t capacity;       // micro-batches that job.first and job.loss have room for
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int done[MAX_ACCUMULATORS];  // micro-batches that each accumulator holds
};

/* As many as fit into 64 MB, a power of two from 2 to 8: gradients are the larger part of the
 * memory of a large model, whose micro-batches are few. */
static int accumulators_for(const Transformer *model)
{
    double bytes = (double)(model->params.size * sizeof(real));
    int count = 8;
    while (count > 2 && count * bytes > 64e6) count /= 2;
    return count;
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
    t->accumulators = config->accumulators ? config->accumulators : accumulators_for(model);
    t->slices = (model->params.size + SLICE - 1) / SLICE;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->finished, NULL);
    t->worker = calloc((size_t)workers_count(workers), sizeof *t->worker);
    t->dw = calloc((size_t)t->accumulators, sizeof *t->dw);
    t->squares = calloc(t->slices, sizeof *t->squares);
    bool good = t->worker && t->dw && t->squares;
    if (!good) error_set(error, "not enough memory to train");
    good = good && (t->m = params_block(&model->params, error)) &&
           (t->v = params_block(&model->params, error));
    for (int a = 0; a < t->accumulators && good; a++) {
        good = (t->gradient[a] = params_block(&model->params, error));
        if (good) params_bind(&t->dw[a], t->gradient[a], &model->config);
    }
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
    for (int a = 0; a < t->accumulators; a++) free(t->gradient[a]);
    free(t->worker);
    free(t->dw);
    free(t->squares);
    free(t->m);
    free(t->v);
    free(t->job.first);
    free(t->job.loss);
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

size_t trainer_memory(const Trainer *t)
{
    size_t bytes = t->model->params.size * sizeof(real) * (size_t)(3 + t->accumulators);
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
    size_t count = (size_t)(wanted < 1 ? 1 : wanted > S ? S : wanted);
    if (count > t->capacity) {
        int *first = realloc(job->first, (count + 1) * sizeof *first);
        if (first) job->first = first;
        Loss *loss = realloc(job->loss, count * sizeof *loss);
        if (loss) job->loss = loss;
        if (!first || !loss) return error_set(error, "not enough memory for %zu micro-batches",
                                              count);
        t->capacity = count;
    }
    int s = 0;
    job->count = 0;
    for (size_t k = 0; k < count && s < S; k++) {
        long long end = total * ((long long)k + 1) / (long long)count;
        job->loss[job->count] = (Loss){0};
        job->first[job->count++] = s++;
        while (s < S && tokens_until(job, s + 1) <= end) s++;
    }
    job->first[job->count] = S;
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

    transformer_forward(&worker->pass, t->model);
    if (!job->training) {
        transformer_loss(&job->loss[k], &worker->pass, t->model, c->label_smoothing);
        return true;
    }
    if (k < t->accumulators) {
        Part before = parts_enter(PART_OPTIMIZER);
        memset(t->gradient[accumulator], 0, t->model->params.size * sizeof(real));
        parts_leave(before);
    }
    transformer_backward(&job->loss[k], &worker->pass, t->model, &t->dw[accumulator],
                         c->label_smoothing, (real)(1.0 / job->target->rows));
    return true;
}

/* (1): takes one micro-batch after the other, each when its accumulator's turn has come. */
static void micro_batches(void *context, int number)
{
    Trainer *t = context;
    Worker *worker = &t->worker[number];
    Job *job = &t->job;
    pthread_mutex_lock(&t->lock);
    while (job->next < job->count) {
        int k = job->next++, accumulator = k % t->accumulators;
        Part before = parts_enter(PART_WAITING);
        while (job->training && t->done[accumulator] < k / t->accumulators)
            pthread_cond_wait(&t->finished, &t->lock);
        parts_leave(before);
        pthread_mutex_unlock(&t->lock);
        bool good = !worker->failed && micro_batch(t, worker, k);
        pthread_mutex_lock(&t->lock);
        if (!good) worker->failed = true;
        t->done[accumulator]++;
        pthread_cond_broadcast(&t->finished);
    }
    pthread_mutex_unlock(&t->lock);
}

static bool take_slice(Trainer *t, size_t *begin, size_t *count)
{
    size_t slice = atomic_fetch_add(&t->job.slice, 1), size = t->model->params.size;
    if (slice >= t->slices) return false;
    *begin = slice * SLICE;
    *count = size - *begin < SLICE ? size - *begin : SLICE;
    return true;
}

/* (2): the first accumulator becomes the sum of all: ((0+1)+(2+3))+((4+5)+(6+7)). */
static void sum_accumulators(void *context, int number)
{
    Trainer *t = context;
    (void)number;
    Part before = parts_enter(PART_OPTIMIZER);
    for (size_t begin, count; take_slice(t, &begin, &count);) {
        for (int step = 1; step < t->job.used; step *= 2)
            for (int a = 0; a + step < t->job.used; a += 2 * step) {
                real *sum = t->gradient[a] + begin;
                const real *other = t->gradient[a + step] + begin;
#pragma omp simd
                for (size_t i = 0; i < count; i++) sum[i] += other[i];
            }
        const real *g = t->gradient[0] + begin;
        double squares = 0;
#pragma omp simd reduction(+ : squares)
        for (size_t i = 0; i < count; i++) squares += (double)g[i] * (double)g[i];
        t->squares[begin / SLICE] = squares;
    }
    parts_leave(before);
}

/* (3) */
static void optimize(void *context, int number)
{
    Trainer *t = context;
    (void)number;
    Part before = parts_enter(PART_OPTIMIZER);
    for (size_t begin, count; take_slice(t, &begin, &count);)
        adam_update(t->model->block + begin, t->m + begin, t->v + begin,
                    t->gradient[0] + begin, count, &t->job.step);
    parts_leave(before);
}

static bool run_micro_batches(Trainer *t, Error *error)
{
    Job *job = &t->job;
    job->next = 0;
    memset(t->done, 0, sizeof t->done);
    if (!cut(t, error)) return false;
    job->used = job->count < t->accumulators ? job->count : t->accumulators;
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
    Loss total = {0};
    for (int k = 0; k < job->count; k++) {
        total.nll += job->loss[k].nll;
        total.objective += job->loss[k].objective;
        total.tokens += job->loss[k].tokens;
    }
    return total;
}

/* Says which tensor of the gradient is the first that holds NaN or infinity. */
static bool not_finite(const Trainer *t, double loss, Error *error)
{
    const Params *params = &t->model->params;
    const char *advice = "try a smaller --learning-rate, a longer --warmup or a smaller "
                         "--clip-norm";
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        const real *g = t->gradient[0] + tensor->offset;
        for (size_t j = 0; j < tensor->count; j++)
            if (!isfinite(g[j]))
                return error_set(error, "update %lld: the gradient of %s is not finite (loss %g); "
                                 "%s", t->job.update, tensor->name, loss, advice);
    }
    return error_set(error, "update %lld: the gradient's norm is not finite (loss %g); %s",
                     t->job.update, loss, advice);
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
    if (!run_micro_batches(t, error)) return false;                                 // (1)
    Loss loss = total_loss(job);

    atomic_store(&job->slice, 0);
    workers_run(t->workers, sum_accumulators, t);                                   // (2)
    double squares = 0;
    for (size_t s = 0; s < t->slices; s++) squares += t->squares[s];
    double norm = sqrt(squares);
    if (!isfinite(norm) || !isfinite(loss.objective))
        return not_finite(t, loss.objective / (double)loss.tokens, error);

    double rate = schedule_rate((Schedule)c->schedule, c->learning_rate, update, c->warmup,
                                c->max_updates);
    bool clip = c->clip_norm > 0 && norm > c->clip_norm;
    job->step = (AdamStep){rate, c->beta1, c->beta2, c->epsilon, update,
                           clip ? c->clip_norm / norm : 1};
    atomic_store(&job->slice, 0);
    workers_run(t->workers, optimize, t);                                           // (3)

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
