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
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/options.h"
#include "commands/command.h"
#include "commands/train/console.h"
#include "commands/train/pictures.h"
#include "commands/train/report.h"
#include "training/distributed.h"

static volatile sig_atomic_t save_signal;  // received by this process, as file_stop
static int stop;                           // the largest signal of all ranks, the same on each
static char stopping[160];                 // printed on a signal if there are several ranks

/* The first signal asks to stop after this update; a second one ends the program at once, but
 * not SIGHUP, which a terminal that closes sends twice. SIGUSR1 asks to save. When a rank dies,
 * mpirun sends SIGTERM to the others and kills them a second later. Their update then never
 * ends, so the message is printed here. */
static void on_signal(int number)
{
    if (number == SIGUSR1) {
        save_signal = 1;
        return;
    }
    file_stop = number;
    signal(number, number == SIGHUP ? SIG_IGN : SIG_DFL);
    if (write(STDERR_FILENO, stopping, strlen(stopping))) {}
}

static void catch_signals(void)
{
    if (distributed.ranks > 1 && console_bar.out)
        snprintf(stopping, sizeof stopping,
                 "%s: stops after this update; if a rank has died, "
                 "the same command resumes from the last checkpoint\n",
                 command_name());
    command_catch(SIGHUP, on_signal);
    command_catch(SIGINT, on_signal);
    command_catch(SIGTERM, on_signal);
    signal(SIGUSR2, on_signal);  // mpirun and Slurm pass it on without ending the job
}

/* ---- what may fail without ending the run ---- */

static const Recorder *const recorders[] = {&weights_recorder, &watch_recorder};
enum { RECORDERS = 2 };

/* What rank 0 writes; RECORDS: metrics.jsonl and what is recorded for pictures; then
 * pictures, from ENDS on those of the recorders. A failure is said at once unless the run is ending,
 * but a sentence only once from one validation to the next; and at the end if no later try was good.
 * It then fails the run, unless it is that of a picture. */
enum { LAST, BEST, VALIDATED, RECORDS, PICTURES, ENDS, OUTPUTS = ENDS + RECORDERS };
static Error failure[OUTPUTS];  // "": none
static bool ending;

static bool tried(int output, bool good, const Error *error)
{
    bool told = output == RECORDS && failure[RECORDS].text[0];
    static const Error none = {""};
    static Error said;
    if (output == VALIDATED) said = none;
    if (!good && !ending && !told && strcmp(said.text, error->text)) {
        console_error("warning: ", error, "; training goes on");
        said = *error;
    }
    if (!told) failure[output] = good ? none : *error;
    return good;
}

/* Says what has failed and was not done since; false, with the error for main, if that is more
 * than pictures. */
static bool report_failures(Error *error)
{
    bool good = true;
    for (int f = 0; f < OUTPUTS; f++) {
        if (!failure[f].text[0] || (!good && !strcmp(failure[f].text, error->text))) continue;
        if (f > RECORDS || !good) console_error("warning: ", &failure[f], "");
        else *error = failure[f], good = false;
    }
    return good;
}

/* ---- one update ---- */

/* The option whose limit is reached, or NULL. */
static const char *finished(const Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    const Progress *p = &run->progress;
    return c->max_updates && p->update >= c->max_updates
               ? (run->settings->seconds > 0 ? "--time" : "--max-updates")
           : c->max_epochs && p->epoch >= c->max_epochs ? "--max-epochs"
           : c->patience && p->stale >= c->patience     ? "--patience"
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
static void log_metrics(Run *run, Error *error)
{
    Progress *p = &run->progress;
    Throughput *t = &run->throughput;
    double tokens = (double)p->tokens;
    MetricsLine line = {.kind = METRICS_TRAIN,
                        .update = p->update,
                        .epoch = p->epoch,
                        .loss = p->nll / tokens,
                        .objective = p->objective / tokens,
                        .learning_rate = schedule_rate(&run->settings->training, p->update),
                        .gradient_norm = p->norm / (double)p->updates,
                        .tokens_per_second = (double)t->tokens / t->seconds,
                        .gflops = t->flops / t->seconds / 1e9,
                        .seconds = p->seconds};
    *t = (Throughput){0};
    p->nll = p->objective = p->norm = 0;
    p->tokens = p->updates = 0;
    if (distributed.rank == 0 && !metrics_add(&run->metrics, &line, error))
        tried(RECORDS, false, error);
}

static void record_frames(Run *run, double loss, Error *error)
{
    for (int r = 0; r < RECORDERS && distributed.rank == 0; r++)
        if (!recorders[r]->record(run, loss, validation_due(run), error))
            tried(RECORDS, false, error);
}

static bool update(Run *run, Error *error)
{
    Progress *p = &run->progress;
    Throughput *t = &run->throughput;
    UpdateStats stats;
    double start = clock_seconds();
    size_t in_epoch = batches_updates(&run->batches, (uint64_t)p->epoch);
    if (!run_update(run, &stats, p->update + 1, (size_t)p->update_in_epoch, error))
        return false;
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
    run->loss = stats.loss.nll / (double)stats.loss.tokens;
    record_frames(run, run->loss, error);
    report_progress(run);
    int every = p->update <= 20 ? 1 : p->update <= 500 ? 5 : 50;  // updates from line to line
    if (p->update % every == 0) log_metrics(run, error);
    return true;
}

/* ---- validation ---- */

/* Adds a validation's results to progress and metrics; saves the model if it is the best. A
 * model that cannot be saved is not the best: the next one that is better than the saved one is
 * saved. Returns whether it was saved. */
static bool record(Run *run, Error *error)
{
    Progress *p = &run->progress, before = *p;
    const Validation *v = &run->validation;
    const Quality *quality = &v->quality;
    MetricsLine line = {.kind = METRICS_VALID,
                        .update = p->update,
                        .epoch = p->epoch,
                        .loss = quality->loss,
                        .exact = v->translations ? 100.0 * v->exact / v->translations : NAN,
                        .bleu = quality->bleu,
                        .chrf = quality->chrf,
                        .seconds = p->seconds};
    bool there = true;  // the best model so far
    if (run_hold(run, error) && file_exists(&there, run->best, error) && !there)
        p->best = progress_start().best;
    bool best = progress_better(p, quality, (Criterion)run->settings->training.best);
    tried(VALIDATED, true, error);
    p->validated = p->update;
    p->doubtful = v->doubtful;
    p->stale = best ? 0 : p->stale + 1;
    if (best) p->best = *quality, p->best_update = p->update;
    report_validation(run, best);
    if (!metrics_add(&run->metrics, &line, error)) tried(RECORDS, false, error);
    if (!best || tried(BEST, run_find_head(run, error) && run_save(run, false, error), error))
        return best;
    p->best = before.best, p->best_update = before.best_update;
    p->validated = before.validated;  // if the run ends here, the same command validates again
    return false;
}

/* Rank 0's part of a validation: that of the weights, or with --ema of their moving average. A
 * signal cuts it short; nothing is recorded then. A loss that is not finite ends the run; what else
 * fails is tried again at the next validation. */
static bool validate_candidate(Run *run, Error *error)
{
    const Validation *v = &run->validation;
    if (file_stop) return true;
    real *weights = run->model.block, *ema = run->trainer->optimizer.ema;
    if (ema) transformer_use(&run->model, ema);
    bool good = run_validate(run, error);
    bool best = good && record(run, error);
    if (best && !pictures_attention(run, error)) tried(PICTURES, false, error);
    transformer_use(&run->model, weights);
    return good || v->ids.stopped ||
           (isfinite(v->quality.loss) && !tried(VALIDATED, false, error));
}

/* Writes all records again, if a line or a frame could not be written. */
static void mend_records(Run *run, Error *error)
{
    if (!failure[RECORDS].text[0] || !metrics_write(&run->metrics, error)) return;
    for (int r = 0; r < RECORDERS; r++)
        if (!recorders[r]->save(run, error)) return;
    failure[RECORDS].text[0] = '\0';
}

/* Saves unless nothing has happened since the last time. All ranks must call it. */
static bool save_last(Run *run, Error *error)
{
    if (!optimizer_send(&run->trainer->optimizer, distributed_gather, error)) return false;
    if (distributed.rank > 0) return true;
    const Progress *now = &run->progress, *saved = &run->saved;
    if (run_hold(run, error)) {
        mend_records(run, error);
        if (now->update == saved->update && now->validated == saved->validated) return true;
    }
    if (tried(LAST, run_save(run, true, error), error)) run->saved = *now;
    return true;
}

static bool validate(Run *run, Error *error)
{
    console_stage("validating after update %lld …", run->progress.update);
    bool first = distributed.rank == 0;
    bool good = optimizer_send(&run->trainer->optimizer, distributed_gather, error);
    // a run that is killed has last.safetensors beside the first best.safetensors
    if (good && first && run->saved.update < 0 && run_save(run, true, error))
        run->saved = run->progress;
    good = good && (!first || validate_candidate(run, error));
    good = distributed_agree(good, error) &&
           distributed_share(&run->progress, sizeof run->progress, error) &&
           save_last(run, error);
    if (good && first) tried(PICTURES, pictures_validation(run, error), error);
    return good;
}

/* When a file of the run was written last, in nanoseconds; 0: never. */
static long long written(const Run *run, const char *name)
{
    char path[PATH_MAX];
    struct stat file;
    if (stat(run_file(path, run, name), &file)) return 0;
    return file.st_mtim.tv_sec * 1000000000LL + file.st_mtim.tv_nsec;
}

/* Validates the model of best.safetensors, to draw its attention. */
static bool validate_best(Run *run, Error *error)
{
    real *weights = run->model.block, *best = malloc(run->model.params.size * sizeof *best);
    if (!best) return error_memory(error, "to draw attention.png");
    bool good = run_read_weights(best, &run->model.params, run->best, error);
    transformer_use(&run->model, best);
    good = good && run_find_head(run, error) &&
           ((run_validate(run, error) && pictures_attention(run, error)) ||
            run->validation.ids.stopped);
    transformer_use(&run->model, weights);
    free(best);
    return good;
}

/* The pictures of the last validation, if the run was killed before it drew them. */
static void draw_again(Run *run, Error *error)
{
    bool attention = run->validation.translations &&
                     written(run, "attention.png") < written(run, "best.safetensors");
    if (!run->progress.validated ||
        (!attention && written(run, "loss.png") >= written(run, "last.safetensors")))
        return;
    bool good = (!attention || validate_best(run, error)) && pictures_validation(run, error);
    tried(PICTURES, good, error);
}

/* ---- the training ---- */

/* Checks that no rank has failed. `stop` (=) the signal to stop that any of them has received.
 * Saves if any has received SIGUSR1. */
static bool agree_on_signals(Run *run, Error *error)
{
    int asked = file_stop ? -file_stop : !save_signal;  // below 0: stop; 0: save
    if (asked == 0) save_signal = 0;
    if (!distributed_agree(true, error) || !distributed_least(&asked, error)) return false;
    if (asked < 0) stop = -asked;
    if (asked == 0 && !save_last(run, error)) return false;
    if (asked == 0 && !failure[LAST].text[0])
        console_say("saved after update %lld", run->progress.update);
    return true;
}

static bool train(Run *run, Error *error)
{
    if (run->progress.update == 0) record_frames(run, NAN, error);
    // a model that --init begins with stays the best until another one is better
    if (run->settings->fine_tuning.init && run->progress.update == 0 &&
        isinf(run->progress.best.loss) && !validate(run, error))
        return false;
    if (run->resumed && distributed.rank == 0) draw_again(run, error);
    for (;;) {
        if (validation_due(run) && !validate(run, error)) return false;
        if (!agree_on_signals(run, error)) return false;
        if (stop || finished(run)) {
            console_stage("saving and drawing …");
            ending = true;
            if (!save_last(run, error)) return false;
            for (int r = 0; r < RECORDERS && distributed.rank == 0; r++)
                tried(ENDS + r, recorders[r]->end(run, error), error);
            return true;
        }
        if (!update(run, error)) return false;
    }
}

/* Trains, and says how it ended. */
static bool train_into_folder(Run *run, Error *error)
{
    const char *limit = run->resumed ? finished(run) : NULL;
    char changed[CHANGED_TEXT];
    settings_changed(changed, run->settings);
    if (limit) {
        console_say(
            "nothing is left to do: the run in %s has reached its %s; a larger %s goes on",
            run->settings->run.output, limit,
            strcmp(limit, "--time") ? limit : "--max-updates");
        if (*changed) console_say("these options have changed, without effect:%s", changed);
        if (run->settings->seconds > 0)
            console_say("--time is fixed when a run begins, and gave this one %d updates",
                        run->settings->training.max_updates);
    } else if (run->resumed) {
        console_say("going on    from update %lld of the run in %s", run->progress.update,
                    run->settings->run.output);
        if (*changed)
            console_say("changed     from here on:%s; learning rate %.3g, before %.3g", changed,
                        schedule_rate(&run->settings->training, run->progress.update + 1),
                        schedule_rate(&run->settings->before, run->progress.update));
        if (run->reordered)
            console_say("new epoch   the order of the sentences has changed: %s",
                        run->reordered);
    }
    if (*run->moved)
        console_say(
            "kernels     %s, no longer %s: the results will differ in their last digits",
            run->progress.kernels, run->moved);
    if (run->unverified)
        console_warn("the checkpoint does not record its training text, as it is of an earlier "
                     "version: training must go on with the same text");
    run->complete = limit && !validation_due(run);
    bool good = distributed.rank > 0 || run_begin(run, error);
    catch_signals();  // until here there is nothing to save
    good = distributed_agree(good, error) && train(run, error);
    if (good && !failure[LAST].text[0]) report_end(run, stop ? NULL : finished(run));
    return good && report_failures(error);
}

static bool open_recorders(Run *run, Error *error)
{
    bool good = true;
    for (int r = 0; distributed.rank == 0 && good && r < RECORDERS; r++)
        good = recorders[r]->open(run, error);
    return distributed_agree(good, error);
}

static bool whole_story(Run *run, Settings *settings, Error *error)
{
    bool good = run_read(run, settings, error) && run_prepare(run, error) &&
                run_fit_time(run, error) && run_prepare_validation(run, error) &&
                open_recorders(run, error);
    if (good) report_begin(run);
    good = good && (settings->run.dry_run ? report_estimate(run, error)
                                          : train_into_folder(run, error));
    for (int r = 0; r < RECORDERS; r++)
        if (recorders[r]->close) recorders[r]->close();
    return good;
}

static void print_help(bool brief)
{
    static Settings defaults;
    settings_documented(&defaults);
    command_print_options(defaults.groups, SETTINGS_GROUPS, brief,
                          "[OPTION]...\nLearns to translate from a parallel corpus; without "
                          "options, from the toy corpus.",
                          "  %1$strain\n"
                          "  %1$strain --train-source train.en --train-target train.fr "
                          "--output checkpoints/mine\n");
    if (brief) return;
    puts("\nPresets\n  The defaults above are those of tiny. For a corpus of your own, auto "
         "chooses vocabulary,\n"
         "  network and training from the text, the processor and --time.\n");
    for (int p = 0; p < PRESETS; p++)
        printf("  %-6s %s\n", preset_names[p], preset_purposes[p]);
    putchar('\n');
    presets_print(stdout);
}

/* Returns the exit status; error is set if it is 1 or 2. */
static int run_command(Run *run, Settings *settings, int argc, char **argv, Error *error)
{
    if (!distributed_start(error) ||
        !distributed_agree(settings_read(settings, argc, argv, error), error))
        return 2;
    const RunConfig *options = &settings->run;
    bool help = options->help || options->short_help, print_only = help || options->version;
    if (!distributed_share(&print_only, sizeof print_only, error)) return 1;
    if (print_only && distributed.rank > 0) return 0;
    if (help) print_help(!options->help);
    else if (print_only)
        puts(distributed_possible ? "qkv " QKV_VERSION ", with MPI" : "qkv " QKV_VERSION);
    if (print_only) return !stream_flush(stdout, help ? "the help" : "the version", error);
    signal(SIGPIPE, SIG_IGN);  // training does not need a reader of what it prints
    console_start(options->quiet || distributed.rank > 0);
    if (!distributed_agree(whole_story(run, settings, error), error)) return 1;
    return stop ? 128 + stop : 0;
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Run run;
    Error error = {""};
    command_start();
    signal(SIGUSR1, on_signal);  // a run that still reads its corpus saves later
    // Large blocks go back to the system as soon as they are freed. Otherwise the memory of a
    // validation stays with the process: 144 MB instead of 76 for the toy corpus.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    int status = run_command(&run, &settings, argc, argv, &error);
    bool failed = status == 1 || status == 2;
    options_name_in_error(settings.groups, SETTINGS_GROUPS, &error);
    if (failed && (distributed.rank == 0 || distributed.broken)) console_error("", &error, "");
    run_free(&run);
    settings_free(&settings);
    distributed_stop();
    return status;
}
