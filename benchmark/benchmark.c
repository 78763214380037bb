/* benchmark.c -- how fast: training, translating, starting, and how cost grows.
 *
 *   read the options, make or read the corpus
 *   for each section: measure each case in a process of its own, print its table
 *   write everything as JSON, if asked */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/workers.h"
#include "benchmark/child.h"
#include "benchmark/peak.h"
#include "benchmark/peer.h"
#include "benchmark/plan.h"
#include "benchmark/report.h"
#include "benchmark/synthetic.h"
#include "benchmark/training.h"
#include "data/corpusreader.h"

enum { PAIRS = 29000, VOCABULARY = 10000, MAX_LENGTH = 255, SEED = 1 };

/* The share of --seconds that one measurement of a section takes. */
static const double DECODING_TIME = 0.5, SCALING_TIME = 0.125;

/* Prints what is being measured, on a terminal only, in place of the line before. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    if (!isatty(STDERR_FILENO)) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    va_end(arguments);
}

/* ---- the corpus ---- */

static bool read_real(Corpus *corpus, Report *report, const Plan *plan, Error *error)
{
    CorpusFile file = {.source = plan->corpus, .target = plan->corpus_target, .column = {1, 2}};
    CorpusFiles files = {.file = &file, .count = 1};
    CorpusText text;
    CorpusReport counts;
    if (!corpus_read(&text, &counts, &files, error)) return false;

    unsigned char *bytes = NULL;
    size_t size;
    Sentences sides[] = {corpus_sentences(&text, SOURCE), corpus_sentences(&text, TARGET)};
    TokenizerSettings settings = {.type = TOKENIZER_BPE, .vocab_size = VOCABULARY};
    Tokenizer *tokenizer = tokenizer_train(&bytes, &size, sides, SIDES, &settings, error)
                               ? tokenizer_load(bytes, size, error)
                               : NULL;
    const Tokenizer *const both[SIDES] = {tokenizer, tokenizer};
    bool good = tokenizer &&
                corpus_encode(corpus, &text, &counts, both, NULL, MAX_LENGTH, false, error);
    tokenizer_free(tokenizer);
    free(bytes);
    if (!good) return false;
    const char *name = strrchr(file.source, '/');
    snprintf(report->corpus, sizeof report->corpus, "%s: %zu pairs, %d tokens of joint BPE",
             name ? name + 1 : file.source, corpus->pairs, corpus->vocab_size[TARGET]);
    return true;
}

static bool get_corpus(Corpus *corpus, Report *report, const Plan *plan, Error *error)
{
    if (plan->corpus) return read_real(corpus, report, plan, error);
    snprintf(report->corpus, sizeof report->corpus,
             "synthetic: %d pairs with the lengths of Multi30k English-German, %d tokens by "
             "Zipf's law",
             PAIRS, VOCABULARY);
    return synthetic_corpus(corpus, PAIRS, 0, VOCABULARY, SEED, error);
}

/* ---- the sections ---- */

static int batch_tokens(const char *preset)
{
    return strcmp(preset, "base") == 0 ? 4000 : 8000;
}

static bool chosen(const Plan *plan, int preset)
{
    return plan->only == ONLY_ALL || plan->only == preset;
}

static bool train_row(Report *report, TrainingRow row, TrainingCase this, Error *error)
{
    say("training %s, %d thread%s, products by %s …", row.preset, row.threads,
        row.threads > 1 ? "s" : "", engine_name(row.openblas));
    this.openblas = row.openblas;
    if (row.openblas) this.python = NULL;
    if (!child_run(training_work, &this, &row.result, sizeof row.result, error))
        return error_prefix(error, "training %s", row.preset);
    report->train[report->trains++] = row;
    return true;
}

static bool train(Report *report, const Plan *plan, const Corpus *corpus, Error *error)
{
    int threads[2], counts = plan_threads(plan, threads);
    const char *python = NULL;
    if (plan->wants[SECTION_PEER] && !(python = peer_python()))
        puts("PyTorch  skipped: no python3 can import torch");
    report->peered = python;
    for (int p = PRESETS_FROM; plan_presets[p]; p++)
        for (int t = 0; t < counts && chosen(plan, p); t++) {
            const char *preset = plan_presets[p];
            TrainingCase this;
            if (!training_case(&this, preset, corpus, batch_tokens(preset), threads[t], error))
                return false;
            this.seconds = plan->seconds;
            this.model.precision = plan->precision;
            this.python = python;
            int engines = plan->precision == PRECISION_FLOAT ? 2 : 1;
            for (int openblas = 0; openblas < engines; openblas++) {
                TrainingRow row = {
                    .preset = preset, .threads = threads[t], .openblas = openblas};
                if (!train_row(report, row, this, error)) return false;
            }
        }
    say("%s", "");
    report_training(report, stdout);
    return true;
}

static bool decode_row(Report *report, DecodingRow row, const Plan *plan, const Corpus *corpus,
                       Error *error)
{
    TrainingCase sizes;
    say("translating with %s, beam %d, %s, %d thread%s …", row.preset, row.beam,
        row.int8 ? "int8" : "float", row.threads, row.threads > 1 ? "s" : "");
    if (!training_case(&sizes, row.preset, corpus, 1, 1, error)) return false;
    DecodingCase this = {corpus,   sizes.model, row.beam,
                         row.int8, row.threads, plan->seconds * DECODING_TIME};
    if (!child_run(decoding_work, &this, &row.result, sizeof row.result, error))
        return error_prefix(error, "translating with %s", row.preset);
    report->decode[report->decodes++] = row;
    return true;
}

static bool decode(Report *report, const Plan *plan, const Corpus *corpus, Error *error)
{
    int threads[2], counts = plan_threads(plan, threads);
    for (int p = PRESETS_FROM; plan_presets[p]; p++)
        for (int i = 0; i < 4 * counts && chosen(plan, p); i++) {
            if (strcmp(plan_presets[p], "base") == 0) break;
            DecodingRow row = {.preset = plan_presets[p],
                               .beam = i / counts < 2 ? 1 : 5,
                               .int8 = i / counts % 2,
                               .threads = threads[i % counts]};
            if (!decode_row(report, row, plan, corpus, error)) return false;
        }
    say("%s", "");
    report_decoding(report, stdout);
    return true;
}

static bool start(Report *report, const Plan *plan, Error *error)
{
    say("%s", "starting …");
    if (!startup_measure(&report->startup, plan->programs, plan->corpus, plan->corpus_target,
                         error))
        return false;
    report->started = true;
    say("%s", "");
    report_startup(report, stdout);
    return true;
}

static bool scale(Report *report, const Plan *plan, Error *error)
{
    Scaling *scaling = &report->scaling;
    scaling_plan(scaling, plan->threads ? plan->threads : workers_processors());
    for (int s = 0; s < SCALES; s++)
        for (int i = 0; i < scaling->count[s]; i++) {
            ScalePoint *point = &scaling->point[s][i];
            say("training tiny: %s: %d …", scale_titles[s], point->value);
            if (!scaling_point(point, (Scale)s, plan->seconds * SCALING_TIME, error))
                return error_prefix(error, "%s %d", scale_titles[s], point->value);
        }
    report->scaled = true;
    say("%s", "");
    report_scaling(report, stdout);
    return true;
}

static bool whole_story(Report *report, const Plan *plan, Error *error)
{
    Corpus corpus = {0};
    say("%s", "the corpus …");
    bool good = get_corpus(&corpus, report, plan, error);
    say("%s", "");
    if (good) report_head(report, stdout);
    good = good && (!plan->wants[SECTION_TRAIN] || train(report, plan, &corpus, error)) &&
           (!plan->wants[SECTION_DECODE] || decode(report, plan, &corpus, error)) &&
           (!plan->wants[SECTION_STARTUP] || start(report, plan, error)) &&
           (!plan->wants[SECTION_SCALING] || scale(report, plan, error)) &&
           (!plan->json || report_json(report, plan->json, error));
    corpus_free(&corpus);
    return good;
}

int main(int argc, char **argv)
{
    static Plan plan;
    static Report report;
    Error error;
    int status = 0;
    peak_restart(argv);
    setvbuf(stdout, NULL, _IOLBF, 0);  // a table is read while the next is measured
    if (!plan_read(&plan, argc, argv, &error)) {
        status = 2;
    } else if (plan.help) {
        char *help = plan_help();
        printf(
            "Usage: scripts/benchmark [OPTION]...\n"
            "Measures how fast this machine trains, translates and starts, compared with its\n"
            "speed of matrix multiplication. Tables go to standard output.\n\n%s",
            help ? help : "");
        free(help);
    } else if (!whole_story(&report, &plan, &error)) {
        say("%s", "");
        status = 1;
    } else if (fflush(stdout) != 0 || ferror(stdout)) {
        error_set(&error, "cannot write the tables");
        status = 1;
    }
    if (status) fprintf(stderr, "benchmark: %s\n", error.text);
    plan_free(&plan);
    return status;
}
