/* candidate.c -- the weights that a validation is about; see candidate.h. */
#include "commands/train/candidate.h"

#include "model/checkpoint.h"
#include "training/distributed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int candidate_files(const TrainingConfig *c)
{
    return c->average > c->keep_last ? c->average : c->keep_last;
}

/* The snapshot's path; free() it. */
static char *path_of(const Run *run, long long update, Error *error)
{
    char name[64];
    snprintf(name, sizeof name, "update-%06lld.safetensors", update);
    return run_path(run->settings, name, error);
}

static bool save_snapshot(Run *run, Error *error)
{
    char *path = path_of(run, run->progress.update, error);
    bool good = path && run_save_model(run, path, error);
    free(path);
    return good;
}

/* sum [size] += the snapshot, which is read into `block`. */
static bool add_snapshot(double *sum, real *block, const Run *run, long long update,
                         Error *error)
{
    CheckpointFile file;
    const Params *params = &run->model.params;
    char *path = path_of(run, update, error);
    bool opened = path && checkpoint_open(&file, path, error), good = opened;
    good = good && checkpoint_read(&file, params, CHECKPOINT_WEIGHTS, block, error);
    if (opened) checkpoint_close(&file);
    if (path && !good)
        error_prefix(error, "the weights that --average %d needs cannot be read",
                     run->settings->training.average);
    free(path);
    for (size_t i = 0; i < params->size && good; i++) sum[i] += (double)block[i];
    return good;
}

/* The mean of the last `count` of the kept snapshots and of the model's weights, which are the
 * newest; summed in double, oldest first. NULL on error. */
static real *mean_of(const Run *run, int count, Error *error)
{
    size_t size = run->model.params.size;
    const UpdateList *list = &run->progress.kept;
    real *mean = params_block(&run->model.params, error);
    double *sum = calloc(size, sizeof *sum);
    bool good = mean && sum;
    if (mean && !sum) error_set(error, "not enough memory to average %d models", count + 1);
    for (int i = list->count - count; i < list->count && good; i++)
        good = add_snapshot(sum, mean, run, list->update[i], error);
    for (size_t i = 0; i < size && good; i++)
        mean[i] = (real)((sum[i] + (double)run->model.block[i]) / (count + 1));
    free(sum);
    if (good) return mean;
    free(mean);
    return NULL;
}

bool candidate_enter(Candidate *c, Run *run, Error *error)
{
    *c = (Candidate){.weights = run->model.block};
    real *ema = trainer_ema(run->trainer);
    int before = run->settings->training.average - 1;  // snapshots besides the newest
    if (before > run->progress.kept.count) before = run->progress.kept.count;
    if (ema) transformer_use(&run->model, ema);
    bool good = !candidate_files(&run->settings->training) || save_snapshot(run, error);  // (1)
    if (good && before > 0) {                                                             // (2)
        good = (c->mean = mean_of(run, before, error));
        if (good) transformer_use(&run->model, c->mean);
    }
    if (!good) candidate_leave(c, run);
    return good;
}

void candidate_leave(Candidate *c, Run *run)
{
    transformer_use(&run->model, c->weights);
    free(c->mean);
    *c = (Candidate){0};
}

void candidate_keep(Run *run)
{
    progress_keep(&run->progress, run->progress.update,
                  candidate_files(&run->settings->training));
}

bool candidate_remove_dropped(const Run *run, Error *error)
{
    const UpdateList *dropped = &run->progress.dropped;
    bool good = true;
    for (int i = 0; i < dropped->count && good && distributed_rank() == 0; i++) {
        char *path = path_of(run, dropped->update[i], error);
        good = path;
        if (path && unlink(path) != 0 && errno != ENOENT)
            good = error_set(error, "cannot remove '%s': %s", path, strerror(errno));
        free(path);
    }
    return good;
}
