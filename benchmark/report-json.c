/* report-json.c -- the results for programs; see report.h. */
#include "benchmark/report.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/workers.h"
#include "benchmark/peak.h"

static void put_rate(JsonWriter *json, const Rate *rate)
{
    json_put_real(json, "seconds", rate->seconds);
    json_put_real(json, "gflops", rate->flops / 1e9);
    json_put_real(json, "peak_gflops", rate->peak / 1e9);
    json_put_real(json, "share_of_peak", rate->share);
    json_put_real(json, "share_of_peak_median", rate->share_median);
}

static void put_training(JsonWriter *json, const TrainingResult *r)
{
    json_put_integer(json, "updates", r->rate.pieces);
    json_put_integer(json, "tokens", r->tokens);
    json_put_real(json, "tokens_per_second", r->tokens_per_second);
    put_rate(json, &r->rate);
    json_put_real(json, "resident_mb", r->memory / 1e6);
    if (r->peer.updates) {
        double peer = r->peer.tokens / r->peer.seconds;
        json_open(json, "pytorch");
        json_put_integer(json, "updates", r->peer.updates);
        json_put_real(json, "tokens_per_second", peer);
        json_put_real(json, "padding", 1 - r->peer.tokens / r->peer.places);
        json_put_real(json, "ratio", r->tokens_per_second / peer);
        json_close(json);
    }
    json_open(json, "parts");
    for (int p = 0; p < TRAINING_PARTS; p++)
        json_put_real(json, profile_names[training_parts[p]], r->part[training_parts[p]]);
    json_close(json);
}

static void put_decoding(JsonWriter *json, const DecodingRow *row)
{
    const DecodingResult *r = &row->result;
    json_open(json, NULL);
    json_put_text(json, "config", row->preset);
    json_put_integer(json, "beam", row->beam);
    json_put_text(json, "weights", row->int8 ? "int8" : "float");
    json_put_integer(json, "threads", row->threads);
    json_put_integer(json, "sentences", r->sentences);
    json_put_integer(json, "output_tokens", OUTPUT_TOKENS);
    json_put_integer(json, "passes", r->rate.pieces);
    json_put_real(json, "sentences_per_second", r->sentences_per_second);
    json_put_real(json, "tokens_per_second", r->tokens_per_second);
    put_rate(json, &r->rate);
    json_put_real(json, "resident_mb", r->memory / 1e6);
    if (r->single > 0) json_put_real(json, "single_sentence_ms", 1000 * r->single);
    json_open(json, "parts");
    for (int p = 0; p < DECODING_PARTS; p++)
        json_put_real(json, decoding_part_name(decoding_parts[p]), r->part[decoding_parts[p]]);
    json_close(json);
    json_close(json);
}

static void put_startup(JsonWriter *json, const Startup *startup)
{
    json_open(json, "startup");
    json_put_text(json, "model", startup->model);
    json_put_real(json, "translate_seconds", startup->translate);
    if (startup->dry_run > 0) json_put_real(json, "dry_run_seconds", startup->dry_run);
    json_close(json);
}

static void put_scaling(JsonWriter *json, const Scaling *scaling)
{
    json_open(json, "scaling");
    json_put_integer(json, "at_threads", scaling->threads);
    json_put_real(json, "equal_peak_gflops_a_thread", scaling_peak(scaling) / 1e9);
    for (int s = 0; s < SCALES; s++) {
        json_open_array(json, scale_keys[s]);
        for (int i = 0; i < scaling->count[s]; i++) {
            json_open(json, NULL);
            json_put_integer(json, "value", scaling->point[s][i].value);
            json_put_real(json, "tokens_per_second_at_equal_peak",
                          scaling_speed(scaling, &scaling->point[s][i]));
            put_training(json, &scaling->point[s][i].result);
            json_close(json);
        }
        json_close_array(json);
    }
    json_close(json);
}

static void put_machine(JsonWriter *json)
{
    char name[PROCESSOR_NAME];
    json_open(json, "machine");
    json_put_text(json, "processor", report_processor(name));
    json_put_integer(json, "processors", workers_processors());
    json_put_text(json, "blas", peak_library());
    json_close(json);
}

static void put_report(JsonWriter *json, const Report *report)
{
    json_open(json, NULL);
    put_machine(json);
    json_put_text(json, "corpus", report->corpus);
    if (report->trains) json_open_array(json, "train");
    for (int i = 0; i < report->trains; i++) {
        json_open(json, NULL);
        json_put_text(json, "config", report->train[i].preset);
        json_put_integer(json, "threads", report->train[i].threads);
        put_training(json, &report->train[i].result);
        json_close(json);
    }
    if (report->trains) json_close_array(json);
    if (report->decodes) json_open_array(json, "decode");
    for (int i = 0; i < report->decodes; i++) put_decoding(json, &report->decode[i]);
    if (report->decodes) json_close_array(json);
    if (report->started) put_startup(json, &report->startup);
    if (report->scaled) put_scaling(json, &report->scaling);
    json_close(json);
    fputc('\n', json->out);
}

bool report_json(const Report *report, const char *path, Error *error)
{
    char *text = NULL;
    size_t size = 0;
    JsonWriter json = {.out = open_memstream(&text, &size), .indent = 2};
    bool good = json.out;
    if (good) put_report(&json, report);
    if (good) good = fclose(json.out) == 0;
    if (!good) error_set(error, "not enough memory for '%s'", path);
    good = good && file_replace(path, text, size, error);
    free(text);
    return good;
}
