/* report.c -- what a run is made of, in words; see report.h. */
#include "program/report.h"

#include "training/distributed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* "name         text" */
static void line(FILE *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(FILE *out, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(out, "%-13s ", name);
    vfprintf(out, format, arguments);
    fputc('\n', out);
    va_end(arguments);
}

static void print_skipped(FILE *out, const char *why, const CorpusSkipped *skipped)
{
    if (!skipped->count) return;
    char lines[128] = "";
    for (size_t i = 0; i < skipped->count && i < CORPUS_FIRST; i++) {
        size_t used = strlen(lines);
        snprintf(lines + used, sizeof lines - used, "%s%" PRIu64, i ? ", " : "",
                 (uint64_t)skipped->first[i].line);
    }
    const char *plural = skipped->count > 1 ? "s" : "";
    line(out, "  skipped", "%zu pair%s: %s (line%s %s%s)", skipped->count, plural, why, plural,
         lines, skipped->count > CORPUS_FIRST ? ", …" : "");
}

static void print_corpus(FILE *out, const char *name, const CorpusReport *r)
{
    size_t tokens = r->tokens[SOURCE] + r->tokens[TARGET];
    size_t unknown = r->unknown[SOURCE] + r->unknown[TARGET];
    line(out, name, "%zu pairs, %zu source + %zu target tokens, %.2f %% unknown", r->kept,
         r->tokens[SOURCE], r->tokens[TARGET],
         tokens ? 100.0 * (double)unknown / (double)tokens : 0);
    print_skipped(out, "the source line is empty", &r->empty_source);
    print_skipped(out, "the target line is empty", &r->empty_target);
    print_skipped(out, "both lines are empty", &r->empty_both);
    print_skipped(out, "longer than --max-length", &r->too_long);
}

static void print_vocabulary(FILE *out, const Run *run)
{
    const Vocabulary *v = &run->vocabulary;
    const DataConfig *data = &run->settings->data;
    const char *type[SIDES];
    int size[SIDES];
    for (int side = 0; side < SIDES; side++) {
        type[side] = tokenizer_type_name(tokenizer_type(v->tokenizer[side]));
        size[side] = tokenizer_vocab_size(v->tokenizer[side]);
    }
    if (vocabulary_is_joint(v))
        line(out, "vocabulary", "%d tokens (%s)", size[TARGET], type[TARGET]);
    else
        line(out, "vocabulary", "%d source tokens (%s), %d target tokens (%s)", size[SOURCE],
             type[SOURCE], size[TARGET], type[TARGET]);
    if (run->subwords[SOURCE])
        line(out, "subwords", "every epoch cuts the training text anew (--subword-%s %g)",
             data->subword_dropout > 0 ? "dropout" : "alpha",
             data->subword_dropout > 0 ? data->subword_dropout : data->subword_alpha);
}

static void print_model(FILE *out, const Run *run)
{
    const ModelConfig *m = &run->model.config;
    line(out, "model",
         "%.2f million parameters: %d + %d layers, width %d, %d heads, feed-forward %d",
         (double)params_trained(&run->model.params) / 1e6, m->encoder_layers, m->decoder_layers,
         m->d_model, m->heads, m->ffn);
}

static void print_memory(FILE *out, const Run *run, const Memory *memory)
{
    const TrainingConfig *c = &run->settings->training;
    double block = (double)(run->model.params.size * sizeof(real));
    int files = c->average > c->keep_last ? c->average : c->keep_last;
    char before[80] = "";
    if (memory->before > memory->validating)
        snprintf(before, sizeof before, "; learning the tokenizer took %.0f MB",
                 memory->before / 1e6);
    line(out, "memory", "%.0f MB, at most %.0f MB while it validates%s",
         memory->training / 1e6, memory->validating / 1e6, before);
    line(out, "disk", "%.1f MB to go on from, %d times %.1f MB to translate with",
         (trainer_ema(run->trainer) ? 4 : 3) * block / 1e6, 1 + files, block / 1e6);
}

/* Which weights are validated, if not simply those of the moment. */
static void print_candidate(FILE *out, const TrainingConfig *c)
{
    char ema[64] = "the weights";
    if (c->ema > 0)
        snprintf(ema, sizeof ema, "the moving average of the weights, decay %g", c->ema);
    if (c->average > 1)
        line(out, "validated", "the mean of %s, as of the last %d validations", ema,
             c->average);
    else if (c->ema > 0)
        line(out, "validated", "%s", ema);
}

static void print_warnings(FILE *out, const Run *run)
{
    double tokens_each = (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]) /
                         (double)params_trained(&run->model.params);
    if (tokens_each < 0.02)
        line(out, "warning",
             "the corpus has %.3f tokens a parameter: a smaller model (--preset tiny, or "
             "--d-model, --vocab-size) will translate better",
             tokens_each);
    if (trainer_accumulators(run->trainer) < workers_count(run->workers))
        line(out, "warning",
             "%d of %d threads can work at a time: --accumulators %d, at %.0f MB for each "
             "more, lets all",
             trainer_accumulators(run->trainer), workers_count(run->workers),
             workers_count(run->workers),
             (double)(run->model.params.size * sizeof(real)) / 1e6);
    if (tokens_each > 200)
        line(out, "warning",
             "the corpus has %.0f tokens a parameter: a larger model (--preset small or "
             "base) can learn more from it",
             tokens_each);
}

void report_print(FILE *out, const Run *run, const Memory *memory)
{
    char ranks[32] = "";
    if (distributed_ranks() > 1)
        snprintf(ranks, sizeof ranks, "%d ranks of ", distributed_ranks());
    print_corpus(out, "training", &run->report);
    print_corpus(out, "validation", &run->valid_report);
    print_vocabulary(out, run);
    print_model(out, run);
    print_memory(out, run, memory);
    print_candidate(out, &run->settings->training);
    print_warnings(out, run);
    line(out, "run", "%s%d threads, into %s", ranks, workers_count(run->workers),
         run->settings->run.output);
}
