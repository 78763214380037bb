/* likelihood.c -- chunk by chunk: pairs of lines → ids → log probabilities; see likelihood.h. */
#include "program/likelihood.h"

#include "base/json.h"
#include "program/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2000 };

typedef struct Pairs {
    IdLines source, target;
    bool too_long[CHUNK];
    double *each;  // [target rows] ln p of a token
} Pairs;

static bool add_pair(Likelihood *l, Pairs *pairs, const char *line, size_t length, Error *error)
{
    const char *target;
    size_t target_length, cut, target_cut;
    int i = pairs->source.count;
    if (!input_target(&target, &target_length, l->input, l->target, line, &length, "--score",
                      error) ||
        !bundle_encode(l->bundle, &pairs->source, line, length, &cut, error) ||
        !bundle_encode_target(l->bundle, &pairs->target, target, target_length, &target_cut,
                              error))
        return false;
    pairs->too_long[i] = cut || target_cut;
    if ((cut || target_cut) && l->news)
        fprintf(l->news,
                "%s: line %lld has %zu tokens on the %s side, and the model takes "
                "%d: not scored\n",
                command_name(), l->input->lines, cut ? cut : target_cut, cut ? "source" : "target",
                l->bundle->max_length - 1);
    return true;
}

/* What can be had without waiting. *failed, too, may leave pairs that come before. */
static void read_pairs(Likelihood *l, Pairs *pairs, bool *failed, Error *error)
{
    idlines_clear(&pairs->source);
    idlines_clear(&pairs->target);
    do {
        const char *line;
        size_t length;
        TextResult result = input_next(l->input, &line, &length, error);
        if (result == TEXT_END) return;
        *failed = result == TEXT_ERROR || !add_pair(l, pairs, line, length, error);
    } while (!*failed && pairs->source.count < CHUNK && input_ready(l->input));
    if (pairs->source.count > pairs->target.count) pairs->source.count--;  // its target failed
}

static void print_json(const Likelihood *l, const Pairs *pairs, int s, double sum)
{
    const Tokenizer *tokenizer = l->bundle->vocabulary.tokenizer[TARGET];
    int first = pairs->target.start[s], end = pairs->target.start[s + 1];
    JsonWriter json = {.out = l->out};
    json_open(&json, NULL);
    json_put_integer(&json, "line", l->pairs + l->too_long + 1);
    json_put_real(&json, "log_probability", sum);
    json_open_array(&json, "tokens");
    for (int t = first; t < end && !pairs->too_long[s]; t++)
        json_put_text(&json, NULL, tokenizer_piece(tokenizer, pairs->target.ids.id[t]));
    json_close_array(&json);
    json_open_array(&json, "log_probabilities");
    for (int t = first; t < end && !pairs->too_long[s]; t++)
        json_put_real(&json, NULL, pairs->each[t]);
    json_close_array(&json);
    json_close(&json);
    fputc('\n', l->out);
}

static void answer(Likelihood *l, const Pairs *pairs, int s)
{
    int first = pairs->target.start[s], end = pairs->target.start[s + 1];
    double sum = 0;
    for (int t = first; t < end; t++) sum += pairs->each[t];
    if (pairs->too_long[s]) sum = NAN;
    if (l->json)
        print_json(l, pairs, s, sum);
    else if (isnan(sum))
        fputs("nan\n", l->out);
    else
        fprintf(l->out, "%.6f\n", sum);
    if (pairs->too_long[s]) {
        l->too_long++;
        return;
    }
    l->log_probability += sum;
    l->tokens += end - first;
    l->pairs++;
}

static bool score_pairs(Likelihood *l, Pairs *pairs, const volatile sig_atomic_t *stop,
                        Error *error)
{
    Packed source = idlines_packed(&pairs->source), target = idlines_packed(&pairs->target);
    double *each = realloc(pairs->each, (size_t)target.rows * sizeof *each);
    if (!each) return error_set(error, "not enough memory to score %d tokens", target.rows);
    pairs->each = each;
    if (!scoring_run(each, l->ensemble, &source, &target, l->workers, stop, error))
        return false;
    for (int s = 0; s < source.sentences; s++) answer(l, pairs, s);
    return fflush(l->out) == 0 ||
           error_set(error, "cannot write the scores: %s", strerror(errno));
}

/* The last line: what the corpus says. */
static void print_end(const Likelihood *l)
{
    double loss = l->tokens ? -l->log_probability / (double)l->tokens : NAN;
    if (l->json) {
        JsonWriter json = {.out = l->out};
        json_open(&json, NULL);
        json_put_integer(&json, "pairs", l->pairs);
        json_put_integer(&json, "tokens", l->tokens);
        json_put_real(&json, "loss", loss);
        json_put_real(&json, "perplexity", exp(loss));
        json_close(&json);
        fputc('\n', l->out);
    }
    if (l->news && l->tokens)
        fprintf(l->news,
                "perplexity %.4f (loss %.6f nats a token) of %lld pairs, %lld tokens\n",
                exp(loss), loss, l->pairs, l->tokens);
    if (l->news && l->too_long)
        fprintf(l->news, "%lld pairs are too long for the model, and not counted\n",
                l->too_long);
}

static bool check_end(const Likelihood *l, Error *error)
{
    const char *line;
    size_t length;
    TextResult result = l->target ? text_next(l->target, &line, &length, error) : TEXT_END;
    if (result == TEXT_LINE)
        return error_set(error,
                         "'%s' has more lines than the %lld sources: they must match line "
                         "by line",
                         l->target->name, l->input->lines);
    return result == TEXT_END;
}

bool likelihood_run(Likelihood *l, const volatile sig_atomic_t *stop, Error *error)
{
    Pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs) return error_set(error, "not enough memory to score");
    bool good = true, failed = false;
    do {
        read_pairs(l, pairs, &failed, error);
        if (pairs->source.count) good = score_pairs(l, pairs, stop, failed ? NULL : error);
    } while (good && !failed && pairs->source.count && !*stop);
    good = good && !failed && (*stop || check_end(l, error));
    if (good) {
        print_end(l);
        good = fflush(l->out) == 0 ||
               error_set(error, "cannot write the scores: %s", strerror(errno));
    }
    idlines_free(&pairs->source);
    idlines_free(&pairs->target);
    free(pairs->each);
    free(pairs);
    return good || *stop;
}
