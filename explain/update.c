/* update.c -- one update by one sentence pair; see update.h. */
#include "explain/update.h"

#include "model/checkpoint.h"
#include "training/progress.h"

#include <stdlib.h>
#include <string.h>

/* The options of the training, for one pair without randomness. */
static bool read_config(Update *u, const CheckpointFile *file, Error *error)
{
    u->config = training_defaults();
    const OptionGroup group = {"Training", "training", training_options, training_option_count,
                               &u->config};
    if (!options_from_json(&group, 1, file->config, file->file.path, true, error)) return false;
    TrainingConfig *c = &u->config;
    c->dropout = c->attention_dropout = c->activation_dropout = c->r_drop = c->ema = 0;
    c->accumulators = 1;
    return true;
}

static double rate_of(const TrainingConfig *c, long long update)
{
    return schedule_rate((Schedule)c->schedule, c->learning_rate, update, c->warmup,
                         c->max_updates);
}

/* Adam's moments, the number of the update, and a learning rate above 0. */
static bool read_moments(Update *u, const CheckpointFile *file, Error *error)
{
    Optimizer *o = &u->trainer->optimizer;
    TrainingConfig *c = &u->config;
    Progress progress;
    Error ignored;
    u->moments = checkpoint_has(file, CHECKPOINT_ADAM_M) && file->progress &&
                 progress_from_json(&progress, file->progress, file->file.path, &ignored);
    u->number = u->moments ? progress.update + 1 : 1;
    u->ended = rate_of(c, u->number) <= 0;
    if (u->ended) {
        c->learning_rate = rate_of(c, 1);
        c->schedule = SCHEDULE_CONSTANT, c->warmup = 0;
    }
    return !u->moments ||
           (checkpoint_read(file, &u->model.params, CHECKPOINT_ADAM_M, o->m, error) &&
            checkpoint_read(file, &u->model.params, CHECKPOINT_ADAM_V, o->v, error));
}

static bool read_file(Update *u, const CheckpointFile *file, const Transformer *model,
                      Error *error)
{
    if (checkpoint_has_int8(file, NULL))
        return error_set(
            error,
            "'%s' holds int8 weights, which have no gradients: name the checkpoint "
            "that it was made from as `model`",
            file->file.path);
    return transformer_create(&u->model, &model->config, error) &&
           checkpoint_read(file, &u->model.params, CHECKPOINT_WEIGHTS, u->model.block, error) &&
           read_config(u, file, error) && (u->workers = workers_start(1, error)) &&
           (u->trainer = trainer_create(&u->model, &u->config, u->workers, error)) &&
           read_moments(u, file, error);
}

static bool run(Update *u, const Packed *source, const Packed *target, Error *error)
{
    Transformer *model = &u->model;
    const ModelConfig *c = &model->config;
    const Optimizer *o = &u->trainer->optimizer;
    size_t bytes = model->params.size * sizeof(real);
    double smoothing = u->config.label_smoothing;
    if (!(u->weights = block_zeros(bytes, error)) || !(u->gradient = block_zeros(bytes, error)))
        return false;
    memcpy(u->weights, model->block, bytes);
    params_bind(&u->before, u->weights, c);
    params_bind(&u->dw, u->gradient, c);
    params_bind(&u->m, o->m, c);
    params_bind(&u->v, o->v, c);
    u->snapshot[0] =
        snapshot_open_backward(&u->loss[0], &u->dw, model, smoothing, source, target, error);
    params_share(&model->params, u->gradient);
    if (!u->snapshot[0] ||
        !trainer_update(u->trainer, u->number, source, target, &u->stats, error))
        return false;
    u->snapshot[1] =
        snapshot_open(model, source->id, source->rows, target->id, target->rows, error);
    if (u->snapshot[1]) transformer_loss(&u->loss[1], &u->snapshot[1]->pass, model, smoothing);
    return u->snapshot[1];
}

bool update_open(Update *u, const char *file, const Snapshot *snapshot, Error *error)
{
    CheckpointFile checkpoint;
    *u = (Update){.number = 1};
    if (snapshot->target.rows > LOSS_ROWS)
        return error_set(error, "`backward` takes a translation of at most %d tokens, not %d",
                         LOSS_ROWS, snapshot->target.rows);
    if (!checkpoint_open(&checkpoint, file, error)) return false;
    bool good = read_file(u, &checkpoint, snapshot->model, error);
    checkpoint_close(&checkpoint);
    return good && run(u, &snapshot->source, &snapshot->target, error);
}

void update_close(Update *u)
{
    for (int i = 0; i < 2; i++) snapshot_close(u->snapshot[i]);
    trainer_free(u->trainer);
    workers_stop(u->workers);
    free(u->weights);
    free(u->gradient);
    transformer_free(&u->model);
    *u = (Update){0};
}
