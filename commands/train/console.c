/* console.c -- what ./train prints on standard error; see console.h. */
#include "commands/train/console.h"

#include "base/profile.h"
#include "commands/command.h"
#include "commands/progressbar.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 3, LINE = 100 };
static const double INTERVAL = 0.5;  // seconds between two drawings of the progress line

static bool silent = true, terminal;
static double drawn;  // when the progress line was drawn last

void console_start(bool quiet)
{
    silent = quiet;
    terminal = isatty(STDERR_FILENO);
    drawn = clock_seconds();
}

void console_say(const char *format, ...)
{
    if (silent) return;
    va_list arguments;
    va_start(arguments, format);
    if (terminal) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- progress ---- */

/* The update that the run ends after, as far as that is known yet; 0: no limit. */
static long long update_limit(Run *run)
{
    const TrainingConfig *c = &run->settings->training;
    const Progress *p = &run->progress;
    size_t in_epoch = 0;
    if (!c->max_epochs || !batches_updates(&run->batches, &in_epoch, (uint64_t)p->epoch, NULL))
        return c->max_updates;
    long long epochs = c->max_epochs > p->epoch ? c->max_epochs - p->epoch : 0;
    long long all = p->update - p->update_in_epoch + (long long)in_epoch * epochs;
    return c->max_updates && c->max_updates < all ? c->max_updates : all;
}

void console_progress(Run *run, const Throughput *t, const UpdateStats *last, bool due)
{
    if (silent || (!due && (!terminal || clock_seconds() - drawn < INTERVAL))) return;
    const Progress *p = &run->progress;
    char left[48] = "", time[DURATION_TEXT], line[256];
    long long limit = update_limit(run);
    if (limit > p->update && t->updates)
        snprintf(
            left, sizeof left, "  %s left",
            duration_text(time, t->seconds / (double)t->updates * (double)(limit - p->update)));
    snprintf(
        line, sizeof line,
        "update %lld%s%.0lld  epoch %lld  loss %.3f  lr %.2g  %.0f tokens/s  %.0f GFLOP/s%s",
        p->update, limit ? "/" : "", limit, p->epoch + 1, p->nll / (double)p->tokens,
        last->learning_rate, (double)t->tokens / t->seconds, t->flops / t->seconds / 1e9, left);
    drawn = clock_seconds();
    if (terminal) fprintf(stderr, "\r\033[K%.*s", LINE, line), fflush(stderr);
    else console_say("%s", line);
}

void console_validation(const Run *run, const Validation *v, bool best)
{
    double loss = v->quality.loss;
    console_say("validation after update %lld: loss %.4f, perplexity %.2f%s",
                run->progress.update, loss, exp(loss), best ? ", the best so far" : "");
    if (v->translated)
        console_say("  %d of %d translations exact (greedy), BLEU %.2f, chrF %.2f", v->exact,
                    v->translated, v->quality.bleu, v->quality.chrf);
    for (int i = 0; i < SAMPLES && i < v->translated; i++) {
        int s = (int)((long long)i * v->translated / SAMPLES);
        size_t n, m;
        const char *source = corpus_sentence(&run->valid_text, SOURCE, (size_t)s, &n);
        const char *target = corpus_sentence(&run->valid_text, TARGET, (size_t)s, &m);
        bool exact = strlen(v->hypothesis[s]) == m && !memcmp(v->hypothesis[s], target, m);
        console_say("    %.*s\n      → %s%s", (int)n, source, v->hypothesis[s],
                    exact ? "  ✓" : "");
    }
}

void console_end(const Run *run, bool stopped)
{
    const Progress *p = &run->progress;
    char time[DURATION_TEXT], scores[64] = "";
    if (stopped) {
        console_say("stopped after update %lld and saved in %s: the same command resumes from "
                    "there",
                    p->update, run->last);
        return;
    }
    if (!isnan(p->best.bleu))
        snprintf(scores, sizeof scores, ", BLEU %.2f, chrF %.2f", p->best.bleu, p->best.chrf);
    console_say("done: %lld updates in %s; the best validation was after update %lld: loss "
                "%.4f%s",
                p->update, duration_text(time, p->seconds), p->best_update, p->best.loss,
                scores);
    console_say("translate with: %stranslate --model %s", command_prefix(),
                run->settings->run.output);
}

void console_error(const Error *error)
{
    fprintf(stderr, "%s%s: %s\n", terminal && !silent ? "\r\033[K" : "", command_name(),
            error->text);
}
