/* train.c -- ./train: from a parallel corpus to a translator.
 *
 *   read the options, the corpus, and the run that is in the output folder, if there is one
 *   report on them
 *   until a limit is reached or a signal arrives:
 *       one update;  now and then a line of metrics;  now and then validate, save, draw
 *
 * With several ranks (training/distributed.h) all of them run through this in step. Only rank 0
 * prints, validates, saves and draws, and it makes all decisions. */
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "base/profile.h"
#include "commands/command.h"
#include "commands/train/console.h"
#include "commands/train/pictures.h"
#include "commands/train/watch.h"
#include "commands/train/weights.h"
#include "training/distributed.h"

static volatile sig_atomic_t stop_signal;  // received by this process
static int stop;                           // the largest signal of all ranks, the same on each
static char stopping[160];                 // printed on a signal if there are several ranks

/* The first signal asks to stop after this update; a second one ends the program at once. When
 * a rank dies, mpirun sends SIGTERM to the others and kills them a second later. Their update
 * then never ends, so the message is printed here. */
static void on_signal(int number)
{
    stop_signal = number;
    signal(number, SIG_DFL);
    if (write(STDERR_FILENO, stopping, strlen(stopping))) {}
}

static void catch_signals(bool quiet)
{
    if (distributed_ranks() > 1 && distributed_rank() == 0 && !quiet)
        snprintf(stopping, sizeof stopping,
                 "%s: stops after this update; if a rank has died, "
                 "the same command resumes from the last checkpoint\n",
                 command_name());
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);  // mpirun and Slurm pass it on without ending the job
}

/* ---- one update ---- */

/* The option whose limit is reached, or NULL. */
static const char *finished(const Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    const Progress *p = &run->progress;
    return c->max_updates && p->update >= c->max_updates ? "--max-updates"
           : c->max_epochs && p->epoch >= c->max_epochs  ? "--max-epochs"
           : c->patience && p->stale >= c->patience      ? "--patience"
                                                         : NULL;
}

static bool validation_due(const Run *run)
{
    const Progress *p = &run->progress;
    int updates = run->settings->training.valid_every;
    int epochs = run->valid_epochs;
    bool due = (updates && p->update % updates == 0) ||
               (epochs && p->update_in_epoch == 0 && p->epoch % epochs == 0);
    return p->update > p->validated && (due || finished(run));
}

/* Writes a line of metrics, the means since the last one, and starts new sums. */
static bool log_metrics(Run *run, Throughput *t, const UpdateStats *last, Error *error)
{
    Progress *p = &run->progress;
    double tokens = (double)p->tokens;
    MetricsLine line = {.kind = METRICS_TRAIN,
                        .update = p->update,
                        .epoch = p->epoch,
                        .loss = p->nll / tokens,
                        .objective = p->objective / tokens,
                        .learning_rate = last->learning_rate,
                        .gradient_norm = p->norm / (double)p->updates,
                        .tokens_per_second = (double)t->tokens / t->seconds,
                        .gflops = t->flops / t->seconds / 1e9,
                        .seconds = p->seconds};
    console_progress(run, t, last, true);
    *t = (Throughput){0};
    p->nll = p->objective = p->norm = 0;
    p->tokens = p->updates = 0;
    return distributed_rank() > 0 || metrics_add(&run->metrics, &line, error);
}

static bool update(Run *run, Watch *watch, WeightsHistory *weights, Throughput *t, Error *error)
{
    Progress *p = &run->progress;
    Packed source, target;
    UpdateStats stats;
    size_t in_epoch;
    double start = clock_seconds();
    if (!batches_updates(&run->batches, &in_epoch, (uint64_t)p->epoch, error) ||
        !batches_update(&run->batches, &source, &target, (uint64_t)p->epoch,
                        (size_t)p->update_in_epoch, error))
        return false;
    if (!trainer_update(run->trainer, p->update + 1, &source, &target, &stats, error))
        return stats.not_finite && run_name_pairs(run, &stats, error);
    double seconds = clock_seconds() - start;
    p->update++;
    p->update_in_epoch++;
    p->seconds += seconds;
    if (p->update_in_epoch == (long long)in_epoch) p->epoch++, p->update_in_epoch = 0;

    p->nll += stats.loss.nll;
    p->objective += stats.loss.objective;
    p->norm += stats.gradient_norm;
    p->tokens += stats.loss.tokens;
    p->updates++;
    t->flops += stats.flops;
    t->seconds += seconds;
    t->tokens += stats.tokens;
    double loss = stats.loss.nll / (double)stats.loss.tokens;
    if ((watch_due(p->update) || validation_due(run)) && !watch_record(watch, run, loss, error))
        return false;
    if (!weights_record(weights, run, error)) return false;
    if (p->update % run->settings->training.log_every == 0)
        return log_metrics(run, t, &stats, error);
    console_progress(run, t, &stats, false);
    return true;
}

/* ---- validation ---- */

/* Adds a validation's results to progress and metrics; saves the model if it is the best. */
static bool record(Run *run, const Validation *v, Error *error)
{
    Progress *p = &run->progress;
    const Quality *quality = &v->quality;
    double exact = v->translated ? 100.0 * v->exact / v->translated : NAN;
    MetricsLine line = {.kind = METRICS_VALID,
                        .update = p->update,
                        .epoch = p->epoch,
                        .loss = quality->loss,
                        .exact = exact,
                        .bleu = quality->bleu,
                        .chrf = quality->chrf,
                        .seconds = p->seconds};
    bool best = progress_better(p, quality, (Criterion)run->settings->training.best);
    p->validated = p->update;
    p->stale = best ? 0 : p->stale + 1;
    if (best) p->best = *quality, p->best_update = p->update;
    progress_keep(p, p->update, validation_files(&run->settings->training));
    console_validation(run, v, best);
    return metrics_add(&run->metrics, &line, error) &&
           (!best ||
            (run_save(run, run->best, false, error) && pictures_attention(run, v, error)));
}

/* Rank 0's part of a validation. A signal cuts it short; nothing is recorded then. */
static bool validate_candidate(Run *run, Validation *v, Error *error)
{
    if (stop_signal) return true;
    bool good =
        validation_enter(v, error) &&
        (validation_run(v, &stop_signal, error) ? record(run, v, error) : v->ids.stopped);
    validation_leave(v);
    return good;
}

static bool validate(Run *run, Validation *v, Error *error)
{
    console_stage("validating after update %lld …", run->progress.update);
    bool good = optimizer_send(&run->trainer->optimizer, distributed_gather, error) &&
                (distributed_rank() > 0 || validate_candidate(run, v, error));
    return distributed_agree(good, error) &&
           distributed_share(&run->progress, sizeof run->progress, error) &&
           run_save_last(run, error) && validation_remove_dropped(run, error) &&
           pictures_loss(run, error);
}

/* ---- the training ---- */

/* Checks that no rank has failed; `stop` becomes the signal that any of them received. */
static bool agree_on_stop(Error *error)
{
    stop = stop_signal;
    return distributed_agree(true, error) && distributed_greatest(&stop, error);
}

static bool train(Run *run, Validation *validation, Watch *watch, WeightsHistory *weights,
                  Error *error)
{
    Throughput throughput = {0};
    if (run->progress.update == 0 &&
        (!watch_record(watch, run, NAN, error) || !weights_record(weights, run, error)))
        return false;
    for (;;) {
        if (validation_due(run) && !validate(run, validation, error)) return false;
        if (!agree_on_stop(error)) return false;
        if (stop || finished(run)) {
            console_stage("saving and drawing …");
            return run_save_last(run, error) && weights_draw(weights, run, error) &&
                   watch_draw(watch, run, error);
        }
        if (!update(run, watch, weights, &throughput, error)) return false;
    }
}

/* Prepares the output folder, trains, and says how it ended. */
static bool train_into_folder(Run *run, Validation *validation, Error *error)
{
    Watch watch = {0};
    static WeightsHistory weights;
    const char *limit = run->resumed ? finished(run) : NULL, *changed = run->settings->changed;
    if (limit)
        console_say(
            "nothing is left to do: the run in %s has reached its %s; a larger %s goes on",
            run->settings->run.output, limit, limit);
    if (limit && *changed)
        console_say("these options have changed, without effect:%s", changed);
    if (run->resumed && !limit)
        console_say("going on    from update %lld of the run in %s", run->progress.update,
                    run->settings->run.output);
    if (run->resumed && !limit && run->new_epoch)
        console_say("new epoch   the order of the sentences has changed: %s",
                    run->settings->reordered ? run->settings->reordered : "a shorter text");
    if (run->unverified)
        console_say(
            "warning       the checkpoint does not record its training text, as it is of "
            "an earlier version: training must go on with the same text");
    bool good = run_begin(run, error) && watch_open(&watch, run, error) &&
                weights_open(&weights, run, error) && validation_remove_dropped(run, error);
    catch_signals(run->settings->run.quiet);  // until here there is nothing to save
    good = distributed_agree(good, error) && train(run, validation, &watch, &weights, error);
    if (good) console_end(run, stop);
    watch_close(&watch);
    return good;
}

static bool whole_story(Run *run, Settings *settings, Error *error)
{
    Validation validation = {0};
    bool good = run_read(run, settings, console_stage, error) && run_prepare(run, error) &&
                validation_create(&validation, run, error) &&
                console_report(run, &validation, error) &&
                (settings->run.dry_run ? console_estimate(run, &validation, error)
                                       : train_into_folder(run, &validation, error));
    validation_free(&validation);
    return good;
}

static bool print_help_or_version(const Settings *settings, Error *error)
{
    if (distributed_rank() > 0) return true;
    bool wants_help = settings->run.help || settings->run.short_help;
    char *help = wants_help ? settings_help(!settings->run.help) : NULL;
    if (help) fputs(help, stdout);
    else puts(distributed_possible() ? "qkv " QKV_VERSION ", with MPI" : "qkv " QKV_VERSION);
    free(help);
    return stream_flush(stdout, wants_help ? "the help" : "the version", error);
}

/* Returns the exit status; error is set if it is 1 or 2. */
static int run_command(Run *run, Settings *settings, int argc, char **argv, Error *error)
{
    if (!distributed_start(error) ||
        !distributed_agree(settings_read(settings, argc, argv, error), error))
        return 2;
    bool print_only = settings->run.help || settings->run.short_help || settings->run.version;
    if (!distributed_share(&print_only, sizeof print_only, error)) return 1;
    if (print_only) return print_help_or_version(settings, error) ? 0 : 1;
    console_start(settings->run.quiet || distributed_rank() > 0);
    if (!distributed_agree(whole_story(run, settings, error), error)) return 1;
    return stop ? 128 + stop : 0;
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Run run;
    Error error = {""};
    // Large blocks go back to the system as soon as they are freed. Otherwise the memory of a
    // validation stays with the process: 144 MB instead of 76 for the toy corpus.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    int status = run_command(&run, &settings, argc, argv, &error);
    bool failed = status == 1 || status == 2;
    options_name_in_error(settings.groups, SETTINGS_GROUPS, &error);
    if (failed && (distributed_rank() == 0 || distributed_broken())) console_error(&error);
    run_free(&run);
    settings_free(&settings);
    distributed_stop();
    return status;
}
