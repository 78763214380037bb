/* trainer.c -- one update of the weights; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator
 *   (2)  slices of the parameter block: sum the accumulators, and their squares (gradients.h)
 *   (3)  slices again: clip, decay, Adam or Muon, the moving average (optimizer.h)
 *   (4)  the new weights, from their owners to all ranks
 *
 * All threads of all ranks wait for each other between these: no weight may change before the
 * gradient's norm is known.
 *
 * (3) begins with gradient clipping by the global norm (Pascanu et al. 2013, arXiv 1211.5063,
 * algorithm 1): g = g · clip / ‖g‖ if ‖g‖ > clip, where ‖g‖ is over all tensors together. */
#include "training/trainer.h"

#include "base/grow.h"
#include "base/real.h"
#include "training/distributed.h"

int trainer_first_accumulators(int wanted)
{
    int ranks = distributed.ranks, processors = at_most(workers_processors(), 8);
    int count = ranks > 1 ? ranks : processors > 2 ? processors : 2;
    while (count < processors) count *= 2;
    return wanted ? wanted : count;
}

Trainer *trainer_create(Transformer *model, const TrainingConfig *config,
                        const Supervision *supervision, Workers *workers, Error *error)
{
    Trainer *t = calloc(1, sizeof *t);
    if (!t) return error_memory(error, "to train"), NULL;
    t->model = model;
    t->config = config;
    t->supervision = supervision;
    t->workers = workers;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->finished, NULL);
    int A = trainer_first_accumulators(config->accumulators);
    t->batch = calloc((size_t)workers_count(workers), sizeof *t->batch);
    if ((t->batch || error_memory(error, "to train")) &&
        gradients_create(&t->gradients, model, A, error) &&
        optimizer_create(&t->optimizer, model, &t->gradients, config, workers_count(workers),
                         error))
        return t;
    trainer_free(t);
    return NULL;
}

void trainer_free(Trainer *t)
{
    if (!t) return;
    for (int i = 0; t->batch && i < workers_count(t->workers); i++)
        microbatch_free(&t->batch[i]);
    free(t->batch);
    free(t->nll);
    microbatch_plan_free(&t->plan);
    gradients_free(&t->gradients);
    optimizer_free(&t->optimizer);
    pthread_cond_destroy(&t->finished);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* ---- (1) ---- */

/* How often a sentence goes through the network. */
static int copies(const Trainer *t)
{
    return t->training && t->config->r_drop > 0 ? 2 : 1;
}

/* Cuts the sentences into micro-batches, with a loss of zero each. Update 0 is an evaluation. */
static bool plan(Trainer *t, long long update, const PairIds *pair, int pairs, Error *error)
{
    t->training = update > 0;
    t->update = update;
    t->pair = pair;
    t->rows = 0;
    for (int s = 0; s < pairs; s++) t->rows += pair[s].length[1];
    int tokens = (t->config->micro_tokens + copies(t) - 1) / copies(t);
    if (!microbatch_plan(&t->plan, pair, pairs, tokens, t->gradients.accumulators, error))
        return false;
    int count = t->plan.count;
    if (!GROW(t->nll, t->nll_size, 2 * (size_t)count))
        return error_memory(error, "for %d micro-batches", count);
    t->objective = t->nll + count;
    memset(t->nll, 0, 2 * (size_t)count * sizeof *t->nll);
    return true;
}

/* One micro-batch: forward and, when training, backward. */
static bool run(Trainer *t, MicroBatch *batch, int k, Error *error)
{
    const TrainingConfig *c = t->config;
    const Gradients *g = &t->gradients;
    const Supervision *more = t->training ? t->supervision : NULL;
    const Dropout dropout = {.residual = c->dropout,
                             .activation = c->activation_dropout,
                             .attention = c->attention_dropout,
                             .seed = c->seed,
                             .update = (uint32_t)t->update,
                             .r_drop = c->r_drop};
    if (!microbatch_pack(batch, t->pair, &t->plan.part[k], t->training ? &dropout : NULL,
                         error) ||
        !microbatch_layout(batch, t->model, more, error))
        return false;

    Loss loss = {0};
    double share = 1.0 / copies(t);  // the mean of both copies
    double scale = share / (double)t->rows;
    if (more)
        microbatch_supervise(batch, more, (real)(c->guide_alignment * scale),
                             c->teacher_weight);
    transformer_forward(&batch->activations, t->model);
    if (t->training)
        transformer_backward(&loss, &batch->activations, t->model,
                             &g->weights[k % g->accumulators - g->first], c->label_smoothing,
                             (real)scale);
    else transformer_loss(&loss, &batch->activations, t->model, c->label_smoothing);
    t->nll[k] = share * loss.nll;
    t->objective[k] = share * loss.objective;
    return true;
}

/* Item i of the loop is a micro-batch of this rank, and waits for the one before it in its
 * accumulator, which another thread has taken earlier. In an evaluation it is micro-batch i. */
static bool run_item(void *context, size_t i, int worker, Error *error)
{
    Trainer *t = context;
    int A = t->gradients.accumulators, first = t->gradients.first,
        own = t->gradients.end - first;
    int k = t->training ? (int)i / own * A + first + (int)i % own : (int)i;
    if (k >= t->plan.count) return true;
    pthread_mutex_lock(&t->lock);
    while (t->training && t->done[k % A] < k / A) pthread_cond_wait(&t->finished, &t->lock);
    pthread_mutex_unlock(&t->lock);
    bool good = run(t, &t->batch[worker], k, error);
    pthread_mutex_lock(&t->lock);
    t->done[k % A]++;
    pthread_cond_broadcast(&t->finished);
    pthread_mutex_unlock(&t->lock);
    return good;
}

static int accumulators_used(const Trainer *t)
{
    return at_most(t->plan.count, t->gradients.accumulators);
}

/* Forward and, when training, backward over this rank's micro-batches; the accumulators (=) the
 * gradients of the objective's mean over the target tokens. An evaluation is of all
 * micro-batches. */
static bool run_all(Trainer *t, Error *error)
{
    size_t items = (size_t)t->plan.count;
    memset(t->done, 0, sizeof t->done);
    if (t->training) {
        size_t A = (size_t)t->gradients.accumulators,
               own = (size_t)(t->gradients.end - t->gradients.first);
        items = (items + A - 1) / A * own;
        gradients_clear(&t->gradients, accumulators_used(t), t->workers);
    }
    return workers_each(t->workers, items, run_item, t, error);
}

/* The sum over the micro-batches, in their order. */
static Loss sum_losses(const Trainer *t)
{
    Loss total = {.tokens = t->rows};
    for (int k = 0; k < t->plan.count; k++) {
        total.nll += t->nll[k];
        total.objective += t->objective[k];
    }
    return total;
}

bool trainer_evaluate(Trainer *t, const PairIds *pair, int pairs, Loss *loss, Error *error)
{
    if (!plan(t, 0, pair, pairs, error) || !run_all(t, error)) return false;
    *loss = sum_losses(t);
    return true;
}

/* ---- (2) to (4) ---- */

/* Names the first tensor whose gradient is not finite. */
static bool not_finite(const Trainer *t, const Loss *loss, Error *error)
{
    const Params *params = &t->model->params;
    int tensor;
    if (!gradients_not_finite(&t->gradients, &tensor, error)) return false;
    char text[ADVICE_TEXT], value[32] = "nor is the loss";
    double mean = loss->objective / (double)loss->tokens;
    if (isfinite(mean)) snprintf(value, sizeof value, "loss %g", mean);
    return error_set(error, "update %lld: the gradient%s%s is not finite (%s); %s", t->update,
                     tensor < params->count ? " of " : "'s norm",
                     tensor < params->count ? params->tensor[tensor].name : "", value,
                     training_advice(text, t->config));
}

bool trainer_update(Trainer *t, long long update, const PairIds *pair, int pairs,
                    UpdateStats *stats, Error *error)
{
    const TrainingConfig *c = t->config;
    Gradients *g = &t->gradients;
    bool good = plan(t, update, pair, pairs, error) && run_all(t, error);
    if (!distributed_agree(good, error)) return false;  // (1)

    double norm;
    if (!gradients_sum(g, &norm, accumulators_used(t), t->workers, error) ||  // (2)
        !distributed_sum(t->nll, 2 * (size_t)t->plan.count, error))
        return false;
    Loss loss = sum_losses(t);
    if (!isfinite(norm) || !isfinite(loss.objective)) return not_finite(t, &loss, error);

    double rate = schedule_rate(c, update);
    double clip = c->clip_norm > 0 && norm > c->clip_norm ? c->clip_norm / norm : 1;
    if (!optimizer_update(&t->optimizer, update, rate, clip, t->workers, error) ||  // (3)
        !distributed_allgather(t->model->block, g->part, error))                    // (4)
        return false;

    *stats = (UpdateStats){.loss = loss, .gradient_norm = norm};
    for (int s = 0; s < pairs; s++) {
        int source = pair[s].length[0], target = pair[s].length[1];
        stats->flops += copies(t) * transformer_flops(&t->model->config, source, target);
        stats->tokens += source + target;
    }
    return true;
}
