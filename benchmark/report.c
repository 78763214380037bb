/* report.c -- the results as tables and as JSON; see report.h.
 *
 * One table of columns describes both: the heading in the printed table, the key in JSON, and
 * where the number is in a result. */
#include "benchmark/report.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/workers.h"
#include "commands/progressbar.h"

typedef enum { GROUPED, PERCENT, WHOLE, TENTHS, HUNDREDTHS } ColumnFormat;

typedef struct Column {
    const char *title, *key;
    ColumnFormat format;
    double scale;
    size_t offset;  // of a double in the result
} Column;

#define TRAINED(field) offsetof(TrainingResult, field)
#define DECODED(field) offsetof(DecodingResult, field)
// clang-format off
static const Column training_columns[] = {
    {"tokens/s", "tokens_per_second", GROUPED, 1, TRAINED(tokens_per_second)},
    {"GFLOP/s", "gflops", TENTHS, 1e-9, TRAINED(rate.flops)},
    {"sgemm GFLOP/s", "peak_gflops", TENTHS, 1e-9, TRAINED(rate.peak)},
    {"of peak", "share_of_peak", PERCENT, 1, TRAINED(rate.share)},
    {"(median)", "share_of_peak_median", PERCENT, 1, TRAINED(rate.share_median)},
    {"tile GFLOP/s", "tile_gflops", TENTHS, 1e-9, TRAINED(rate.tile)},
    {"of tile", "share_of_tile", PERCENT, 1, TRAINED(rate.share_of_tile)},
    {"memory MB", "resident_mb", WHOLE, 1e-6, TRAINED(memory)},
};
static const Column peer_columns[] = {
    {"PyTorch tokens/s", "tokens_per_second", GROUPED, 1, TRAINED(peer.tokens_per_second)},
    {"(padding)", "padding", PERCENT, 1, TRAINED(peer.padding)},
    {"ratio", "ratio", TENTHS, 1, TRAINED(peer.ratio)},
};
static const Column decoding_columns[] = {
    {"sentences/s", "sentences_per_second", GROUPED, 1, DECODED(sentences_per_second)},
    {"tokens/s", "tokens_per_second", GROUPED, 1, DECODED(tokens_per_second)},
    {"GFLOP/s", "gflops", TENTHS, 1e-9, DECODED(rate.flops)},
    {"sgemm GFLOP/s", "peak_gflops", TENTHS, 1e-9, DECODED(rate.peak)},
    {"of peak", "share_of_peak", PERCENT, 1, DECODED(rate.share)},
    {"(median)", "share_of_peak_median", PERCENT, 1, DECODED(rate.share_median)},
    {"tile GFLOP/s", "tile_gflops", TENTHS, 1e-9, DECODED(rate.tile)},
    {"of tile", "share_of_tile", PERCENT, 1, DECODED(rate.share_of_tile)},
    {"memory MB", "resident_mb", WHOLE, 1e-6, DECODED(memory)},
    {"one alone, ms", "single_sentence_ms", HUNDREDTHS, 1e3, DECODED(single)},
};
// clang-format on
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static double value(const Column *column, const void *result)
{
    return *(const double *)((const char *)result + column->offset) * column->scale;
}

/* ---- tables ---- */

static void print_titles(FILE *out, const Column *columns, int count)
{
    for (int c = 0; c < count; c++) fprintf(out, "  %s", columns[c].title);
}

static void print_values(FILE *out, const Column *columns, int count, const void *result)
{
    for (int c = 0; c < count; c++) {
        double number = value(&columns[c], result);
        char text[NUMBER_TEXT];
        if (columns[c].format == GROUPED) number_text(text, number);
        else if (columns[c].format == PERCENT)
            snprintf(text, sizeof text, "%.1f%%", 100 * number);
        else snprintf(text, sizeof text, "%.*f", columns[c].format - WHOLE, number);
        fprintf(out, "  %*s", (int)strlen(columns[c].title), text);
    }
}

const char *engine_name(bool openblas)
{
    return openblas ? "OpenBLAS" : "own tile";
}

/* What /proc/cpuinfo calls the processor, or "". */
static const char *find_processor(char text[128])
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char line[256];
    text[0] = '\0';
    while (info && !*text && fgets(line, sizeof line, info))
        sscanf(line, "model name : %127[^\n]", text);
    if (info) fclose(info);
    return text;
}

void report_head(const Report *report, FILE *out)
{
    char name[128];
    int count = workers_processors();
    fprintf(out, "machine  %d processor%s%s%s, %s\ncorpus   %s\n", count, count > 1 ? "s" : "",
            *find_processor(name) ? " of " : "", name, peak_library(), report->corpus);
}

void report_training(const Report *report, FILE *out)
{
    if (!report->trains) return;
    int peer = report->peered ? COUNT(peer_columns) : 0;
    fprintf(out, "\nTraining      products  threads");
    print_titles(out, training_columns, COUNT(training_columns));
    print_titles(out, peer_columns, peer);
    fputc('\n', out);
    for (int i = 0; i < report->trains; i++) {
        const TrainingRow *row = &report->train[i];
        fprintf(out, "%-12s  %-8s  %7d", row->preset, engine_name(row->openblas), row->threads);
        print_values(out, training_columns, COUNT(training_columns), &row->result);
        print_values(out, peer_columns, peer, &row->result);
        fputc('\n', out);
    }
}

static void print_search(FILE *out, const DecodingRow *row)
{
    char search[16] = "greedy";
    if (row->beam > 1) snprintf(search, sizeof search, "beam %d", row->beam);
    fprintf(out, "%-12s  %6s  %7s  %7d", row->preset, search, row->int8 ? "int8" : "float",
            row->threads);
}

void report_decoding(const Report *report, FILE *out)
{
    if (!report->decodes) return;
    fprintf(out,
            "\nTranslating %d sentences to %d tokens each\n"
            "              search  weights  threads",
            report->decode[0].result.sentences, OUTPUT_TOKENS);
    print_titles(out, decoding_columns, COUNT(decoding_columns));
    fputc('\n', out);
    for (int i = 0; i < report->decodes; i++) {
        const DecodingResult *result = &report->decode[i].result;
        print_search(out, &report->decode[i]);
        print_values(out, decoding_columns, COUNT(decoding_columns) - !result->single, result);
        fputc('\n', out);
    }
}

void report_startup(const Report *report, FILE *out)
{
    const Startup *s = &report->startup;
    fprintf(out,
            "\nStarting\n./translate, to its first line   %7.1f ms  (the toy model; median of "
            "%d)\n",
            1000 * s->translate, STARTS);
    if (s->dry_run > 0)
        fprintf(out,
                "./train --dry-run                %7.2f s   (the corpus above; median of %d)\n",
                s->dry_run, DRY_RUNS);
}

void report_scaling(const Report *report, FILE *out)
{
    static const char *const titles[] = {NULL, "  tokens/s", "  at equal peak", "  of peak",
                                         "  memory MB"};
    const Scaling *scaling = &report->scaling;
    fprintf(out,
            "\nCost of training the tiny model, %d thread%s, one number changed at a time\n"
            "(at equal peak: tokens/s if sgemm had reached %.1f GFLOP/s a thread, the median "
            "of all points, at each)\n",
            scaling->threads, scaling->threads > 1 ? "s" : "", scaling_peak(scaling) / 1e9);
    for (int s = 0; s < SCALES; s++)
        for (int row = 0; row < COUNT(titles); row++) {
            fprintf(out, "%s%-22s", s && !row ? "\n" : "", row ? titles[row] : scale_titles[s]);
            for (int i = 0; i < scaling->count[s]; i++) {
                const ScalePoint *point = &scaling->point[s][i];
                const TrainingResult *r = &point->result;
                const double numbers[] = {point->value, r->tokens_per_second,
                                          scaling_speed(scaling, point), 100 * r->rate.share,
                                          r->memory / 1e6};
                char text[NUMBER_TEXT];
                if (row == 3) snprintf(text, sizeof text, "%.1f%%", numbers[row]);
                else number_text(text, numbers[row]);
                fprintf(out, "  %8s", text);
            }
            fputc('\n', out);
        }
}

/* ---- JSON ---- */

static void put_values(JsonWriter *json, const Column *columns, int count, const void *result)
{
    for (int c = 0; c < count; c++)
        json_put_real(json, columns[c].key, value(&columns[c], result));
}

static void put_training(JsonWriter *json, const TrainingResult *r)
{
    json_put_integer(json, "updates", r->rate.pieces);
    json_put_integer(json, "tokens", r->tokens);
    put_values(json, training_columns, COUNT(training_columns), r);
    if (r->peer.updates) {
        json_open(json, "pytorch");
        put_values(json, peer_columns, COUNT(peer_columns), r);
        json_close(json);
    }
}

static void put_decoding(JsonWriter *json, const DecodingRow *row)
{
    json_open(json, NULL);
    json_put_text(json, "config", row->preset);
    json_put_integer(json, "beam", row->beam);
    json_put_text(json, "weights", row->int8 ? "int8" : "float");
    json_put_integer(json, "threads", row->threads);
    put_values(json, decoding_columns, COUNT(decoding_columns) - !row->result.single,
               &row->result);
    json_close(json);
}

static void put_scaling(JsonWriter *json, const Scaling *scaling)
{
    json_open(json, "scaling");
    for (int s = 0; s < SCALES; s++) {
        json_open_array(json, scale_titles[s]);
        for (int i = 0; i < scaling->count[s]; i++) {
            json_open(json, NULL);
            json_put_integer(json, "value", scaling->point[s][i].value);
            put_training(json, &scaling->point[s][i].result);
            json_close(json);
        }
        json_close(json);
    }
    json_close(json);
}

static void put_report(JsonWriter *json, const Report *report)
{
    char name[128];
    json_open(json, NULL);
    json_put_text(json, "machine", find_processor(name));
    json_put_text(json, "corpus", report->corpus);
    json_open_array(json, "train");
    for (int i = 0; i < report->trains; i++) {
        json_open(json, NULL);
        json_put_text(json, "config", report->train[i].preset);
        json_put_text(json, "products", engine_name(report->train[i].openblas));
        json_put_integer(json, "threads", report->train[i].threads);
        put_training(json, &report->train[i].result);
        json_close(json);
    }
    json_close(json);
    json_open_array(json, "decode");
    for (int i = 0; i < report->decodes; i++) put_decoding(json, &report->decode[i]);
    json_close(json);
    if (report->started) json_put_real(json, "translate_seconds", report->startup.translate);
    if (report->scaled) put_scaling(json, &report->scaling);
    json_close(json);
    fputc('\n', json->out);
}

bool report_json(const Report *report, const char *path, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    JsonWriter json = {.out = open_memstream(&text, &size), .indent = 2};
    if (json.out) put_report(&json, report);
    bool good = (json.out && fclose(json.out) == 0) || error_memory(error, "for '%s'", path);
    good = good && file_replace(path, text, size, error);
    free(text);
    return good;
}
