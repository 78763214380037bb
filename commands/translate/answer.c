/* answer.c -- text, n-best list, or JSON; see answer.h. */
#include "commands/translate/answer.h"

#include "base/json.h"

#include <stdlib.h>

#include "inference/copying.h"

/* Hypotheses with all that is written of them. */
typedef struct Answers {
    const Hypothesis *hypothesis;  // [count]
    char **text;                   // [count]
    char *const *links;            // [count] or NULL
    int count;
} Answers;

/* The members of a hypothesis, into the object that is open. */
static void put_hypothesis(JsonWriter *json, const Answers *answers, int h,
                           const Tokenizer *tokenizer)
{
    const Hypothesis *hypothesis = &answers->hypothesis[h];
    json_put_text(json, "text", answers->text[h]);
    json_put_real(json, "score", hypothesis->score);
    json_put_real(json, "log_probability", hypothesis->log_probability);
    json_open_array(json, "tokens");
    for (int t = 0; t < hypothesis->length; t++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, hypothesis->id[t]));
    json_close_array(json);
    if (answers->links) json_put_text(json, "alignment", answers->links[h]);
}

static void write_json(const AnswerFormat *format, const Answers *answers, long long number)
{
    const Tokenizer *tokenizer = format->bundle->vocabulary.tokenizer[TARGET];
    JsonWriter json = {.out = format->out};
    json_open(&json, NULL);
    json_put_integer(&json, "line", number);
    put_hypothesis(&json, answers, 0, tokenizer);
    if (format->several) json_open_array(&json, "n_best");
    for (int h = 0; format->several && h < answers->count; h++) {
        json_open(&json, NULL);
        put_hypothesis(&json, answers, h, tokenizer);
        json_close(&json);
    }
    if (format->several) json_close_array(&json);
    json_close(&json);
    fputc('\n', format->out);
}

static void write_text(const AnswerFormat *format, const Answers *answers, long long number)
{
    for (int h = 0; h < answers->count; h++) {
        if (format->several)
            fprintf(format->out, "%lld ||| %s ||| %.4f", number, answers->text[h],
                    answers->hypothesis[h].score);
        else fputs(answers->text[h], format->out);
        if (answers->links) fprintf(format->out, " ||| %s", answers->links[h]);
        fputc('\n', format->out);
    }
}

bool answer_write(const AnswerFormat *format, const Translation *translation,
                  char *const *links, int s, long long number, char **best, Error *error)
{
    static const Hypothesis nothing = {0};
    Answers answers = {.hypothesis = translation ? translation->hypothesis : &nothing,
                       .links = translation ? links : NULL,
                       .count = translation && format->several ? translation->count : 1};
    int decoded = 0;
    answers.text = calloc((size_t)answers.count, sizeof *answers.text);
    bool good =
        answers.text || error_set(error, "not enough memory for %d texts", answers.count);
    for (; good && decoded < answers.count; decoded++)
        good = copying_decode(&answers.text[decoded], format->bundle, format->lines, s,
                              &answers.hypothesis[decoded], error);
    if (good && format->out) (format->json ? write_json : write_text)(format, &answers, number);
    *best = good ? answers.text[0] : NULL;
    for (int h = good ? 1 : 0; answers.text && h < answers.count; h++) free(answers.text[h]);
    free(answers.text);
    return good;
}
