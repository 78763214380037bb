/* console.c -- what ./train prints on standard error; see console.h. */
#include "commands/train/console.h"

#include "base/clock.h"
#include "base/columns.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "commands/progressbar.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 3 };
static const double PATIENCE = 5;  // seconds of a stage before it is named in a pipe

static ProgressBar bar;       // bar.out: NULL if quiet
static double first_end;      // of the first update of this process, in seconds
static long long first = -1;  // its number

/* ---- stages ---- */

static struct {
    pthread_mutex_t lock;
    char text[160];  // "": none
    bool named;      // it was drawn or printed
    double begin;
} stage = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void draw_stage(void)
{
    char time[DURATION_TEXT];
    double now = clock_seconds(), seconds = now - stage.begin;
    bool news = !stage.named && seconds >= PATIENCE;
    if (!stage.text[0] || !progressbar_begin(&bar, now, news)) return;
    stage.named = true;
    progressbar_add(&bar, "%s %s", stage.text, seconds < 1 ? "" : duration_text(time, seconds));
    progressbar_end(&bar);
}

/* A thread that draws the stage every second. */
static void *keep_drawing(void *started)
{
    for (pthread_barrier_wait(started);; sleep(1)) {
        pthread_mutex_lock(&stage.lock);
        draw_stage();
        pthread_mutex_unlock(&stage.lock);
    }
    return NULL;
}

static void end_stage(void)
{
    pthread_mutex_lock(&stage.lock);
    stage.text[0] = 0;
    pthread_mutex_unlock(&stage.lock);
}

/* Waits until the thread runs: a process that is forked while the thread starts would find
 * AddressSanitizer's allocator locked for ever. */
void console_start(bool quiet)
{
    static pthread_barrier_t started;
    pthread_t thread;
    bar = progressbar_start(quiet ? NULL : stderr, clock_seconds());
    pthread_barrier_init(&started, NULL, 2);
    if (quiet || pthread_create(&thread, NULL, keep_drawing, &started) != 0) return;
    pthread_detach(thread);
    pthread_barrier_wait(&started);
}

void console_stage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&stage.lock);
    vsnprintf(stage.text, sizeof stage.text, format, arguments);
    stage.begin = clock_seconds();
    stage.named = false;
    if (bar.terminal) bar.shown = 0;  // draw it at once
    draw_stage();
    pthread_mutex_unlock(&stage.lock);
    va_end(arguments);
}

void console_say(const char *format, ...)
{
    end_stage();
    if (!bar.out) return;
    va_list arguments;
    va_start(arguments, format);
    progressbar_clear(&bar);
    utf8_vprint(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- progress ---- */

void console_progress(Run *run, const Throughput *t, const UpdateStats *last, bool news)
{
    const Progress *p = &run->progress;
    char done[NUMBER_TEXT], all[NUMBER_TEXT], rate[NUMBER_TEXT];
    double now = clock_seconds(), limit = (double)run_last_update(run);
    end_stage();
    if (first < 0) first = p->update, first_end = now;
    if (!progressbar_begin(&bar, now, news)) return;
    double each = (now - first_end) / (double)(p->update - first);  // NaN in the first update
    if (limit > 0)
        progressbar_share(&bar, (double)p->update / limit, each * (limit - (double)p->update),
                          run->settings->training.patience > 0);
    progressbar_add(&bar, "update %s%s%s", number_text(done, (double)p->update),
                    limit > 0 ? "/" : "", limit > 0 ? number_text(all, limit) : "");
    progressbar_add(&bar, "loss %.3f", p->nll / (double)p->tokens);
    progressbar_add(&bar, "epoch %lld", p->epoch + 1);
    progressbar_add(&bar, "%s tokens/s", number_text(rate, (double)t->tokens / t->seconds));
    progressbar_add(&bar, "lr %.2g", last->learning_rate);
    progressbar_add(&bar, "%.0f GFLOP/s", t->flops / t->seconds / 1e9);
    progressbar_end(&bar);
}

/* A sentence after `left`, cut to the width of the terminal or to 100 columns. */
static void say_sentence(const char *left, const char *text, size_t length)
{
    char *line = NULL;
    if (!bar.out || asprintf(&line, "%s%.*s", left, (int)length, text) < 0) return;
    int width = columns_width(line), most = columns_of(stderr, 100);
    columns_put(stderr, line, width < most ? width : most, false);
    fputc('\n', stderr);
    free(line);
}

void console_validation(const Run *run, const Validation *v, bool best)
{
    double loss = v->quality.loss;
    console_say(
        "validation after update %lld: loss %.4f, perplexity %s%s", run->progress.update, loss,
        perplexity_text((char[PERPLEXITY_TEXT]){""}, loss, 2), best ? ", the best so far" : "");
    if (v->translated)
        console_say("  %d of %d translations exact (greedy), BLEU %.2f, chrF %.2f", v->exact,
                    v->translated, v->quality.bleu, v->quality.chrf);
    for (int i = 0; i < SAMPLES && i < v->translated; i++) {
        int s = (int)((long long)i * v->translated / SAMPLES);
        size_t n, m;
        const char *source = corpus_sentence(&run->valid_text, SOURCE, (size_t)s, &n);
        const char *target = corpus_sentence(&run->valid_text, TARGET, (size_t)s, &m);
        bool exact = strlen(v->hypothesis[s]) == m && !memcmp(v->hypothesis[s], target, m);
        say_sentence("    ", source, n);
        say_sentence(exact ? "    ✓ → " : "      → ", v->hypothesis[s],
                     strlen(v->hypothesis[s]));
    }
}

/* The command for a validation sentence, the first that is short and needs no quoting. */
static void say_command(const Run *run)
{
    const char *folder = run->settings->run.output, *text = "";
    const char *quote = strpbrk(folder, " $&*?;()<>|\\\"`") ? "'" : "";
    size_t n = 0;
    for (size_t i = 0; i < run->valid_text.pairs; i++) {
        text = corpus_sentence(&run->valid_text, SOURCE, i, &n);
        if (n >= 15 && n <= 80 && !memchr(text, '\'', n)) break;
    }
    console_say("translate with: %stranslate --model %s%s%s --attention attention.png '%.*s'",
                command_prefix(), quote, folder, quote, (int)n, text);
}

void console_end(const Run *run, bool stopped)
{
    const Progress *p = &run->progress;
    char time[DURATION_TEXT], scores[64] = "";
    if (!isnan(p->best.bleu))
        snprintf(scores, sizeof scores, ", BLEU %.2f, chrF %.2f", p->best.bleu, p->best.chrf);
    if (stopped)
        console_say("stopped after update %lld, and saved in %s: the same command goes on from "
                    "there",
                    p->update, run->last);
    else
        console_say("done: %lld updates in %s; the best validation was after update %lld: loss "
                    "%.4f%s",
                    p->update, duration_text(time, p->seconds), p->best_update, p->best.loss,
                    scores);
    if (!p->best_update) return;
    char names[100] = "best.safetensors (the model)", path[PATH_MAX];
    static const char *const pictures[] = {"loss.png", "weights.png", "attention.png",
                                           "watch.png"};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (access(run_path(path, run, pictures[i]), F_OK) == 0)
            strcat(strcat(names, ", "), pictures[i]);
    console_say("written to %s: %s", run->settings->run.output, names);
    say_command(run);
}

void console_error(const char *kind, const Error *error, const char *after)
{
    end_stage();
    progressbar_clear(&bar);
    fprintf(stderr, "%s: %s%s%s\n", command_name(), kind, error->text, after);
}
