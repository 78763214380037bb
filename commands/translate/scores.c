/* scores.c -- BLEU and chrF against a file of references; see scores.h. */
#include "commands/translate/scores.h"

#include <string.h>

#include "base/json.h"
#include "commands/command.h"
#include "commands/translate/input.h"

bool scores_add_line(Scores *scores, const char *hypothesis, TextReader *reference,
                     Error *error)
{
    const char *line;
    size_t length;
    if (!partner_next(reference, &line, &length, "translations", error)) return false;
    scores->lines++;
    if (length > CODEPOINTS_LIMIT || strlen(hypothesis) > CODEPOINTS_LIMIT) {
        command_say(stderr, "%s:%zu: more than %d bytes are too long to score: left out",
                    reference->name, reference->line, CODEPOINTS_LIMIT);
        return true;
    }
    return bleu_add(&scores->bleu, hypothesis, line, error) &&
           chrf_add(&scores->chrf, hypothesis, line, error);
}

bool scores_add_file(Scores *scores, const char *path, TextReader *reference, Error *error)
{
    TextReader hypothesis;
    const char *line;
    size_t length;
    TextResult result = TEXT_LINE;
    if (!text_open(&hypothesis, path, error)) return false;
    hypothesis.replace = reference->replace;
    while (result == TEXT_LINE) {
        result = text_next(&hypothesis, &line, &length, error);
        if (result == TEXT_LINE && !scores_add_line(scores, line, reference, error))
            result = TEXT_ERROR;
    }
    reference->replaced += hypothesis.replaced;
    text_close(&hypothesis);
    return result == TEXT_END && partner_end(reference, scores->lines, "translations", error);
}

void scores_print(const Scores *scores, FILE *out)
{
    char bleu[256], chrf[256], words[256];
    Chrf characters = scores->chrf;
    characters.word_order = 0;  // what counts chrF2++ counts chrF2
    bleu_format(&scores->bleu, bleu, sizeof bleu);
    chrf_format(&characters, chrf, sizeof chrf);
    chrf_format(&scores->chrf, words, sizeof words);
    fprintf(out, "%s\n%s\n%s\n", bleu, chrf, words);
}

void scores_print_json(const Scores *scores, FILE *out)
{
    char signature[128];
    BleuScore bleu = bleu_score(&scores->bleu);
    Chrf characters = scores->chrf;
    characters.word_order = 0;
    JsonWriter json = {.out = out, .lines = true};
    bleu_signature(&scores->bleu, signature, sizeof signature);
    json_open(&json, NULL);
    json_put_real(&json, "bleu", bleu.score);
    json_put_real(&json, "chrf2", chrf_score(&characters));
    json_put_real(&json, "chrf2pp", chrf_score(&scores->chrf));
    json_put_reals(&json, "precisions", bleu.precisions, BLEU_ORDER);
    json_put_real(&json, "bp", bleu.brevity_penalty);
    json_put_text(&json, "signature", signature);
    json_close(&json);
}
