/* answer.c -- text, n-best list or JSON; see answer.h. */
#include "commands/translate/answer.h"

#include "base/json.h"

#include <stdlib.h>

/* The members of one translation, into the object that is open. */
static void put_answer(JsonWriter *json, const AnswerText *answer, const Tokenizer *tokenizer)
{
    const Hypothesis *hypothesis = answer->hypothesis;
    json_put_text(json, "text", answer->text);
    json_put_real(json, "score", hypothesis->score);
    json_put_real(json, "log_probability", hypothesis->log_probability);
    json_open_array(json, "tokens");
    for (int t = 0; t < hypothesis->length; t++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, hypothesis->id[t]));
    json_close_array(json);
    if (answer->links) json_put_text(json, "alignment", answer->links);
}

static void write_json(const AnswerFormat *format, const AnswerText *answers, int count,
                       long long number)
{
    JsonWriter json = {.out = format->out};
    json_open(&json, NULL);
    json_put_integer(&json, "line", number);
    put_answer(&json, &answers[0], format->tokenizer);
    if (format->several) json_open_array(&json, "n_best");
    for (int h = 0; format->several && h < count; h++) {
        json_open(&json, NULL);
        put_answer(&json, &answers[h], format->tokenizer);
        json_close(&json);
    }
    if (format->several) json_close_array(&json);
    json_close(&json);
    fputc('\n', format->out);
}

void answer_write(const AnswerFormat *format, const AnswerText *answers, int count,
                  long long number)
{
    if (format->json) write_json(format, answers, count, number);
    for (int h = 0; h < count && !format->json; h++) {
        const AnswerText *answer = &answers[h];
        if (format->several) fprintf(format->out, "%lld ||| ", number);
        fputs(answer->text, format->out);
        if (format->several) fprintf(format->out, " ||| %.4f", answer->hypothesis->score);
        if (answer->links) fprintf(format->out, " ||| %s", answer->links);
        fputc('\n', format->out);
    }
}

void answers_free(AnswerText *answers, int count)
{
    for (int h = 0; answers && h < count; h++) free(answers[h].text), free(answers[h].links);
    free(answers);
}
