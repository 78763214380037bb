/* metrics.c -- metrics.jsonl; see metrics.h. */
#include "training/metrics.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/textstream.h"

enum { TRAIN = 1 << METRICS_TRAIN, VALID = 1 << METRICS_VALID };

/* The numbers of a line, in their order in the file. */
static const struct {
    const char *key;
    size_t offset;
    int kinds;  // of the lines that have it
} FIELDS[] = {
    {"loss", offsetof(MetricsLine, loss), TRAIN | VALID},
    {"objective", offsetof(MetricsLine, objective), TRAIN},
    {"ppl", offsetof(MetricsLine, ppl), TRAIN | VALID},
    {"learning_rate", offsetof(MetricsLine, learning_rate), TRAIN},
    {"gradient_norm", offsetof(MetricsLine, gradient_norm), TRAIN},
    {"tokens_per_second", offsetof(MetricsLine, tokens_per_second), TRAIN},
    {"gflops", offsetof(MetricsLine, gflops), TRAIN},
    {"exact", offsetof(MetricsLine, exact), VALID},
    {"bleu", offsetof(MetricsLine, bleu), VALID},
    {"chrf", offsetof(MetricsLine, chrf), VALID},
    {"seconds", offsetof(MetricsLine, seconds), TRAIN | VALID},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

static double *field(const MetricsLine *line, int f)
{
    return (double *)((char *)line + FIELDS[f].offset);
}

static void put(FILE *out, const MetricsLine *line)
{
    JsonWriter json = {.out = out, .lines = true};
    json_open(&json, NULL);
    json_put_text(&json, "type", line->kind == METRICS_TRAIN ? "train" : "valid");
    json_put_integer(&json, "update", line->update);
    json_put_integer(&json, "epoch", line->epoch);
    for (int f = 0; f < FIELD_COUNT; f++)
        if (FIELDS[f].kinds & 1 << line->kind)
            json_put_real(&json, FIELDS[f].key, *field(line, f));
    json_close(&json);
}

static bool keep(Metrics *m, const MetricsLine *line, Error *error)
{
    if (!GROW(m->line, m->size, m->count + 1))
        return error_memory(error, "for the lines of %s", m->path);
    m->line[m->count] = *line;
    m->line[m->count++].ppl = exp(line->loss);
    m->seconds = fmax(m->seconds, line->seconds);  // fmax ignores NaN
    return true;
}

/* Keeps a line of an interrupted run unless it is of an update after last[kind]. One that is no
 * line of metrics (the last one, if the run was killed) is left out. */
static bool read_line(Metrics *metrics, const char *text, size_t length, const long long *last,
                      Error *error)
{
    json_t *json = json_parse(text, length, metrics->path, NULL);
    const char *type = json_string_value(json_object_get(json, "type"));
    bool train = type && !strcmp(type, "train"), valid = type && !strcmp(type, "valid");
    MetricsLine line = {.kind = valid ? METRICS_VALID : METRICS_TRAIN,
                        .update = json_integer_value(json_object_get(json, "update")),
                        .epoch = json_integer_value(json_object_get(json, "epoch"))};
    for (int f = 0; f < FIELD_COUNT; f++) {
        const json_t *member = json_object_get(json, FIELDS[f].key);
        *field(&line, f) = json_is_number(member) ? json_number_value(member) : NAN;
    }
    json_decref(json);
    metrics->left_out += length && !train && !valid;
    bool wanted = (train || valid) && line.update >= train && line.update <= last[line.kind];
    return !wanted || keep(metrics, &line, error);
}

static bool read_lines(Metrics *metrics, const long long *last, Error *error)
{
    size_t length;
    char *text = file_read_or_empty(metrics->path, (size_t)1 << 30, &length, error);
    bool good = text;
    for (char *line = text, *end; good && line < text + length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + length - line));
        if (!end) end = text + length;
        good = read_line(metrics, line, (size_t)(end - line), last, error);
    }
    free(text);
    return good;
}

bool metrics_write(Metrics *metrics, Error *error)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    for (size_t i = 0; out && i < metrics->count; i++) put(out, &metrics->line[i]);
    if (!file_replace_text(metrics->path, textstream_close(&stream), error)) return false;
    if (!(out = file_append(metrics->path, error))) return false;
    if (metrics->file) fclose(metrics->file);
    metrics->file = out;
    return true;
}

bool metrics_open(Metrics *metrics, const char *path, long long update, long long validated,
                  Error *error)
{
    const long long last[] = {[METRICS_TRAIN] = update, [METRICS_VALID] = validated};
    *metrics = (Metrics){.path = strdup(path)};
    if (!metrics->path) return error_memory(error, "to open '%s'", path);
    if ((!update || read_lines(metrics, last, error)) && metrics_write(metrics, error))
        return true;
    metrics_close(metrics);
    return false;
}

bool metrics_add(Metrics *metrics, const MetricsLine *line, Error *error)
{
    if (!keep(metrics, line, error)) return false;
    put(metrics->file, &metrics->line[metrics->count - 1]);
    return stream_flush(metrics->file, metrics->path, error);
}

int metrics_column(double *number, const Metrics *metrics, MetricsKind kind, const char *key)
{
    int f = 0, count = 0;
    while (f < FIELD_COUNT && strcmp(FIELDS[f].key, key)) f++;
    for (size_t i = 0; i < metrics->count; i++) {
        const MetricsLine *line = &metrics->line[i];
        if (line->kind != kind) continue;
        if (number) number[count] = f < FIELD_COUNT ? *field(line, f) : (double)line->update;
        count++;
    }
    return count;
}

void metrics_close(Metrics *metrics)
{
    if (metrics->file) fclose(metrics->file);
    free(metrics->path);
    free(metrics->line);
    *metrics = (Metrics){0};
}
