/* metrics.c -- metrics.jsonl; see metrics.h. */
#include "training/metrics.h"

#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool keep_train(Metrics *metrics, const TrainLine *line, Error *error)
{
    size_t count = (size_t)metrics->train_count;
    TrainLine *lines = realloc(metrics->train, (count + 1) * sizeof *lines);
    if (!lines) return error_set(error, "not enough memory for the lines of %s", metrics->path);
    lines[count] = *line;
    metrics->train = lines;
    metrics->train_count++;
    return true;
}

static bool keep_valid(Metrics *metrics, const ValidLine *line, Error *error)
{
    size_t count = (size_t)metrics->valid_count;
    ValidLine *lines = realloc(metrics->valid, (count + 1) * sizeof *lines);
    if (!lines) return error_set(error, "not enough memory for the lines of %s", metrics->path);
    lines[count] = *line;
    metrics->valid = lines;
    metrics->valid_count++;
    return true;
}

static void put_train(FILE *out, const TrainLine *line)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL);
    json_put_text(&json, "type", "train");
    json_put_integer(&json, "update", line->update);
    json_put_integer(&json, "epoch", line->epoch);
    json_put_real(&json, "loss", line->loss);
    json_put_real(&json, "objective", line->objective);
    json_put_real(&json, "ppl", exp(line->loss));
    json_put_real(&json, "learning_rate", line->learning_rate);
    json_put_real(&json, "gradient_norm", line->gradient_norm);
    json_put_real(&json, "tokens_per_second", line->tokens_per_second);
    json_put_real(&json, "gflops", line->gflops);
    json_put_real(&json, "seconds", line->seconds);
    json_put_real(&json, "gradient_norm_q", line->norm_q);
    json_put_real(&json, "gradient_norm_k", line->norm_k);
    json_put_real(&json, "gradient_norm_v", line->norm_v);
    json_close(&json);
    fputc('\n', out);
}

static void put_valid(FILE *out, const ValidLine *line)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL);
    json_put_text(&json, "type", "valid");
    json_put_integer(&json, "update", line->update);
    json_put_integer(&json, "epoch", line->epoch);
    json_put_real(&json, "loss", line->loss);
    json_put_real(&json, "ppl", exp(line->loss));
    json_put_real(&json, "exact", line->exact);
    json_put_real(&json, "bleu", line->bleu);
    json_put_real(&json, "chrf", line->chrf);
    json_put_real(&json, "seconds", line->seconds);
    json_close(&json);
    fputc('\n', out);
}

static double number(const Json *map, const char *key)
{
    const Json *member = json_member(map, key);
    JsonKind kind = json_kind(member);
    return kind == JSON_NUMBER || kind == JSON_WHOLE ? json_number(member) : NAN;
}

/* Takes one line of an earlier run, if it is not from after `update`. A line that is no JSON (the
 * last one of a run that was killed) is dropped. */
static bool take(Metrics *metrics, const char *text, size_t length, long long update,
                 Error *error)
{
    Json *json = json_parse(text, length, metrics->path, NULL);
    const char *type = json_text(json_member(json, "type"));
    long long at = json_whole(json_member(json, "update"));
    long long epoch = json_whole(json_member(json, "epoch"));
    bool good = true;
    if (type && at > 0 && at <= update && !strcmp(type, "train")) {
        TrainLine line = {at,
                          epoch,
                          number(json, "loss"),
                          number(json, "objective"),
                          number(json, "learning_rate"),
                          number(json, "gradient_norm"),
                          number(json, "tokens_per_second"),
                          number(json, "gflops"),
                          number(json, "seconds"),
                          number(json, "gradient_norm_q"),
                          number(json, "gradient_norm_k"),
                          number(json, "gradient_norm_v")};
        good = keep_train(metrics, &line, error);
    } else if (type && at > 0 && at <= update && !strcmp(type, "valid")) {
        ValidLine line = {at,
                          epoch,
                          number(json, "loss"),
                          number(json, "exact"),
                          number(json, "bleu"),
                          number(json, "chrf"),
                          number(json, "seconds")};
        good = keep_valid(metrics, &line, error);
    }
    json_free(json);
    return good;
}

static bool take_all(Metrics *metrics, long long update, Error *error)
{
    size_t length;
    char *text = file_read(metrics->path, (size_t)1 << 30, &length, NULL);
    bool good = true;
    for (char *line = text, *end; line && good && line < text + length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + length - line));
        if (!end) end = text + length;
        good = take(metrics, line, (size_t)(end - line), update, error);
    }
    free(text);
    return good;
}

/* Both kinds of line, in the order of their updates. */
static bool write_again(const Metrics *metrics, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return error_set(error, "not enough memory for the lines of %s", metrics->path);
    int t = 0, v = 0;
    while (t < metrics->train_count || v < metrics->valid_count) {
        if (v == metrics->valid_count ||
            (t < metrics->train_count && metrics->train[t].update <= metrics->valid[v].update))
            put_train(out, &metrics->train[t++]);
        else put_valid(out, &metrics->valid[v++]);
    }
    fclose(out);
    bool good = text ? file_replace(metrics->path, text, size, error)
                     : error_set(error, "not enough memory for the lines of %s", metrics->path);
    free(text);
    return good;
}

bool metrics_open(Metrics *metrics, const char *path, long long update, Error *error)
{
    *metrics = (Metrics){.path = strdup(path)};
    if (!metrics->path) return error_set(error, "not enough memory to open '%s'", path);
    bool good =
        (update == 0 || take_all(metrics, update, error)) && write_again(metrics, error);
    if (good && !(metrics->file = fopen(path, "a")))
        good = error_set(error, "cannot write '%s': %s", path, strerror(errno));
    if (!good) metrics_close(metrics);
    return good;
}

static bool flush(const Metrics *metrics, Error *error)
{
    if (fflush(metrics->file) == 0) return true;
    return error_set(error, "cannot write '%s': %s", metrics->path, strerror(errno));
}

bool metrics_train(Metrics *metrics, const TrainLine *line, Error *error)
{
    put_train(metrics->file, line);
    return flush(metrics, error) && keep_train(metrics, line, error);
}

bool metrics_valid(Metrics *metrics, const ValidLine *line, Error *error)
{
    put_valid(metrics->file, line);
    return flush(metrics, error) && keep_valid(metrics, line, error);
}

double metrics_seconds(const Metrics *metrics)
{
    double train = 0, valid = 0;
    if (metrics->train_count) train = metrics->train[metrics->train_count - 1].seconds;
    if (metrics->valid_count) valid = metrics->valid[metrics->valid_count - 1].seconds;
    return fmax(train, valid);  // fmax passes over NaN
}

void metrics_close(Metrics *metrics)
{
    if (metrics->file) fclose(metrics->file);
    free(metrics->path);
    free(metrics->train);
    free(metrics->valid);
    *metrics = (Metrics){0};
}
