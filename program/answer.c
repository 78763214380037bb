/* answer.c -- text, n-best list, or JSON; see answer.h. */
#include "program/answer.h"

#include "base/json.h"

#include <stdlib.h>

/* The members of a hypothesis, into the object that is open. */
static void put_hypothesis(JsonWriter *json, const Hypothesis *hypothesis, const char *text,
                           const Tokenizer *tokenizer)
{
    json_put_text(json, "text", text);
    json_put_real(json, "score", hypothesis->score);
    json_put_real(json, "log_probability", hypothesis->log_probability);
    json_open_array(json, "tokens");
    for (int t = 0; t < hypothesis->length; t++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, hypothesis->id[t]));
    json_close_array(json);
}

static void write_json(const AnswerFormat *format, const Hypothesis *hypothesis,
                       char *const *text, int count, long long line)
{
    JsonWriter json = {.out = format->out};
    json_open(&json, NULL);
    json_put_integer(&json, "line", line);
    put_hypothesis(&json, &hypothesis[0], text[0], format->tokenizer);
    if (format->several) {
        json_open_array(&json, "n_best");
        for (int h = 0; h < count; h++) {
            json_open(&json, NULL);
            put_hypothesis(&json, &hypothesis[h], text[h], format->tokenizer);
            json_close(&json);
        }
        json_close_array(&json);
    }
    json_close(&json);
    fputc('\n', format->out);
}

static void write_text(const AnswerFormat *format, const Hypothesis *hypothesis,
                       char *const *text, int count, long long line)
{
    if (!format->several)
        fprintf(format->out, "%s\n", text[0]);
    else
        for (int h = 0; h < count; h++)
            fprintf(format->out, "%lld ||| %s ||| %.4f\n", line, text[h], hypothesis[h].score);
}

bool answer_write(const AnswerFormat *format, const Translation *translation, long long line,
                  bool empty, char **best, Error *error)
{
    static const Hypothesis nothing = {0};
    const Hypothesis *hypothesis = empty ? &nothing : translation->hypothesis;
    int count = empty ? 1 : format->several ? translation->count : 1, decoded = 0;
    char **text = calloc((size_t)count, sizeof *text);
    bool good = text || error_set(error, "not enough memory for %d texts", count);
    for (; good && decoded < count; decoded++)
        good = tokenizer_decode(format->tokenizer, &text[decoded], hypothesis[decoded].id,
                                (size_t)hypothesis[decoded].length, error);
    if (good && format->json)
        write_json(format, hypothesis, text, count, line);
    else if (good)
        write_text(format, hypothesis, text, count, line);
    *best = good ? text[0] : NULL;
    for (int h = good ? 1 : 0; text && h < count; h++) free(text[h]);
    free(text);
    return good;
}
