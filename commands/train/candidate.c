/* candidate.c -- the weights that are validated; see candidate.h. */
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

static bool snapshot_path(char path[PATH_MAX], const Run *run, long long update, Error *error)
{
    char name[64];
    snprintf(name, sizeof name, "update-%06lld.safetensors", update);
    return run_path(path, run->settings, name, error);
}

static bool save_snapshot(Run *run, Error *error)
{
    char path[PATH_MAX];
    return snapshot_path(path, run, run->progress.update, error) &&
           run_save(run, path, false, error);
}

/* block (=) the weights of a snapshot */
static bool read_snapshot(real *block, const Run *run, long long update, Error *error)
{
    CheckpointFile file;
    char path[PATH_MAX];
    bool open = snapshot_path(path, run, update, error) && checkpoint_open(&file, path, error);
    bool good =
        open && checkpoint_read(&file, &run->model.params, CHECKPOINT_WEIGHTS, block, error);
    if (open) checkpoint_close(&file);
    return good || error_prefix(error, "the weights that --average %d needs cannot be read",
                                run->settings->training.average);
}

/* mean (=) the mean of the last `count` kept snapshots and the model's weights, which are the
 * newest; summed in double in `sum`, which is zero at first, oldest first. */
static bool find_mean(real *mean, double *sum, const Run *run, int count, Error *error)
{
    size_t size = run->model.params.size;
    const UpdateList *list = &run->progress.kept;
    for (int i = list->count - count; i < list->count; i++) {
        if (!read_snapshot(mean, run, list->update[i], error)) return false;
        for (size_t k = 0; k < size; k++) sum[k] += (double)mean[k];
    }
    for (size_t k = 0; k < size; k++)
        mean[k] = (real)((sum[k] + (double)run->model.block[k]) / (count + 1));
    return true;
}

/* The model gets the mean of `count` snapshots and its own weights. */
static bool use_mean(Candidate *c, Run *run, int count, Error *error)
{
    double *sum = calloc(run->model.params.size, sizeof *sum);
    c->mean = params_block(&run->model.params, error);
    bool good =
        c->mean &&
        (sum || error_set(error, "not enough memory to average %d models", count + 1)) &&
        find_mean(c->mean, sum, run, count, error);
    free(sum);
    if (good) transformer_use(&run->model, c->mean);
    return good;
}

bool candidate_enter(Candidate *c, Run *run, Error *error)
{
    *c = (Candidate){.weights = run->model.block};
    real *ema = run->trainer->optimizer.ema;
    int before = run->settings->training.average - 1;  // snapshots besides the newest
    if (before > run->progress.kept.count) before = run->progress.kept.count;
    if (ema) transformer_use(&run->model, ema);
    if ((!candidate_files(&run->settings->training) || save_snapshot(run, error)) &&  // (1)
        (before <= 0 || use_mean(c, run, before, error)))                             // (2)
        return true;
    candidate_leave(c, run);
    return false;
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
    for (int i = 0; i < dropped->count && distributed_rank() == 0; i++) {
        char path[PATH_MAX];
        if (!snapshot_path(path, run, dropped->update[i], error)) return false;
        if (unlink(path) != 0 && errno != ENOENT)
            return error_set(error, "cannot remove '%s': %s", path, strerror(errno));
    }
    return true;
}
