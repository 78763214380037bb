/* likelihood.c -- pairs of lines → ids → log probabilities, by chunks; see likelihood.h. */
#include "commands/translate/likelihood.h"

#include "base/file.h"
#include "commands/command.h"
#include "commands/translate/view.h"
#include "inference/scoring.h"

enum { CHUNK = 2000 };

typedef struct Likelihood {
    Input *input;
    const Models *models;
    Workers *workers;
    bool json;
    /* the chunk */
    IdLines source, target;
    bool out[CHUNK];
    double *each;  // [target rows] ln p of a token
    /* results */
    double log_probability;              // Σ, nats
    long long tokens, scored, left_out;  // the last two count pairs
} Likelihood;

/* Reads the pairs that are there without waiting. Pairs before an error are kept. */
static TextResult read_chunk(Likelihood *l, Error *error)
{
    TextResult result;
    idlines_clear(&l->source);
    idlines_clear(&l->target);
    do
        result = input_next_pair(l->input, &l->models->bundle[0], &l->source, &l->target,
                                 &l->out[l->source.count], error);
    while (result == TEXT_LINE && l->source.count < CHUNK && input_ready(l->input));
    if (l->source.count > l->target.count) l->source.count--;  // without its target
    return result;
}

static void put_unknown(JsonWriter *json, const char *key, const IdLines *lines, int s)
{
    StringList words = {0};
    Error error;
    unknown_words(&words, lines, s, s + 1, &error);
    json_put_texts(json, key, words.item, words.count);
    strings_free(&words);
}

/* Prints pair s of the chunk, with the target tokens first .. end-1. */
static void print_json(const Likelihood *l, int s, int first, int end, double sum)
{
    JsonWriter json = {.out = stdout, .lines = true};
    json_open(&json, NULL);
    json_put_integer(&json, "line", l->scored + l->left_out + 1);
    put_unknown(&json, "unknown", &l->source, s);
    put_unknown(&json, "unknown_target", &l->target, s);
    json_put_real(&json, "log_probability", sum);
    view_put_tokens(&json, &l->models->bundle[0], l->target.ids.id + first, l->each + first,
                    end - first);
    json_close(&json);
}

static void answer(Likelihood *l, int s)
{
    bool out = l->out[s];
    int first = l->target.start[s], end = out ? first : l->target.start[s + 1];
    double sum = 0;
    for (int t = first; t < end; t++) sum += l->each[t];
    if (l->json) print_json(l, s, first, end, out ? NAN : sum);
    else if (out || isnan(sum)) puts("nan");
    else printf("%.6f\n", sum);
    l->log_probability += sum;
    l->tokens += end - first;
    out ? l->left_out++ : l->scored++;
}

static bool score_chunk(Likelihood *l, Error *error)
{
    Packed source = idlines_packed(&l->source), target = idlines_packed(&l->target);
    double *each = realloc(l->each, (size_t)target.rows * sizeof *each);
    if (!each) return error_memory(error, "to score %d tokens", target.rows);
    l->each = each;
    if (!scoring_run(each, NULL, &l->models->ensemble, &source, &target, l->workers, &file_stop,
                     error))
        return false;
    for (int s = 0; s < source.sentences; s++) answer(l, s);
    return stream_flush(stdout, "the scores", error);
}

static bool print_end(const Likelihood *l, Error *error)
{
    FILE *news = l->input->news;
    double loss = l->tokens ? -l->log_probability / (double)l->tokens : NAN;
    if (l->json) {
        JsonWriter json = {.out = stdout, .lines = true};
        json_open(&json, NULL);
        json_put_integer(&json, "pairs", l->scored);
        json_put_integer(&json, "tokens", l->tokens);
        json_put_real(&json, "loss", loss);
        json_put_real(&json, "perplexity", exp(loss));
        json_close(&json);
    }
    if (news && l->tokens)
        fprintf(news, "perplexity %s (loss %.6f nats a token) of %lld pairs, %lld tokens\n",
                perplexity_text((char[PERPLEXITY_TEXT]){""}, loss, 4), loss, l->scored,
                l->tokens);
    if (news && l->left_out)
        fprintf(news, "%lld %s left out, and not counted\n", l->left_out,
                l->left_out == 1 ? "pair is" : "pairs are");
    return stream_flush(stdout, "the scores", error);
}

bool likelihood_run(Input *input, const Models *models, Workers *workers, bool json,
                    Error *error)
{
    Likelihood l = {.input = input,
                    .models = models,
                    .workers = workers,
                    .json = json,
                    .source.find_unknown = true,
                    .target.find_unknown = true};
    TextResult result = TEXT_LINE;
    bool good = true;
    while (good && result == TEXT_LINE && !file_stop) {
        result = read_chunk(&l, error);
        if (l.source.count) good = score_chunk(&l, result == TEXT_ERROR ? NULL : error);
    }
    good = good && result != TEXT_ERROR && (file_stop || input_end_pairs(input, error)) &&
           print_end(&l, error);
    idlines_free(&l.source);
    idlines_free(&l.target);
    free(l.each);
    return good;
}
