/* update.c -- one update by one sentence pair; see update.h. */
#include "explain/update.h"
#include "base/block.h"

#include "inference/bundle.h"
#include "model/checkpoint.h"
#include "training/progress.h"

/* The options of the training for one pair without randomness, and the number of the update. */
static bool read_config(Update *u, const CheckpointFile *file, Error *error)
{
    TrainingConfig *c = &u->config;
    const OptionGroup group = {"Training", "training", training_options, training_option_count,
                               c};
    Progress progress;
    Error ignored;
    *c = training_defaults();
    if (!options_from_json(&group, 1, file->config, file->file.path, true, error)) return false;
    c->dropout = c->attention_dropout = c->activation_dropout = c->r_drop = c->ema = 0;
    c->accumulators = 1;
    u->moments = c->optimizer == OPTIMIZER_ADAM && checkpoint_has(file, CHECKPOINT_ADAM_M) &&
                 file->progress &&
                 progress_from_json(&progress, file->progress, file->file.path, &ignored);
    c->optimizer = OPTIMIZER_ADAM;
    u->number = u->moments ? progress.update + 1 : 1;
    u->ended = schedule_rate(c, u->number) <= 0;
    if (u->ended)
        c->learning_rate = schedule_rate(c, 1), c->schedule = SCHEDULE_CONSTANT, c->warmup = 0;
    return true;
}

static bool read_file(Update *u, const CheckpointFile *file, const ModelConfig *config,
                      Error *error)
{
    Transformer *model = &u->model;
    if (checkpoint_has_int8(file, NULL))
        return error_set(
            error,
            "'%s' holds int8 weights, which have no gradients: name the checkpoint "
            "that it was made from as `model`",
            file->file.path);
    if (!transformer_create(model, config, error) || !read_config(u, file, error) ||
        !checkpoint_read(file, &model->params, CHECKPOINT_WEIGHTS, NULL, model->block, error) ||
        !(u->workers = workers_start(1, error)) ||
        !(u->trainer = trainer_create(model, &u->config, NULL, u->workers, error)))
        return false;
    const Optimizer *o = &u->trainer->optimizer;
    params_bind(&u->m, o->m, config);
    params_bind(&u->v, o->v, config);
    return !u->moments ||
           (checkpoint_read(file, &model->params, CHECKPOINT_ADAM_M, NULL, o->m, error) &&
            checkpoint_read(file, &model->params, CHECKPOINT_ADAM_V, NULL, o->v, error));
}

static bool run(Update *u, const Packed *source, const Packed *target, Error *error)
{
    Transformer *model = &u->model;
    size_t bytes = model->params.size * sizeof(real);
    double smoothing = u->config.label_smoothing;
    if (!(u->weights = block_zeros(bytes, error)) ||
        !(u->gradient = block_zeros(bytes, error)) ||
        !(u->snapshot[0] = snapshot_open_for(model, source, target, KEEP_GRADIENTS, error)))
        return false;
    memcpy(u->weights, model->block, bytes);
    params_bind(&u->before, u->weights, &model->config);
    params_bind(&u->dw, u->gradient, &model->config);
    transformer_backward(&u->loss[0], &u->snapshot[0]->activations, model, &u->dw, smoothing,
                         1 / (real)target->rows);
    params_share(&model->params, u->gradient);
    const PairIds pair = {{source->id, target->id}, {source->rows, target->rows}, 0};
    if (!trainer_update(u->trainer, u->number, &pair, 1, &u->stats, error) ||
        !(u->snapshot[1] = snapshot_open_for(model, source, target, KEEP_ATTENTION, error)))
        return false;
    transformer_loss(&u->loss[1], &u->snapshot[1]->activations, model, smoothing);
    return true;
}

bool update_open(Update *u, const char *path, const Snapshot *snapshot, Error *error)
{
    CheckpointFile file;
    *u = (Update){.number = 1};
    if (snapshot->target.rows > LOSS_ROWS)
        return error_set(error, "`backward` takes a translation of at most %d tokens, not %d",
                         LOSS_ROWS, snapshot->target.rows);
    if (!bundle_open(&file, path, error)) return false;
    bool good = read_file(u, &file, &snapshot->model->config, error);
    checkpoint_close(&file);
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
