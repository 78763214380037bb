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

#include "base/clock.h"
#include "program/picture.h"
#include "program/run.h"
#include "program/validation.h"
#include "training/distributed.h"

static volatile sig_atomic_t stop_signal;  // that this process got
static int stop;                           // that all ranks obey: the largest of theirs

static bool quiet, terminal;

/* The first signal asks to stop after this update; a second one ends the program at once. When a
 * rank dies, mpirun sends SIGTERM to the others and kills them a second later: their update will
 * not end, and this is all that can be said. */
static void on_signal(int number)
{
    static const char text[] = "train: asked to stop, after this update; if a rank is gone, the "
                               "same command goes on from the last checkpoint\n";
    stop_signal = number;
    signal(number, SIG_DFL);
    if (distributed_ranks() > 1 && !quiet && write(STDERR_FILENO, text, sizeof text - 1)) {}
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

/* "12s", "3m40s", "2h05m" */
static const char *duration(char text[32], double seconds)
{
    long s = lround(fmin(fmax(seconds, 0), 1e9));
    if (s < 60) snprintf(text, 32, "%lds", s);
    else if (s < 3600) snprintf(text, 32, "%ldm%02lds", s / 60, s % 60);
    else snprintf(text, 32, "%ldh%02ldm", s / 3600, s / 60 % 60);
    return text;
}

/* ---- the report ---- */

static void say_skipped(const char *why, const CorpusSkipped *skipped)
{
    if (!skipped->count) return;
    char lines[128] = "";
    for (size_t i = 0; i < skipped->count && i < CORPUS_FIRST; i++) {
        size_t used = strlen(lines);
        snprintf(lines + used, sizeof lines - used, "%s%" PRIu64, i ? ", " : "",
                 (uint64_t)skipped->first[i].line);
    }
    const char *plural = skipped->count > 1 ? "s" : "";
    say("  skipped     %zu pair%s: %s (line%s %s%s)", skipped->count, plural, why, plural, lines,
        skipped->count > CORPUS_FIRST ? ", …" : "");
}

static void say_corpus(const char *name, const CorpusReport *r)
{
    size_t tokens = r->tokens[SOURCE] + r->tokens[TARGET];
    size_t unknown = r->unknown[SOURCE] + r->unknown[TARGET];
    say("%-13s %zu pairs, %zu source + %zu target tokens, %.2f %% unknown", name, r->kept,
        r->tokens[SOURCE], r->tokens[TARGET],
        tokens ? 100.0 * (double)unknown / (double)tokens : 0);
    say_skipped("the source line is empty", &r->empty_source);
    say_skipped("the target line is empty", &r->empty_target);
    say_skipped("both lines are empty", &r->empty_both);
    say_skipped("longer than --max-length", &r->too_long);
}

static void say_vocabulary(const Run *run)
{
    const Vocabulary *v = &run->vocabulary;
    const char *type[SIDES];
    int size[SIDES];
    for (int side = 0; side < SIDES; side++) {
        type[side] = tokenizer_type_name(tokenizer_type(v->tokenizer[side]));
        size[side] = tokenizer_vocab_size(v->tokenizer[side]);
    }
    if (vocabulary_is_joint(v)) say("%-13s %d tokens (%s)", "vocabulary", size[TARGET], type[TARGET]);
    else say("%-13s %d source tokens (%s), %d target tokens (%s)", "vocabulary", size[SOURCE],
             type[SOURCE], size[TARGET], type[TARGET]);
    const DataConfig *data = &run->settings->data;
    if (run->subwords[SOURCE])
        say("%-13s every epoch cuts the training text anew (--subword-%s %g)", "subwords",
            data->subword_dropout > 0 ? "dropout" : "alpha",
            data->subword_dropout > 0 ? data->subword_dropout : data->subword_alpha);
}

static void say_run(const Run *run)
{
    const ModelConfig *m = &run->model.config;
    double block = (double)(run->model.params.size * sizeof(real));
    double memory = (double)trainer_memory(run->trainer) +
                    4.0 * (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]);
    say_corpus("training", &run->report);
    say_corpus("validation", &run->valid_report);
    say_vocabulary(run);
    say("%-13s %.2f million parameters: %d + %d layers, width %d, %d heads, feed-forward %d",
        "model", (double)params_trained(&run->model.params) / 1e6, m->encoder_layers,
        m->decoder_layers, m->d_model, m->heads, m->ffn);
    say("%-13s %.0f MB and the activations; a checkpoint takes %.1f MB of disk", "memory",
        memory / 1e6, 3 * block / 1e6);
    double tokens_each = (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]) /
                         (double)params_trained(&run->model.params);
    if (tokens_each < 0.02)
        say("%-13s the corpus has %.3f tokens a parameter: a smaller model (--preset tiny, or "
            "--d-model, --vocab-size) will translate better", "warning", tokens_each);
    if (trainer_accumulators(run->trainer) < workers_count(run->workers))
        say("%-13s %d of %d threads can work at a time: --accumulators %d, at %.0f MB for each "
            "more, lets all", "warning", trainer_accumulators(run->trainer),
            workers_count(run->workers), workers_count(run->workers), block / 1e6);
    if (tokens_each > 200)
        say("%-13s the corpus has %.0f tokens a parameter: a larger model (--preset small or "
            "base) can learn more from it", "warning", tokens_each);
    char ranks[32] = "";
    if (distributed_ranks() > 1) snprintf(ranks, sizeof ranks, "%d ranks of ", distributed_ranks());
    say("%-13s %s%d threads, into %s", "run", ranks, workers_count(run->workers),
        run->settings->run.output);
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
    char left[48] = "", time[32], line[256];
    long long most = updates_in_all(run);
    if (most > run->progress.update && w->updates)
        snprintf(left, sizeof left, "  %s left",
                 duration(time, w->seconds / (double)w->updates *
                                    (double)(most - run->progress.update)));
    int length = snprintf(line, sizeof line,
                          "update %lld%s%.0lld  epoch %lld  loss %.3f  lr %.2g  %.0f tokens/s  "
                          "%.0f GFLOP/s%s",
                          run->progress.update, most ? "/" : "", most, run->progress.epoch + 1,
                          run->progress.nll / (double)run->progress.tokens, last->learning_rate,
                          (double)w->tokens / w->seconds, w->flops / w->seconds / 1e9, left);
    if (terminal) fprintf(stderr, "\r\033[K%.*s", length > 100 ? 100 : length, line), fflush(stderr);
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
    if (!quiet) show_progress(run, w, last);
    *w = (Window){.shown = clock_seconds()};
    p->nll = p->objective = p->norm = 0;
    p->tokens = p->updates = 0;
    return distributed_rank() > 0 || metrics_train(&run->metrics, &line, error);
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
                        (size_t)p->update_in_epoch, error) ||
        !trainer_update(run->trainer, p->update + 1, &source, &target, &stats, error))
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
    w->flops += stats.flops;
    w->seconds += seconds;
    w->tokens += stats.tokens;
    w->updates++;
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

/* The attention of the first validation sentence. */
static bool draw_attention(const Run *run, const Validation *v, Error *error)
{
    if (!v->translated) return true;
    char path[4200];
    const Corpus *c = v->corpus;
    const Hypothesis *best = v->ids.sentence[0].hypothesis;
    snprintf(path, sizeof path, "%s/attention.png", run->settings->run.output);
    return picture_attention(path, &run->model, &run->vocabulary, run->settings->run.output,
                             c->id[SOURCE], (int)c->start[SOURCE][1], best->id, best->length,
                             error);
}

/* Rank 0's part of a validation; cut short by a signal, it leaves no trace. */
static bool measure(Run *run, Validation *v, Error *error)
{
    Progress *p = &run->progress;
    if (stop_signal) return true;
    if (!validation_run(v, run->trainer, &run->model, run->workers, &stop_signal, error))
        return stop_signal != 0;
    double loss = v->loss.nll / (double)v->loss.tokens;
    bool better = loss < p->best_loss;
    ValidLine line = {p->update, p->epoch, loss, NAN, NAN, NAN, p->seconds};
    if (v->translated) {
        line.exact = 100.0 * v->exact / v->translated;
        line.bleu = v->bleu;
        line.chrf = v->chrf;
    }
    p->validated = p->update;
    p->stale = better ? 0 : p->stale + 1;
    if (better) p->best_loss = loss, p->best_update = p->update;
    say("validation after update %lld: loss %.4f, perplexity %.2f%s", p->update, loss, exp(loss),
        better ? ", the best so far" : "");
    if (v->translated)
        say("  %d of %d translations exact (greedy), BLEU %.2f, chrF %.2f", v->exact,
            v->translated, v->bleu, v->chrf);
    if (!quiet) show_samples(run, v);
    return metrics_valid(&run->metrics, &line, error) &&
           (!better || (run_save_best(run, error) && draw_attention(run, v, error)));
}

static bool validate(Run *run, Validation *v, Error *error)
{
    bool good = distributed_rank() > 0 || measure(run, v, error);
    return distributed_agree(good, error) &&
           distributed_share(&run->progress, sizeof run->progress, error) &&
           run_save_last(run, error) && run_draw_loss(run, error);
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
    int every = run->settings->training.valid_every;
    bool regular = every ? p->update % every == 0 : p->update_in_epoch == 0;
    return p->update > p->validated && (regular || finished(run));
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
    signal(SIGINT, on_signal);  // not earlier: until here there is nothing to save
    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);  // which mpirun and Slurm hand on without ending the job
    for (;;) {
        if (validation_due(run) && !validate(run, validation, error)) return false;
        if (!meet(error)) return false;
        if (stop || finished(run)) return run_save_last(run, error);
        if (!update(run, &window, error)) return false;
    }
}

static void say_end(const Run *run)
{
    const Progress *p = &run->progress;
    char time[32];
    if (stop) {
        say("stopped after update %lld and saved in %s: the same command goes on from there",
            p->update, run->last);
        return;
    }
    say("done: %lld updates in %s; the best validation loss %.4f was after update %lld",
        p->update, duration(time, p->seconds), p->best_loss, p->best_update);
    say("translate with: ./translate --model %s", run->settings->run.output);
}

static bool whole_story(Settings *settings, Run *run, Error *error)
{
    Validation validation = {0};
    say("reading %s …", settings->data.train_source.count ? settings->data.train_source.item[0]
                                                          : settings->data.train_tsv.item[0]);
    if (!run_read(run, settings, error) || !run_prepare(run, error)) return false;
    say_run(run);
    if (settings->run.dry_run) return true;
    if (run->resumed)
        say("going on    from update %lld of the run in %s", run->progress.update,
            settings->run.output);
    bool good = run_begin(run, error) &&
                validation_create(&validation, &run->valid, &run->valid_text,
                                  run->vocabulary.tokenizer[TARGET],
                                  settings->training.valid_translations,
                                  settings->training.batch_tokens, error);
    good = distributed_agree(good, error) && train(run, &validation, error);
    if (good) say_end(run);
    validation_free(&validation);
    return good;
}

int main(int argc, char **argv)
{
    static Settings settings;
    static Run run;
    Error error = {""};
    bool good = distributed_start(&error) &&
                distributed_agree(settings_read(&settings, argc, argv, &error), &error);
    bool speaks = distributed_rank() == 0, asked = settings.run.help || settings.run.version;
    int status = good ? 0 : 2;
    if (good && (good = distributed_share(&asked, sizeof asked, &error)) && asked) {
        char *help = settings.run.help ? settings_help() : NULL;
        if (speaks) puts(help ? help : distributed_possible() ? "qkv 1.0, with MPI" : "qkv 1.0");
        free(help);
    } else if (good) {
        quiet = settings.run.quiet || !speaks;
        terminal = isatty(STDERR_FILENO);
        good = distributed_agree(whole_story(&settings, &run, &error), &error);
        status = !good ? 1 : stop ? 128 + stop : 0;
    }
    if (!good && (speaks || distributed_broken()))
        fprintf(stderr, "%strain: %s\n", terminal && !quiet ? "\r\033[K" : "", error.text);
    run_free(&run);
    settings_free(&settings);
    distributed_stop();
    return status;
}
