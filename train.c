/* train.c -- ./train: from a parallel corpus to a translator.
 *
 *   read the options, the corpus, and the run that is in the output folder, if there is one
 *   report on them
 *   until it is enough, or a signal says stop:
 *       one update;  now and then a line of metrics;  now and then validate, save, draw
 *
 * With several ranks (training/distributed.h) all of them go through the same story in step; rank
 * 0 alone speaks, validates, saves and draws, and all decisions are rank 0's. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "base/profile.h"
#include "commands/command.h"
#include "commands/progressbar.h"
#include "commands/train/candidate.h"
#include "commands/train/report.h"
#include "commands/train/run.h"
#include "commands/train/validation.h"
#include "commands/train/watch.h"
#include "commands/train/weights.h"
#include "explain/picture.h"
#include "training/distributed.h"

static volatile sig_atomic_t stop_signal;  // that this process got
static int stop;                           // that all ranks obey: the largest of theirs

static bool quiet, terminal;
static char stopping[160];  // what is said of a signal where there are several ranks
static Watch watch;         // of rank 0, if a sentence is watched

/* The first signal asks to stop after this update; a second one ends the program at once. When a
 * rank dies, mpirun sends SIGTERM to the others and kills them a second later: their update will
 * not end, and this is all that can be said. */
static void on_signal(int number)
{
    stop_signal = number;
    signal(number, SIG_DFL);
    if (distributed_ranks() > 1 && !quiet && write(STDERR_FILENO, stopping, strlen(stopping))) {
    }
}

/* A line of news, in place of the progress line if there is one. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    if (quiet) return;
    va_list arguments;
    va_start(arguments, format);
    if (terminal) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- training ---- */

/* How fast it went since the last line of metrics; what was learned is in Progress. */
typedef struct Window {
    double flops, seconds;
    long long tokens, updates;
    double shown;  // when the progress line was last drawn
} Window;

/* How many updates the limits allow, as far as that is known now; 0: no limit. */
static long long updates_in_all(Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    size_t in_epoch = 0;
    long long most = c->max_updates;
    if (c->max_epochs &&
        batches_updates(&run->batches, &in_epoch, (uint64_t)run->progress.epoch, NULL)) {
        long long epochs = c->max_epochs - run->progress.epoch;
        long long all = run->progress.update - run->progress.update_in_epoch +
                        (long long)in_epoch * (epochs > 0 ? epochs : 0);
        if (!most || all < most) most = all;
    }
    return most;
}

static void show_progress(Run *run, const Window *w, const UpdateStats *last)
{
    char left[48] = "", time[DURATION_TEXT], line[256];
    long long most = updates_in_all(run);
    if (most > run->progress.update && w->updates)
        snprintf(left, sizeof left, "  %s left",
                 duration_text(time, w->seconds / (double)w->updates *
                                         (double)(most - run->progress.update)));
    int length = snprintf(line, sizeof line,
                          "update %lld%s%.0lld  epoch %lld  loss %.3f  lr %.2g  %.0f tokens/s  "
                          "%.0f GFLOP/s%s",
                          run->progress.update, most ? "/" : "", most, run->progress.epoch + 1,
                          run->progress.nll / (double)run->progress.tokens, last->learning_rate,
                          (double)w->tokens / w->seconds, w->flops / w->seconds / 1e9, left);
    if (terminal)
        fprintf(stderr, "\r\033[K%.*s", length > 100 ? 100 : length, line), fflush(stderr);
    else say("%s", line);
}

static bool log_window(Run *run, Window *w, const UpdateStats *last, Error *error)
{
    Progress *p = &run->progress;
    double tokens = (double)p->tokens;
    TrainLine line = {.update = p->update,
                      .epoch = p->epoch,
                      .loss = p->nll / tokens,
                      .objective = p->objective / tokens,
                      .learning_rate = last->learning_rate,
                      .gradient_norm = p->norm / (double)p->updates,
                      .tokens_per_second = (double)w->tokens / w->seconds,
                      .gflops = w->flops / w->seconds / 1e9,
                      .seconds = p->seconds};
    const Tensor *tensor[3];
    run_watch_tensors(tensor, run);
    if (!trainer_gradient_norm(run->trainer, &line.norm_q, tensor[0], error) ||
        !trainer_gradient_norm(run->trainer, &line.norm_k, tensor[1], error) ||
        !trainer_gradient_norm(run->trainer, &line.norm_v, tensor[2], error))
        return false;
    if (!quiet) show_progress(run, w, last);
    *w = (Window){.shown = clock_seconds()};
    p->nll = p->objective = p->norm = 0;
    p->tokens = p->updates = 0;
    return distributed_rank() > 0 || metrics_train(&run->metrics, &line, error);
}

/* Adds to the sentence about numbers that are not finite which pairs they came from. */
static bool name_pairs(const Run *run, const UpdateStats *stats, Error *error)
{
    const Progress *p = &run->progress;
    const Batches *b = &run->batches;
    const DataConfig *data = &run->settings->data;
    const uint32_t *update = b->order + b->first[p->update_in_epoch];
    char what[sizeof error->text], pairs[512] = "";
    if (!stats->not_finite) return false;
    for (int n = 0; n < stats->suspects; n++) {
        CorpusLine line = run->corpus.line[update[stats->suspect[n]]];
        size_t used = strlen(pairs);
        snprintf(pairs + used, sizeof pairs - used, "%s%s:%" PRIu64, n ? ", " : "",
                 run_file(&data->train_source, &data->train_tsv, line.file),
                 (uint64_t)line.line);
    }
    snprintf(what, sizeof what, "%s", error->text);
    return error_set(error, "%s; some of its pairs: %s", what, pairs);
}

static bool finished(Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    const Progress *p = &run->progress;
    return (c->max_updates && p->update >= c->max_updates) ||
           (c->max_epochs && p->epoch >= c->max_epochs) ||
           (c->patience && p->stale >= c->patience);
}

static bool validation_due(Run *run)
{
    const Progress *p = &run->progress;
    int updates = run->settings->training.valid_every;
    int epochs = run->settings->training.valid_epochs;
    if (!updates && !epochs) epochs = 1;
    bool due = (updates && p->update % updates == 0) ||
               (epochs && p->update_in_epoch == 0 && p->epoch % epochs == 0);
    return p->update > p->validated && (due || finished(run));
}

/* One update and what follows from it: progress, now and then a line of metrics. */
static bool update(Run *run, Window *w, Error *error)
{
    Progress *p = &run->progress;
    const TrainingConfig *c = &run->settings->training;
    Packed source, target;
    UpdateStats stats;
    size_t in_epoch;
    double start = clock_seconds();
    if (!batches_updates(&run->batches, &in_epoch, (uint64_t)p->epoch, error) ||
        !batches_update(&run->batches, &source, &target, (uint64_t)p->epoch,
                        (size_t)p->update_in_epoch, error))
        return false;
    if (!trainer_update(run->trainer, p->update + 1, &source, &target, &stats, error))
        return name_pairs(run, &stats, error);
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
    w->flops += stats.flops;
    w->seconds += seconds;
    w->tokens += stats.tokens;
    w->updates++;
    double loss = stats.loss.nll / (double)stats.loss.tokens;
    if ((watch_due(p->update) || validation_due(run)) && !watch_look(&watch, run, loss, error))
        return false;
    if (p->update % c->log_every == 0) return log_window(run, w, &stats, error);
    if (terminal && !quiet && clock_seconds() - w->shown > 0.5)
        show_progress(run, w, &stats), w->shown = clock_seconds();
    return true;
}

static void show_samples(const Run *run, const Validation *v)
{
    enum { SAMPLES = 3 };
    for (int i = 0; i < SAMPLES && i < v->translated; i++) {
        int s = (int)((long long)i * v->translated / SAMPLES);
        size_t n, m;
        const char *source = corpus_sentence(&run->valid_text, SOURCE, (size_t)s, &n);
        const char *target = corpus_sentence(&run->valid_text, TARGET, (size_t)s, &m);
        say("    %.*s\n      → %s%s", (int)n, source, v->hypothesis[s],
            strlen(v->hypothesis[s]) == m && !memcmp(v->hypothesis[s], target, m) ? "  ✓" : "");
    }
}

/* The attention of the first validation sentence that is not too long to be looked at (else of
 * the shortest); of what an untrained model says without end, the beginning. */
static bool draw_attention(const Run *run, const Validation *v, Error *error)
{
    if (!v->translated) return true;
    char path[4200];
    const size_t *start = v->corpus->start[SOURCE];
    int s = 0, length = (int)start[1];
    for (int i = 1; i < v->translated && length > PICTURE_WORDS; i++) {
        int other = (int)(start[i + 1] - start[i]);
        if (other < length) s = i, length = other;
    }
    const Hypothesis *best = v->ids.sentence[s].hypothesis;
    int words = best->length < PICTURE_WORDS ? best->length : PICTURE_WORDS;
    int word[PICTURE_WORDS];
    memcpy(word, best->id, (size_t)words * sizeof *word);
    word[words - 1] = ID_END;
    snprintf(path, sizeof path, "%s/attention.png", run->settings->run.output);
    Snapshot *snapshot = snapshot_open(&run->model, v->corpus->id[SOURCE] + start[s], length,
                                       word, words, error);
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &run->vocabulary,
                                .model_name = run->settings->run.output,
                                .choice = &choice_default,
                                .config = picture_default};
    bool good = snapshot && picture_save(path, &input, error);
    snapshot_close(snapshot);
    return good;
}

/* What a validation found, into progress and metrics; if it is the best, its files. */
static bool take_in(Run *run, const Validation *v, Error *error)
{
    Progress *p = &run->progress;
    Quality quality = validation_quality(v);
    double exact = v->translated ? 100.0 * v->exact / v->translated : NAN;
    ValidLine line = {p->update,    p->epoch,     quality.loss, exact,
                      quality.bleu, quality.chrf, p->seconds};
    bool better = progress_better(p, &quality, (Criterion)run->settings->training.best);
    p->validated = p->update;
    p->stale = better ? 0 : p->stale + 1;
    if (better) p->best = quality, p->best_update = p->update;
    candidate_keep(run);
    say("validation after update %lld: loss %.4f, perplexity %.2f%s", p->update, quality.loss,
        exp(quality.loss), better ? ", the best so far" : "");
    if (v->translated)
        say("  %d of %d translations exact (greedy), BLEU %.2f, chrF %.2f", v->exact,
            v->translated, v->bleu, v->chrf);
    if (!quiet) show_samples(run, v);
    if (!metrics_valid(&run->metrics, &line, error)) return false;
    return !better || (run_save_model(run, run->best, error) && draw_attention(run, v, error));
}

/* Rank 0's part of a validation; cut short by a signal, it leaves no trace. */
static bool measure(Run *run, Validation *v, Error *error)
{
    Candidate candidate;
    if (stop_signal) return true;
    if (!candidate_enter(&candidate, run, error)) return false;
    bool good = validation_run(v, run->trainer, &run->model, run->workers, &stop_signal, error);
    char advice[ADVICE_TEXT];
    if (good) good = take_in(run, v, error);
    else if (!isfinite(v->loss.nll))
        error_set(error, "update %lld: the loss of the validation is not finite; %s",
                  run->progress.update, training_advice(advice, &run->settings->training));
    else good = stop_signal != 0;
    candidate_leave(&candidate, run);
    return good;
}

static bool validate(Run *run, Validation *v, Error *error)
{
    bool good = trainer_gather(run->trainer, error) &&
                (distributed_rank() > 0 || measure(run, v, error));
    return distributed_agree(good, error) &&
           distributed_share(&run->progress, sizeof run->progress, error) &&
           run_save_last(run, error) && candidate_remove_dropped(run, error) &&
           run_draw_loss(run, error);
}

/* Whether all ranks are well; then they know of a signal that any of them got. */
static bool meet(Error *error)
{
    stop = stop_signal;
    return distributed_agree(true, error) && distributed_greatest(&stop, error);
}

static bool train(Run *run, Validation *validation, Error *error)
{
    Window window = {.shown = clock_seconds()};
    snprintf(stopping, sizeof stopping,
             "%s: asked to stop, after this update; if a rank is gone, "
             "the same command goes on from the last checkpoint\n",
             command_name());
    signal(SIGINT, on_signal);  // not earlier: until here there is nothing to save
    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);  // which mpirun and Slurm hand on without ending the job
    if (run->progress.update == 0 && !watch_look(&watch, run, NAN, error)) return false;
    for (;;) {
        if (validation_due(run) && !validate(run, validation, error)) return false;
        if (!meet(error)) return false;
        if (stop || finished(run))
            return run_save_last(run, error) && weights_draw(run, error) &&
                   watch_draw(&watch, run, error);
        if (!update(run, &window, error)) return false;
    }
}

static void say_end(const Run *run)
{
    const Progress *p = &run->progress;
    char time[DURATION_TEXT];
    if (stop) {
        say("stopped after update %lld and saved in %s: the same command goes on from there",
            p->update, run->last);
        return;
    }
    char scores[64] = "";
    if (!isnan(p->best.bleu))
        snprintf(scores, sizeof scores, ", BLEU %.2f, chrF %.2f", p->best.bleu, p->best.chrf);
    say("done: %lld updates in %s; the best validation was after update %lld: loss %.4f%s",
        p->update, duration_text(time, p->seconds), p->best_update, p->best.loss, scores);
    say("translate with: %s --model %s", command_translate(), run->settings->run.output);
}

static bool whole_story(Settings *settings, Run *run, Error *error)
{
    Validation validation = {0};
    Memory memory;
    say("reading %s …", settings->data.train_source.count ? settings->data.train_source.item[0]
                                                          : settings->data.train_tsv.item[0]);
    if (!run_read(run, settings, error) || !run_prepare(run, error)) return false;
    bool good = validation_create(&validation, &run->valid, &run->valid_text,
                                  run->vocabulary.tokenizer[TARGET],
                                  settings->training.valid_translations,
                                  (Tokenization)settings->data.bleu_tokenize,
                                  settings->training.batch_tokens, error) &&
                memory_estimate(&memory, run, &validation, error);
    if (good && !quiet) report_print(stderr, run, &memory);
    if (good && !settings->run.dry_run) {
        if (run->resumed)
            say("going on    from update %lld of the run in %s", run->progress.update,
                settings->run.output);
        good = run_begin(run, error) && watch_open(&watch, run, error) &&
               candidate_remove_dropped(run, error);
        good = distributed_agree(good, error) && train(run, &validation, error);
        if (good) say_end(run);
    }
    validation_free(&validation);
    watch_close(&watch);
    return good;
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Run run;
    Error error = {""};
    memory_setup();
    bool good = distributed_start(&error) &&
                distributed_agree(settings_read(&settings, argc, argv, &error), &error);
    bool speaks = distributed_rank() == 0, asked = settings.run.help || settings.run.version;
    int status = good ? 0 : 2;
    if (good && (good = distributed_share(&asked, sizeof asked, &error)) && asked) {
        char *help = settings.run.help ? settings_help(command_name()) : NULL;
        const char *version = "qkv " QKV_VERSION, *with_mpi = "qkv " QKV_VERSION ", with MPI";
        if (speaks) puts(help ? help : distributed_possible() ? with_mpi : version);
        free(help);
        status = !(good = stream_flush(stdout, "what was asked for", &error));
    } else if (good) {
        quiet = settings.run.quiet || !speaks;
        terminal = isatty(STDERR_FILENO);
        good = distributed_agree(whole_story(&settings, &run, &error), &error);
        status = !good ? 1 : stop ? 128 + stop : 0;
    }
    if (!good && (speaks || distributed_broken()))
        fprintf(stderr, "%s%s: %s\n", terminal && !quiet ? "\r\033[K" : "", command_name(),
                error.text);
    run_free(&run);
    settings_free(&settings);
    distributed_stop();
    return status;
}
