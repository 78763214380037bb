/* console.c -- what ./train prints on standard error; see console.h. */
#include "commands/train/console.h"

#include "base/profile.h"
#include "commands/command.h"
#include "commands/progressbar.h"
#include "commands/train/candidate.h"
#include "training/distributed.h"

#include <inttypes.h>
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

/* ---- the report ---- */

/* "name         text" */
static void line(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void line(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%-13s ", name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* A corpus: what was read of it, and its files. */
typedef struct Part {
    const CorpusReport *report;
    const CorpusNames *names;
} Part;

/* "17", or, if there are several files, "data/a.en:17". */
static int print_line(char *text, size_t size, const Part *part, CorpusLine where)
{
    bool one = part->names->source.count + part->names->tsv.count < 2;
    return snprintf(text, size, "%s%s%" PRIu64, one ? "" : run_file(part->names, where.file),
                    one ? "" : ":", (uint64_t)where.line);
}

static void print_skipped(const Part *part, const char *why, const CorpusSkipped *skipped)
{
    if (!skipped->count) return;
    char lines[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < skipped->count && i < CORPUS_FIRST; i++) {
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s", i ? ", " : "");
        if (used < sizeof lines)
            used +=
                (size_t)print_line(lines + used, sizeof lines - used, part, skipped->first[i]);
        if (used >= sizeof lines) break;
    }
    const char *plural = skipped->count > 1 ? "s" : "";
    line("  skipped", "%zu pair%s: %s (line%s %s%s)", skipped->count, plural, why, plural,
         lines, skipped->count > CORPUS_FIRST ? ", …" : "");
}

/* Of the tokens, </s> not counted: that one is always known. */
static double percent(size_t some, size_t all)
{
    return all ? 100.0 * (double)some / (double)all : 0;
}

static void print_corpus(const char *name, const Part *part)
{
    const CorpusReport *r = part->report;
    char read[64] = "";
    if (r->kept != r->read) snprintf(read, sizeof read, " of %zu that were read", r->read);
    line(name, "%zu pairs%s, %zu source + %zu target tokens", r->kept, read, r->tokens[SOURCE],
         r->tokens[TARGET]);
    if (r->held_out) line("  held out", "%zu pairs to validate with", r->held_out);
    static const char *const WHY[SKIP_REASONS] = {
        "the source line is empty", "the target line is empty", "both lines are empty",
        "longer than --max-length"};
    for (int i = 0; i < SKIP_REASONS; i++) print_skipped(part, WHY[i], &r->skipped[i]);
    line("  unknown", "%.2f %% of the source tokens, %.2f %% of the target tokens",
         percent(r->unknown[SOURCE], r->tokens[SOURCE] - r->kept),
         percent(r->unknown[TARGET], r->tokens[TARGET] - r->kept));
}

static void print_vocabulary(const Run *run)
{
    const Vocabulary *v = &run->vocabulary;
    const char *type[SIDES];
    int size[SIDES];
    for (int side = 0; side < SIDES; side++) {
        type[side] = tokenizer_type_name(tokenizer_type(v->tokenizer[side]));
        size[side] = tokenizer_vocab_size(v->tokenizer[side]);
    }
    if (vocabulary_is_joint(v))
        line("vocabulary", "%d tokens (%s)", size[TARGET], type[TARGET]);
    else
        line("vocabulary", "%d source tokens (%s), %d target tokens (%s)", size[SOURCE],
             type[SOURCE], size[TARGET], type[TARGET]);
}

static void print_model(const Run *run)
{
    const ModelConfig *m = &run->model.config;
    line("model",
         "%.2f million parameters: %d + %d layers, width %d, %d heads, feed-forward %d",
         (double)params_trained(&run->model.params) / 1e6, m->encoder_layers, m->decoder_layers,
         m->d_model, m->heads, m->ffn);
}

static void print_memory(const Run *run, const Memory *memory)
{
    double block = (double)(run->model.params.size * sizeof(real));
    int files = candidate_files(&run->settings->training);
    char before[80] = "";
    if (memory->before > memory->validating)
        snprintf(before, sizeof before, "; learning the tokenizer took %.0f MB",
                 memory->before / 1e6);
    line("memory", "%.0f MB, at most %.0f MB while it validates%s", memory->training / 1e6,
         memory->validating / 1e6, before);
    line("disk", "%.1f MB to resume from, %d x %.1f MB to translate with",
         (run->trainer->optimizer.ema ? 4 : 3) * block / 1e6, 1 + files, block / 1e6);
}

/* Which weights are validated, if not simply those of the moment. */
static void print_candidate(const TrainingConfig *c)
{
    char ema[64] = "the weights";
    if (c->ema > 0)
        snprintf(ema, sizeof ema, "the moving average of the weights, decay %g", c->ema);
    if (c->average > 1)
        line("validated", "the average of %s at the last %d validations", ema, c->average);
    else if (c->ema > 0) line("validated", "%s", ema);
}

static void print_warnings(const Run *run)
{
    double tokens_each = (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]) /
                         (double)params_trained(&run->model.params);
    int D = run->model.config.d_model;  // of the presets: tiny 128, small 256, base 512
    if (tokens_each < 0.05)
        line("warning",
             "the corpus has %.3f tokens a parameter: a smaller model (%s--d-model, "
             "--vocab-size) is likely to translate better",
             tokens_each, D > 128 ? "--preset tiny, or " : "");
    if (run->seen * 50 > run->valid.pairs)
        line("warning",
             "%zu of %zu source sentences of the validation are in the training text too: the "
             "scores are too optimistic",
             run->seen, run->valid.pairs);
    for (int side = 0; side < SIDES; side++) {
        double unknown =
            percent(run->report.unknown[side], run->report.tokens[side] - run->report.kept);
        if (unknown > 5)
            line("warning",
                 "%.0f %% of the %s tokens are unknown, and are lost: a larger --vocab-size, "
                 "--tokenizer bpe, or --byte-fallback keeps them",
                 unknown, side == SOURCE ? "source" : "target");
    }
    int threads = workers_count(run->workers), at_work = trainer_at_work(run->trainer, threads);
    if (at_work < threads)
        line("warning",
             "only %d of %d threads can work at a time: --accumulators %d lets all work, and "
             "takes "
             "%.0f MB for each one more",
             at_work, threads, threads, (double)(run->model.params.size * sizeof(real)) / 1e6);
    if (tokens_each > 200)
        line("warning",
             "the corpus has %.0f tokens a parameter: a larger model (%s) can learn more from "
             "it",
             tokens_each,
             D < 256   ? "--preset small or base"
             : D < 512 ? "--preset base"
                       : "--d-model, --ffn");
}

void console_report(const Run *run, const Memory *memory)
{
    if (silent) return;
    char ranks[32] = "";
    if (distributed_ranks() > 1)
        snprintf(ranks, sizeof ranks, "%d ranks of ", distributed_ranks());
    const DataConfig *data = &run->settings->data;
    bool split = !data->valid.source.count && !data->valid.tsv.count;
    print_corpus("training", &(Part){&run->report, &data->train});
    print_corpus("validation",
                 &(Part){&run->valid_report, split ? &data->train : &data->valid});
    print_vocabulary(run);
    print_model(run);
    print_memory(run, memory);
    print_candidate(&run->settings->training);
    print_warnings(run);
    line("run", "%s%d threads, into %s", ranks, workers_count(run->workers),
         run->settings->run.output);
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
    double loss = validation_quality(v).loss;
    console_say("validation after update %lld: loss %.4f, perplexity %.2f%s",
                run->progress.update, loss, exp(loss), best ? ", the best so far" : "");
    if (v->translated)
        console_say("  %d of %d translations exact (greedy), BLEU %.2f, chrF %.2f", v->exact,
                    v->translated, v->bleu, v->chrf);
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
    console_say("translate with: %s --model %s", command_translate(),
                run->settings->run.output);
}

void console_error(const Error *error)
{
    fprintf(stderr, "%s%s: %s\n", terminal && !silent ? "\r\033[K" : "", command_name(),
            error->text);
}
