/* passes.c -- the network's passes over an update's sentences, on all threads; see passes.h. */
#include "training/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/grow.h"
#include "base/real.h"

static int accumulators(const Passes *p)
{
    return p->gradients->reduction.accumulators;
}

bool passes_create(Passes *p, const Transformer *model, const TrainingConfig *config,
                   Gradients *gradients, Workers *workers, Error *error)
{
    *p = (Passes){.model = model, .config = config, .gradients = gradients, .workers = workers};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->finished, NULL);
    p->worker = calloc((size_t)workers_count(workers), sizeof *p->worker);
    p->taken = calloc((size_t)accumulators(p), sizeof *p->taken);
    p->done = calloc((size_t)accumulators(p), sizeof *p->done);
    return (p->worker && p->taken && p->done) || error_memory(error, "to train");
}

void passes_free(Passes *p)
{
    for (int i = 0; p->worker && i < workers_count(p->workers); i++)
        microbatch_free(&p->worker[i].batch);
    free(p->worker);
    free(p->taken);
    free(p->done);
    free(p->nll);
    microbatch_plan_free(&p->plan);
    pthread_cond_destroy(&p->finished);
    pthread_mutex_destroy(&p->lock);
    *p = (Passes){0};
}

int passes_used(const Passes *p)
{
    return at_most(p->plan.count, accumulators(p));
}

int passes_copies(const Passes *p)
{
    return p->training && p->config->r_drop > 0 ? 2 : 1;
}

int passes_at_work(const Passes *p, int threads)
{
    return at_most(threads, accumulators(p));
}

/* Cuts the sentences into micro-batches, with a loss of zero each. */
static bool plan(Passes *p, long long update, const Packed *source, const Packed *target,
                 Error *error)
{
    p->source = source;
    p->target = target;
    p->training = update > 0;
    p->update = update;
    int copies = passes_copies(p), tokens = (p->config->micro_tokens + copies - 1) / copies;
    if (!microbatch_plan(&p->plan, source, target, tokens, accumulators(p), error))
        return false;
    int count = p->plan.count;
    if (!GROW(p->nll, p->nll_size, 2 * (size_t)count))
        return error_memory(error, "for %d micro-batches", count);
    p->objective = p->nll + count;
    memset(p->nll, 0, 2 * (size_t)count * sizeof *p->nll);
    return true;
}

static bool pack(const Passes *p, MicroBatch *batch, int k, Error *error)
{
    const TrainingConfig *c = p->config;
    Dropout dropout = {.residual = c->dropout,
                       .activation = c->activation_dropout,
                       .attention = c->attention_dropout,
                       .seed = c->seed,
                       .update = (uint32_t)p->update,
                       .r_drop = c->r_drop};
    batch->guide = p->training ? p->guide : NULL;
    batch->teacher = p->training ? p->teacher : NULL;
    return microbatch_pack(batch, p->source, p->target, &p->plan.part[k],
                           p->training ? &dropout : NULL, error);
}

/* One micro-batch: forward and, when training, backward. */
static bool pass(Passes *p, PassWorker *worker, int k)
{
    MicroBatch *batch = &worker->batch;
    double smoothing = p->config->label_smoothing;
    if (!pack(p, batch, k, &worker->error) ||
        !microbatch_layout(batch, p->model, p->training ? KEEP_FOR_BACKWARD : KEEP_OUTPUT,
                           &worker->error))
        return false;

    Loss loss = {0};
    double share = 1.0 / passes_copies(p);  // the mean of both copies
    double scale = share / p->target->rows;
    transformer_forward(&batch->activations, p->model);
    if (p->training) {
        if (batch->guide)
            guide_fill(batch->guided, batch->guide, (real)(p->config->guide_alignment * scale));
        transformer_backward(&loss, &batch->activations, p->model,
                             gradients_weights(p->gradients, k % accumulators(p)), smoothing,
                             (real)scale);
    } else {
        transformer_loss(&loss, &batch->activations, p->model, smoothing);
    }
    p->nll[k] = share * loss.nll;
    p->objective[k] = share * loss.objective;
    return true;
}

/* Returns the first micro-batch of this rank whose accumulator is free; -1 if there is none
 * now. *more (=) whether micro-batches are left. */
static int take(Passes *p, bool *more)
{
    int first = -1, A = accumulators(p);
    *more = false;
    for (int a = 0; a < A; a++) {
        int k = a + A * p->taken[a];
        if (k >= p->plan.count || (p->training && !gradients_weights(p->gradients, a)))
            continue;
        *more = true;
        bool free = p->taken[a] == p->done[a] || !p->training;
        if (free && (first < 0 || k < first)) first = k;
    }
    if (first >= 0) p->taken[first % A]++;
    return first;
}

static void work(void *context, int number)
{
    Passes *p = context;
    PassWorker *worker = &p->worker[number];
    pthread_mutex_lock(&p->lock);
    bool more;
    for (;;) {
        int k = take(p, &more);
        if (!more) break;
        if (k < 0) {
            pthread_cond_wait(&p->finished, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        bool good = !worker->failed && pass(p, worker, k);
        pthread_mutex_lock(&p->lock);
        if (!good) worker->failed = true;
        p->done[k % accumulators(p)]++;
        pthread_cond_broadcast(&p->finished);
    }
    pthread_mutex_unlock(&p->lock);
}

bool passes_run(Passes *p, long long update, const Packed *source, const Packed *target,
                Error *error)
{
    memset(p->taken, 0, (size_t)accumulators(p) * sizeof *p->taken);
    memset(p->done, 0, (size_t)accumulators(p) * sizeof *p->done);
    if (!plan(p, update, source, target, error)) return false;
    if (p->training) gradients_clear(p->gradients, passes_used(p), p->workers);
    workers_run(p->workers, work, p);
    for (int i = 0; i < workers_count(p->workers); i++)
        if (p->worker[i].failed) {
            p->worker[i].failed = false;
            return error_set(error, "%s", p->worker[i].error.text);
        }
    return true;
}

Loss passes_loss(const Passes *p)
{
    Loss total = {.tokens = p->target->rows};
    for (int k = 0; k < p->plan.count; k++) {
        total.nll += p->nll[k];
        total.objective += p->objective[k];
    }
    return total;
}

int passes_suspects(const Passes *p, int *sentence, int most)
{
    int k = 0, count = p->plan.count;
    while (k < count && isfinite(p->objective[k])) k++;
    const MicroBatchPart *part = k < count ? &p->plan.part[k] : NULL;
    most = at_most(most, part ? part->count : p->source->sentences);
    for (int i = 0; i < most; i++) sentence[i] = part ? part->sentence[i] : i;
    return most;
}

bool passes_activations(Passes *p, size_t *bytes, const Packed *source, const Packed *target,
                        Error *error)
{
    MicroBatch batch = {0};
    int own = p->gradients->end - p->gradients->first;
    int threads = at_most(workers_count(p->workers), own);
    bool good = plan(p, 1, source, target, error);
    *bytes = 0;
    for (int k = 0; good && k < p->plan.count; k++) {
        good = pack(p, &batch, k, error);
        size_t these = good ? microbatch_bytes(&batch, p->model, KEEP_FOR_BACKWARD) : 0;
        if (these > *bytes) *bytes = these;
    }
    microbatch_free(&batch);
    *bytes = block_bytes(*bytes) * (size_t)at_most(threads, p->plan.count);
    return good;
}
