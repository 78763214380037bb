/* report.c -- the tables; see report.h. JSON is in report-json.c. */
#include "benchmark/report.h"

#include <string.h>

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

const char *report_processor(char text[PROCESSOR_NAME])
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
    char name[PROCESSOR_NAME];
    int count = workers_processors();
    fprintf(out, "machine  %d processor%s%s%s, %s\ncorpus   %s\n", count, count > 1 ? "s" : "",
            *report_processor(name) ? " of " : "", name, peak_library(), report->corpus);
}

/* ---- training ---- */

static void training_speed(const Report *report, FILE *out)
{
    fputs("\nTraining      threads  tokens/s  GFLOP/s  sgemm GFLOP/s  of peak  (median)  "
          "memory MB",
          out);
    fputs(report->peered ? "  PyTorch tokens/s  (padding)  ratio\n" : "\n", out);
    for (int i = 0; i < report->trains; i++) {
        const TrainingRow *row = &report->train[i];
        const TrainingResult *r = &row->result;
        const PeerResult *peer = &r->peer;
        char tokens[32];
        fprintf(out, "%-12s  %7d  %8s  %7.1f  %13.1f  %6.1f%%  %7.1f%%  %9.0f", row->preset,
                row->threads, grouped(tokens, r->tokens_per_second), r->rate.flops / 1e9,
                r->rate.peak / 1e9, 100 * r->rate.share, 100 * r->rate.share_median,
                r->memory / 1e6);
        if (report->peered)
            fprintf(out, "  %16s  %8.0f%%  %4.1f×",
                    grouped(tokens, peer->tokens / peer->seconds),
                    100 * (1 - peer->tokens / peer->places),
                    r->tokens_per_second * peer->seconds / peer->tokens);
        fputc('\n', out);
    }
}

/* The columns' order: the network's, then what surrounds it. */
const ProfilePart training_parts[TRAINING_PARTS] = {
    PROFILE_EMBEDDING, PROFILE_LINEAR,    PROFILE_ATTENTION, PROFILE_LOSS,
    PROFILE_NORM,      PROFILE_OPTIMIZER, PROFILE_WAITING,   PROFILE_OTHER};
const ProfilePart decoding_parts[DECODING_PARTS] = {
    PROFILE_ENCODER, PROFILE_LINEAR, PROFILE_ATTENTION, PROFILE_NORM,
    PROFILE_LOSS,    PROFILE_SEARCH, PROFILE_WAITING};

const char *decoding_part_name(ProfilePart part)
{
    return part == PROFILE_LOSS ? "output" : profile_names[part];
}

static void print_training_parts(const Report *report, FILE *out)
{
    fputs("\nTime, %       threads", out);
    for (int p = 0; p < TRAINING_PARTS; p++)
        fprintf(out, "  %9s", profile_names[training_parts[p]]);
    fputc('\n', out);
    for (int i = 0; i < report->trains; i++) {
        const TrainingRow *row = &report->train[i];
        fprintf(out, "%-12s  %7d", row->preset, row->threads);
        for (int p = 0; p < TRAINING_PARTS; p++)
            fprintf(out, "  %9.1f", 100 * row->result.part[training_parts[p]]);
        fputc('\n', out);
    }
}

void report_training(const Report *report, FILE *out)
{
    if (!report->trains) return;
    training_speed(report, out);
    print_training_parts(report, out);
}

/* ---- decoding, starting, scaling ---- */

static void print_search(const DecodingRow *row, FILE *out)
{
    char search[16] = "greedy";
    if (row->beam > 1) snprintf(search, sizeof search, "beam %d", row->beam);
    fprintf(out, "%-12s  %6s  %7s  %7d", row->preset, search, row->int8 ? "int8" : "float",
            row->threads);
}

static void decoding_speed(const Report *report, FILE *out)
{
    fprintf(out,
            "\nTranslating %d sentences to %d tokens each\n"
            "              search  weights  threads  sentences/s  tokens/s  GFLOP/s  sgemm "
            "GFLOP/s  of peak  (median)  memory MB  one alone, ms\n",
            report->decode[0].result.sentences, OUTPUT_TOKENS);
    for (int i = 0; i < report->decodes; i++) {
        const DecodingResult *r = &report->decode[i].result;
        char sentences[32], tokens[32];
        print_search(&report->decode[i], out);
        fprintf(out, "  %11s  %8s  %7.1f  %13.1f  %6.1f%%  %7.1f%%  %9.0f",
                grouped(sentences, r->sentences_per_second),
                grouped(tokens, r->tokens_per_second), r->rate.flops / 1e9, r->rate.peak / 1e9,
                100 * r->rate.share, 100 * r->rate.share_median, r->memory / 1e6);
        if (r->single > 0) fprintf(out, "  %13.2f", 1000 * r->single);
        fputc('\n', out);
    }
}

void report_decoding(const Report *report, FILE *out)
{
    if (!report->decodes) return;
    decoding_speed(report, out);
    fputs("\nTime, %       search  weights  threads", out);
    for (int p = 0; p < DECODING_PARTS; p++)
        fprintf(out, "  %9s", decoding_part_name(decoding_parts[p]));
    fputc('\n', out);
    for (int i = 0; i < report->decodes; i++) {
        print_search(&report->decode[i], out);
        for (int p = 0; p < DECODING_PARTS; p++)
            fprintf(out, "  %9.1f", 100 * report->decode[i].result.part[decoding_parts[p]]);
        fputc('\n', out);
    }
}

void report_startup(const Report *report, FILE *out)
{
    if (!report->started) return;
    const Startup *s = &report->startup;
    fprintf(out, "\nStarting\n./translate, to its first line   %7.1f ms  (%s; median of %d)\n",
            1000 * s->translate, s->model, STARTS);
    if (s->dry_run > 0)
        fprintf(out,
                "./train --dry-run                %7.2f s   (the corpus above; median of %d)\n",
                s->dry_run, DRY_RUNS);
}

typedef enum { ROW_VALUE, ROW_SPEED, ROW_EQUAL, ROW_SHARE, ROW_MEMORY } ScalingRow;

static void scaling_row(FILE *out, const Scaling *scaling, Scale scale, const char *title,
                        ScalingRow row)
{
    fprintf(out, "%-22s", title);
    for (int i = 0; i < scaling->count[scale]; i++) {
        const ScalePoint *point = &scaling->point[scale][i];
        const TrainingResult *r = &point->result;
        char text[32];
        if (row == ROW_VALUE) grouped(text, point->value);
        if (row == ROW_SPEED) grouped(text, r->tokens_per_second);
        if (row == ROW_EQUAL) grouped(text, scaling_speed(scaling, point));
        if (row == ROW_SHARE) snprintf(text, sizeof text, "%.1f%%", 100 * r->rate.share);
        if (row == ROW_MEMORY) grouped(text, r->memory / 1e6);
        fprintf(out, "  %8s", text);
    }
    fputc('\n', out);
}

void report_scaling(const Report *report, FILE *out)
{
    if (!report->scaled) return;
    const Scaling *scaling = &report->scaling;
    fprintf(out,
            "\nCost of training the tiny model, %d thread%s, one number changed at a time\n"
            "(at equal peak: tokens/s if sgemm had reached %.1f GFLOP/s a thread, the median "
            "of all points, at each)\n",
            scaling->threads, scaling->threads > 1 ? "s" : "", scaling_peak(scaling) / 1e9);
    for (int s = 0; s < SCALES; s++) {
        char title[64];
        snprintf(title, sizeof title, "%s%s%s", scale_titles[s], s == SCALE_THREADS ? "" : ", ",
                 s == SCALE_THREADS ? "" : scale_units[s]);
        title[0] = (char)(title[0] - 'a' + 'A');
        if (s) fputc('\n', out);
        scaling_row(out, scaling, (Scale)s, title, ROW_VALUE);
        scaling_row(out, scaling, (Scale)s, "  tokens/s", ROW_SPEED);
        scaling_row(out, scaling, (Scale)s, "  at equal peak", ROW_EQUAL);
        scaling_row(out, scaling, (Scale)s, "  of peak", ROW_SHARE);
        scaling_row(out, scaling, (Scale)s, "  memory MB", ROW_MEMORY);
    }
}
