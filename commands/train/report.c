/* report.c -- what a run is made of, in words; see report.h. */
#include "commands/train/report.h"

#include "commands/train/candidate.h"
#include "training/distributed.h"

#include <inttypes.h>
#include <stdarg.h>

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

/* The text of a corpus: what was read, and the names of its files. */
typedef struct Part {
    const CorpusReport *report;
    const StringList *source, *tsv;
} Part;

/* "17", or, if there are several files, "data/a.en:17". */
static int print_line(char *text, size_t size, const Part *part, CorpusLine where)
{
    if (part->source->count + part->tsv->count < 2)
        return snprintf(text, size, "%" PRIu64, (uint64_t)where.line);
    return snprintf(text, size, "%s:%" PRIu64, run_file(part->source, part->tsv, where.file),
                    (uint64_t)where.line);
}

static void print_skipped(FILE *out, const Part *part, const char *why,
                          const CorpusSkipped *skipped)
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
    line(out, "  skipped", "%zu pair%s: %s (line%s %s%s)", skipped->count, plural, why, plural,
         lines, skipped->count > CORPUS_FIRST ? ", …" : "");
}

/* Of the tokens, </s> not counted: that one is always known. */
static double percent(size_t some, size_t all)
{
    return all ? 100.0 * (double)some / (double)all : 0;
}

static void print_corpus(FILE *out, const char *name, const Part *part)
{
    const CorpusReport *r = part->report;
    char read[64] = "";
    if (r->kept != r->read) snprintf(read, sizeof read, " of %zu that were read", r->read);
    line(out, name, "%zu pairs%s, %zu source + %zu target tokens", r->kept, read,
         r->tokens[SOURCE], r->tokens[TARGET]);
    if (r->held_out) line(out, "  held out", "%zu pairs to validate with", r->held_out);
    static const char *const WHY[SKIP_REASONS] = {
        "the source line is empty", "the target line is empty", "both lines are empty",
        "longer than --max-length"};
    for (int i = 0; i < SKIP_REASONS; i++) print_skipped(out, part, WHY[i], &r->skipped[i]);
    line(out, "  unknown", "%.2f %% of the source tokens, %.2f %% of the target tokens",
         percent(r->unknown[SOURCE], r->tokens[SOURCE] - r->kept),
         percent(r->unknown[TARGET], r->tokens[TARGET] - r->kept));
}

static void print_vocabulary(FILE *out, const Run *run)
{
    const Vocabulary *v = &run->vocabulary;
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
    double block = (double)(run->model.params.size * sizeof(real));
    int files = candidate_files(&run->settings->training);
    char before[80] = "";
    if (memory->before > memory->validating)
        snprintf(before, sizeof before, "; learning the tokenizer took %.0f MB",
                 memory->before / 1e6);
    line(out, "memory", "%.0f MB, at most %.0f MB while it validates%s", memory->training / 1e6,
         memory->validating / 1e6, before);
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
    else if (c->ema > 0) line(out, "validated", "%s", ema);
}

static void print_warnings(FILE *out, const Run *run)
{
    double tokens_each = (double)(run->report.tokens[SOURCE] + run->report.tokens[TARGET]) /
                         (double)params_trained(&run->model.params);
    int D = run->model.config.d_model;  // of the presets: tiny 128, small 256, base 512
    if (tokens_each < 0.05)
        line(out, "warning",
             "the corpus has %.3f tokens a parameter: a smaller model (%s--d-model, "
             "--vocab-size) is likely to translate better",
             tokens_each, D > 128 ? "--preset tiny, or " : "");
    if (run->seen * 50 > run->valid.pairs)
        line(out, "warning",
             "%zu of %zu source sentences to validate with are in the training text, too: the "
             "scores will say too much",
             run->seen, run->valid.pairs);
    for (int side = 0; side < SIDES; side++) {
        double unknown =
            percent(run->report.unknown[side], run->report.tokens[side] - run->report.kept);
        if (unknown > 5)
            line(out, "warning",
                 "%.0f %% of the %s tokens are unknown, and are lost: a larger --vocab-size, "
                 "--tokenizer bpe, or --byte-fallback keeps them",
                 unknown, side == SOURCE ? "source" : "target");
    }
    int threads = workers_count(run->workers), at_work = trainer_at_work(run->trainer, threads);
    if (at_work < threads)
        line(out, "warning",
             "%d of %d threads can work at a time: --accumulators %d, at %.0f MB for each "
             "more, lets all",
             at_work, threads, threads, (double)(run->model.params.size * sizeof(real)) / 1e6);
    if (tokens_each > 200)
        line(out, "warning",
             "the corpus has %.0f tokens a parameter: a larger model (%s) can learn more from "
             "it",
             tokens_each,
             D < 256   ? "--preset small or base"
             : D < 512 ? "--preset base"
                       : "--d-model, --ffn");
}

void report_print(FILE *out, const Run *run, const Memory *memory)
{
    char ranks[32] = "";
    if (distributed_ranks() > 1)
        snprintf(ranks, sizeof ranks, "%d ranks of ", distributed_ranks());
    const DataConfig *data = &run->settings->data;
    bool split = !data->valid_source.count && !data->valid_tsv.count;
    print_corpus(out, "training", &(Part){&run->report, &data->train_source, &data->train_tsv});
    print_corpus(out, "validation",
                 &(Part){&run->valid_report, split ? &data->train_source : &data->valid_source,
                         split ? &data->train_tsv : &data->valid_tsv});
    print_vocabulary(out, run);
    print_model(out, run);
    print_memory(out, run, memory);
    print_candidate(out, &run->settings->training);
    print_warnings(out, run);
    line(out, "run", "%s%d threads, into %s", ranks, workers_count(run->workers),
         run->settings->run.output);
}
