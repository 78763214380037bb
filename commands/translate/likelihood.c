/* likelihood.c -- pairs of lines → ids → log probabilities, by chunks; see likelihood.h. */
#include "commands/translate/likelihood.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 2000 };

typedef struct Chunk {
    IdLines source, target;
    bool too_long[CHUNK];
    double *each;  // [target rows] ln p of a token
} Chunk;

/* Reads the pairs that are there without waiting. Pairs before an error are kept (*failed). */
static void read_pairs(Likelihood *l, Chunk *chunk, bool *failed, Error *error)
{
    idlines_clear(&chunk->source);
    idlines_clear(&chunk->target);
    do {
        const char *line;
        size_t length;
        TextResult result = input_next(l->pairs.input, &line, &length, error);
        if (result == TEXT_END) return;
        *failed = result == TEXT_ERROR ||
                  !pairs_add(&l->pairs, &chunk->source, &chunk->target,
                             &chunk->too_long[chunk->source.count], line, length, error);
    } while (!*failed && chunk->source.count < CHUNK && input_ready(l->pairs.input));
    if (chunk->source.count > chunk->target.count) chunk->source.count--;  // without its target
}

static void print_json(const Likelihood *l, const Chunk *chunk, int s, double sum)
{
    const Tokenizer *tokenizer = l->pairs.bundle->vocabulary.tokenizer[TARGET];
    int first = chunk->target.start[s], end = chunk->target.start[s + 1];
    JsonWriter json = {.out = l->out};
    json_open(&json, NULL);
    json_put_integer(&json, "line", l->scored + l->too_long + 1);
    json_put_real(&json, "log_probability", sum);
    json_open_array(&json, "tokens");
    for (int t = first; t < end && !chunk->too_long[s]; t++)
        json_put_text(&json, NULL, tokenizer_piece(tokenizer, chunk->target.ids.id[t]));
    json_close_array(&json);
    json_open_array(&json, "log_probabilities");
    for (int t = first; t < end && !chunk->too_long[s]; t++)
        json_put_real(&json, NULL, chunk->each[t]);
    json_close_array(&json);
    json_close(&json);
    fputc('\n', l->out);
}

static void answer(Likelihood *l, const Chunk *chunk, int s)
{
    int first = chunk->target.start[s], end = chunk->target.start[s + 1];
    double sum = 0;
    for (int t = first; t < end; t++) sum += chunk->each[t];
    if (chunk->too_long[s]) sum = NAN;
    if (l->json) print_json(l, chunk, s, sum);
    else if (isnan(sum)) fputs("nan\n", l->out);
    else fprintf(l->out, "%.6f\n", sum);
    if (chunk->too_long[s]) {
        l->too_long++;
        return;
    }
    l->log_probability += sum;
    l->tokens += end - first;
    l->scored++;
}

static bool score_pairs(Likelihood *l, Chunk *chunk, const volatile sig_atomic_t *stop,
                        Error *error)
{
    Packed source = idlines_packed(&chunk->source), target = idlines_packed(&chunk->target);
    double *each = realloc(chunk->each, (size_t)target.rows * sizeof *each);
    if (!each) return error_set(error, "not enough memory to score %d tokens", target.rows);
    chunk->each = each;
    if (!scoring_run(each, l->ensemble, &source, &target, l->workers, stop, error))
        return false;
    for (int s = 0; s < source.sentences; s++) answer(l, chunk, s);
    return stream_flush(l->out, "the scores", error);
}

/* Loss and perplexity of all pairs. */
static void print_end(const Likelihood *l)
{
    double loss = l->tokens ? -l->log_probability / (double)l->tokens : NAN;
    if (l->json) {
        JsonWriter json = {.out = l->out};
        json_open(&json, NULL);
        json_put_integer(&json, "pairs", l->scored);
        json_put_integer(&json, "tokens", l->tokens);
        json_put_real(&json, "loss", loss);
        json_put_real(&json, "perplexity", exp(loss));
        json_close(&json);
        fputc('\n', l->out);
    }
    if (l->pairs.news && l->tokens)
        fprintf(l->pairs.news,
                "perplexity %.4f (loss %.6f nats a token) of %lld pairs, %lld tokens\n",
                exp(loss), loss, l->scored, l->tokens);
    if (l->pairs.news && l->too_long)
        fprintf(l->pairs.news, "%lld %s too long for the model, and not counted\n", l->too_long,
                l->too_long == 1 ? "pair is" : "pairs are");
}

bool likelihood_run(Likelihood *l, const volatile sig_atomic_t *stop, Error *error)
{
    Chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return error_set(error, "not enough memory to score");
    bool good = true, failed = false;
    do {
        read_pairs(l, chunk, &failed, error);
        if (chunk->source.count) good = score_pairs(l, chunk, stop, failed ? NULL : error);
    } while (good && !failed && chunk->source.count && !*stop);
    good = good && !failed && (*stop || pairs_end(&l->pairs, l->pairs.target, error));
    if (good) {
        print_end(l);
        good = stream_flush(l->out, "the scores", error);
    }
    idlines_free(&chunk->source);
    idlines_free(&chunk->target);
    free(chunk->each);
    free(chunk);
    return good || *stop;
}
