/* trainer.c -- micro-batches in, new weights out; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator
 *   (2)  slices of the parameter block: sum the accumulators, square for the norm (gradients.h)
 *   (3)  slices again: clip, Adam, the moving average (optimizer.h)
 *   (4)  the new weights, from their owners to all ranks
 *
 * All threads of all ranks meet between these, since the norm is needed before the first weight
 * may change. */
#include "training/trainer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/parts.h"
#include "training/distributed.h"
#include "training/gradients.h"
#include "training/microbatch.h"
#include "training/optimizer.h"
#include "training/schedule.h"

/* Where threads share an accumulator, micro-batches are cut without regard to how many they are:
 * an update has a multiple of this, so that 2 or 4 threads end together. */
enum { SHARING = 4 };

/* What is a thread's own. */
typedef struct Worker {
    MicroBatch batch;
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
} Job;

struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    Workers *workers;
    Worker *worker;        // [threads]
    int accumulators;      // A
    Gradients gradients;
    Turns turns;           // of micro-batches at accumulator 0, if it is shared
    Optimizer optimizer;
    Job job;
    int capacity;          // micro-batches that job.first and job.nll have room for
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int *taken;            // [A] micro-batches that were taken for each accumulator
    int *done;             // [A] and those that it holds
};

int trainer_first_accumulators(int wanted)
{
    int ranks = distributed_ranks(), processors = at_most(workers_processors(), 8);
    if (wanted == 0) wanted = processors < 2 ? 2 : processors;
    else if (wanted > 1) return wanted;
    return wanted > ranks ? wanted : ranks;
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
    if (!t->accumulators) t->accumulators = trainer_first_accumulators(0);
    turns_init(&t->turns);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->finished, NULL);
    t->worker = calloc((size_t)workers_count(workers), sizeof *t->worker);
    t->taken = calloc((size_t)t->accumulators, sizeof *t->taken);
    t->done = calloc((size_t)t->accumulators, sizeof *t->done);
    bool good = t->worker && t->taken && t->done;
    if (!good) error_set(error, "not enough memory to train");
    good = good && gradients_create(&t->gradients, model, t->accumulators, error) &&
           optimizer_create(&t->optimizer, model, &t->gradients, config, error);
    if (good) return t;
    trainer_free(t);
    return NULL;
}

void trainer_free(Trainer *t)
{
    if (!t) return;
    for (int i = 0; t->worker && i < workers_count(t->workers); i++)
        microbatch_free(&t->worker[i].batch);
    turns_free(&t->turns);
    gradients_free(&t->gradients);
    optimizer_free(&t->optimizer);
    free(t->worker);
    free(t->taken);
    free(t->done);
    free(t->job.first);
    free(t->job.nll);
    pthread_cond_destroy(&t->finished);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

real *trainer_m(Trainer *t)
{
    return t->optimizer.m;
}

real *trainer_v(Trainer *t)
{
    return t->optimizer.v;
}

real *trainer_ema(Trainer *t)
{
    return t->optimizer.ema;
}

bool trainer_gather(Trainer *t, Error *error)
{
    return optimizer_gather(&t->optimizer, error);
}

bool trainer_scatter(Trainer *t, Error *error)
{
    return optimizer_scatter(&t->optimizer, error);
}

static int at_work(const Trainer *t, int threads, int accumulators)
{
    return t->gradients.shared ? threads : at_most(threads, accumulators);
}

int trainer_at_work(const Trainer *t, int threads)
{
    return at_work(t, threads, t->accumulators);
}

size_t trainer_memory(const Trainer *t)
{
    size_t bytes = t->model->params.size * sizeof(real) + gradients_memory(&t->gradients) +
                   optimizer_memory(&t->optimizer);
    for (int i = 0; i < workers_count(t->workers); i++) bytes += t->worker[i].batch.arena.size;
    return bytes;
}

/* Whether sentences are packed twice, for R-Drop. */
static bool is_twice(const Trainer *t)
{
    return t->job.training && t->config->r_drop > 0;
}

/* Whether micro-batches take turns at one accumulator. */
static bool takes_turns(const Trainer *t)
{
    return t->job.training && t->gradients.shared;
}

/* Cuts the job's sentences into micro-batches, with a loss of zero each. */
static bool cut(Trainer *t, Error *error)
{
    Job *job = &t->job;
    int tokens = t->config->micro_tokens;
    if (is_twice(t)) tokens = (tokens + 1) / 2;
    int together = t->gradients.shared ? SHARING : t->accumulators;
    int most = microbatch_most(job->source, job->target, tokens, together);
    if (most > t->capacity) {
        int *first = realloc(job->first, ((size_t)most + 1) * sizeof *first);
        if (first) job->first = first;
        double *nll = realloc(job->nll, 2 * (size_t)most * sizeof *nll);
        if (nll) job->nll = nll;
        if (!first || !nll) return error_set(error, "not enough memory for %d micro-batches",
                                             most);
        t->capacity = most;
    }
    job->count = microbatch_cut(job->first, job->source, job->target, most);
    job->objective = job->nll + job->count;
    memset(job->nll, 0, 2 * (size_t)job->count * sizeof *job->nll);
    return true;
}

/* Packs micro-batch k of the job. */
static bool pack(const Trainer *t, MicroBatch *batch, int k, Error *error)
{
    const Job *job = &t->job;
    const TrainingConfig *c = t->config;
    Dropout dropout = {.residual = c->dropout,
                       .activation = c->activation_dropout,
                       .attention = c->attention_dropout,
                       .seed = c->seed,
                       .update = (uint32_t)job->update,
                       .r_drop = c->r_drop};
    return microbatch_pack(batch, job->source, job->target, job->first[k], job->first[k + 1],
                           job->training ? &dropout : NULL, error);
}

/* One micro-batch: forward and, when training, backward. */
static bool micro_batch(Trainer *t, Worker *worker, Turn *turn, int k)
{
    Job *job = &t->job;
    MicroBatch *batch = &worker->batch;
    double smoothing = t->config->label_smoothing;
    if (!pack(t, batch, k, &worker->error) ||
        !microbatch_layout(batch, t->model, job->training ? PASS_TRAIN : PASS_SCORE,
                           &worker->error))
        return false;

    Loss loss = {0};
    double share = is_twice(t) ? 0.5 : 1;  // the mean of both copies
    transformer_forward(&batch->pass, t->model);
    if (job->training) {
        transformer_backward(&loss, &batch->pass, t->model,
                             gradients_weights(&t->gradients, k % t->accumulators), turn,
                             smoothing, (real)(share / job->target->rows));
    } else {
        transformer_loss(&loss, &batch->pass, t->model, smoothing);
    }
    job->nll[k] = share * loss.nll;
    job->objective[k] = share * loss.objective;
    return true;
}

/* Takes the first micro-batch of this rank whose accumulator is free, or shared. -1: there is none
 * now, and if not *more, none will come. */
static int take(Trainer *t, bool *more)
{
    int first = -1;
    *more = false;
    for (int a = 0; a < t->accumulators; a++) {
        int k = a + t->accumulators * t->taken[a];
        if (k >= t->job.count || (t->job.training && !gradients_has(&t->gradients, a))) continue;
        *more = true;
        bool free = t->taken[a] == t->done[a] || takes_turns(t) || !t->job.training;
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
        Turn one = {.turns = &t->turns, .number = k};
        Turn *turn = takes_turns(t) ? &one : NULL;
        bool good = !worker->failed && micro_batch(t, worker, turn, k);
        turn_end(turn);
        pthread_mutex_lock(&t->lock);
        if (!good) worker->failed = true;
        t->done[k % t->accumulators]++;
        pthread_cond_broadcast(&t->finished);
    }
    pthread_mutex_unlock(&t->lock);
}

static bool run_micro_batches(Trainer *t, Error *error)
{
    memset(t->taken, 0, (size_t)t->accumulators * sizeof *t->taken);
    memset(t->done, 0, (size_t)t->accumulators * sizeof *t->done);
    if (!cut(t, error)) return false;
    if (takes_turns(t) && !turns_begin(&t->turns, t->job.count, error)) return false;
    if (t->job.training)
        gradients_clear(&t->gradients, at_most(t->job.count, t->accumulators), t->workers);
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

/* Says which tensor of the gradient is the first that holds NaN or infinity, and which
 * micro-batch was the first to lose its numbers. */
static bool not_finite(const Trainer *t, const Loss *loss, UpdateStats *stats, Error *error)
{
    const Params *params = &t->model->params;
    const Job *job = &t->job;
    int tensor, k = 0;
    while (k < job->count && isfinite(job->objective[k])) k++;
    if (!gradients_not_finite(&t->gradients, &tensor, params, error)) return false;
    *stats = (UpdateStats){.not_finite = true, .suspect = k < job->count ? job->first[k] : 0};
    char text[ADVICE_TEXT];
    return error_set(error, "update %lld: the gradient%s%s is not finite (loss %g); %s",
                     job->update, tensor < params->count ? " of " : "'s norm",
                     tensor < params->count ? params->tensor[tensor].name : "",
                     loss->objective / (double)loss->tokens, training_advice(text, t->config));
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
    *stats = (UpdateStats){0};
    if (!distributed_agree(run_micro_batches(t, error), error)) return false;       // (1)

    double norm;
    Gradients *g = &t->gradients;
    int used = at_most(job->count, t->accumulators);
    if (!gradients_sum(g, &norm, used, t->workers, error) ||                        // (2)
        !distributed_sum(job->nll, 2 * (size_t)job->count, error))
        return false;
    Loss loss = total_loss(job);
    if (!isfinite(norm) || !isfinite(loss.objective)) return not_finite(t, &loss, stats, error);

    double rate = schedule_rate((Schedule)c->schedule, c->learning_rate, update, c->warmup,
                                c->max_updates);
    bool clip = c->clip_norm > 0 && norm > c->clip_norm;
    optimizer_update(&t->optimizer, update, rate, clip ? c->clip_norm / norm : 1,
                     t->workers);                                                   // (3)
    if (!distributed_allgather(t->model->block, g->part, error)) return false;      // (4)

    *stats = (UpdateStats){.loss = loss,
                           .gradient_norm = norm,
                           .learning_rate = rate,
                           .flops = transformer_flops(&t->model->config, source, target) *
                                    (is_twice(t) ? 2 : 1),
                           .tokens = (long long)source->rows + target->rows};
    return true;
}

bool trainer_gradient_norm(Trainer *t, double *norm, const Tensor *tensor, Error *error)
{
    return gradients_tensor_norm(&t->gradients, norm, tensor, error);
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

bool trainer_activations(Trainer *t, size_t *bytes, const Packed *source, const Packed *target,
                         Error *error)
{
    MicroBatch batch = {0};
    int own = t->gradients.end - t->gradients.first;
    int threads = at_work(t, workers_count(t->workers), own);
    t->job = (Job){.source = source, .target = target, .training = true,
                   .first = t->job.first, .nll = t->job.nll};
    bool good = cut(t, error);
    *bytes = 0;
    for (int k = 0; good && k < t->job.count; k++) {
        good = pack(t, &batch, k, error);
        size_t these = good ? microbatch_bytes(&batch, t->model, PASS_TRAIN) : 0;
        if (these > *bytes) *bytes = these;
    }
    microbatch_free(&batch);
    *bytes = block_bytes(*bytes) * (size_t)at_most(threads, t->job.count);
    return good;
}
