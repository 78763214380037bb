/* report.c -- tables and JSON; see report.h. */
#include "benchmark/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/workers.h"
#include "benchmark/peak.h"

/* "21,543" */
static const char *grouped(char text[32], double value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", value), n = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[n++] = ',';
        text[n++] = digits[i];
    }
    text[n] = '\0';
    return text;
}

/* What /proc/cpuinfo calls the processor, or "". */
static const char *processor(char text[128])
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
            *processor(name) ? " of " : "", name, peak_library(), report->corpus);
}

/* ---- training ---- */

static void training_speed(const Report *report, FILE *out)
{
    fputs("\nTraining      threads  tokens/s  GFLOP/s  sgemm GFLOP/s  of peak  (median)  "
          "memory MB\n",
          out);
    for (int i = 0; i < report->trains; i++) {
        const TrainingRow *row = &report->train[i];
        const TrainingResult *r = &row->result;
        char tokens[32];
        fprintf(out, "%-12s  %7d  %8s  %7.1f  %13.1f  %6.1f%%  %7.1f%%  %9.0f\n", row->preset,
                row->threads, grouped(tokens, r->tokens_per_second), r->rate.flops / 1e9,
                r->rate.peak / 1e9, 100 * r->rate.share, 100 * r->rate.share_median,
                r->memory / 1e6);
    }
}

/* The columns' order: the network's, then what surrounds it. */
static const Part PART_ORDER[PARTS] = {PART_EMBEDDING, PART_LINEAR, PART_ATTENTION,
                                       PART_LOSS,      PART_NORM,   PART_OPTIMIZER,
                                       PART_WAITING,   PART_OTHER};

static void training_parts(const Report *report, FILE *out)
{
    fputs("\nTime, %       threads", out);
    for (int p = 0; p < PARTS; p++) fprintf(out, "  %9s", part_names[PART_ORDER[p]]);
    fputc('\n', out);
    for (int i = 0; i < report->trains; i++) {
        const TrainingRow *row = &report->train[i];
        fprintf(out, "%-12s  %7d", row->preset, row->threads);
        for (int p = 0; p < PARTS; p++)
            fprintf(out, "  %9.1f", 100 * row->result.part[PART_ORDER[p]]);
        fputc('\n', out);
    }
}

void report_training(const Report *report, FILE *out)
{
    if (!report->trains) return;
    training_speed(report, out);
    training_parts(report, out);
}

/* ---- JSON ---- */

static void training_json(JsonWriter *json, const TrainingRow *row)
{
    const TrainingResult *r = &row->result;
    json_open(json, NULL);
    json_put_text(json, "config", row->preset);
    json_put_integer(json, "threads", row->threads);
    json_put_integer(json, "updates", r->rate.pieces);
    json_put_integer(json, "tokens", r->tokens);
    json_put_real(json, "seconds", r->rate.seconds);
    json_put_real(json, "tokens_per_second", r->tokens_per_second);
    json_put_real(json, "gflops", r->rate.flops / 1e9);
    json_put_real(json, "peak_gflops", r->rate.peak / 1e9);
    json_put_real(json, "share_of_peak", r->rate.share);
    json_put_real(json, "share_of_peak_median", r->rate.share_median);
    json_put_real(json, "resident_mb", r->memory / 1e6);
    json_open(json, "parts");
    for (int p = 0; p < PARTS; p++)
        json_put_real(json, part_names[PART_ORDER[p]], r->part[PART_ORDER[p]]);
    json_close(json);
    json_close(json);
}

static void whole_json(JsonWriter *json, const Report *report)
{
    char name[128];
    json_open(json, NULL);
    json_open(json, "machine");
    json_put_text(json, "processor", processor(name));
    json_put_integer(json, "processors", workers_processors());
    json_put_text(json, "blas", peak_library());
    json_close(json);
    json_put_text(json, "corpus", report->corpus);
    if (report->trains) {
        json_open_array(json, "train");
        for (int i = 0; i < report->trains; i++) training_json(json, &report->train[i]);
        json_close_array(json);
    }
    json_close(json);
    fputc('\n', json->out);
}

bool report_json(const Report *report, const char *path, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    JsonWriter json = {.out = open_memstream(&text, &size), .indent = 2};
    bool good = json.out;
    if (good) whole_json(&json, report);
    if (good) good = fclose(json.out) == 0;
    if (!good) error_set(error, "not enough memory for '%s'", path);
    good = good && file_replace(path, text, size, error);
    free(text);
    return good;
}
