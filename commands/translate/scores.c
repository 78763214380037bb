/* scores.c -- BLEU and chrF against a file of references; see scores.h. */
#include "commands/translate/scores.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "commands/command.h"
#include "commands/translate/input.h"
#include "scores/composed.h"

static char *copy(const Scores *scores, const char *text, size_t length)
{
    return scores->composed ? composed(text, length) : strndup(text, length);
}

bool scores_open(Scores *scores, const Request *r, Error *error)
{
    *scores = (Scores){
        .bleu = {.tokenization = (Tokenization)r->bleu_tokenize, .lowercase = r->lowercase},
        .chrf = {.word_order = CHRF_WORD_ORDER, .lowercase = r->lowercase},
        .composed = !r->hypothesis};
    bool good = text_open(&scores->reference, r->reference, error);
    scores->reference.replace = r->invalid == TEXT_REPLACE;
    return good;
}

bool scores_add(Scores *scores, const char *hypothesis)
{
    const char *line;
    size_t length;
    TextReader *reference = &scores->reference;
    Error *failure = &scores->failure;
    if (failure->text[0] || !partner_next(reference, &line, &length, "translations", failure))
        return false;
    scores->bytes += length;
    for (size_t i = 0; i < length; i++) scores->spaces += line[i] == ' ';
    if (length > CODEPOINTS_LIMIT || strlen(hypothesis) > CODEPOINTS_LIMIT) {
        command_say(stderr, "%s:%zu: more than %d bytes are too long to score: left out",
                    reference->name, reference->line, CODEPOINTS_LIMIT);
        return true;
    }
    char *own = copy(scores, hypothesis, strlen(hypothesis)),
         *other = copy(scores, line, length);
    bool good = (own && other) || error_memory(failure, "to score translations");
    good = good && bleu_add(&scores->bleu, own, other, failure) &&
           chrf_add(&scores->chrf, own, other, failure);
    free(own);
    free(other);
    return good;
}

bool scores_add_file(Scores *scores, const char *path, Error *error)
{
    TextReader hypothesis;
    const char *line;
    size_t length;
    TextResult result;
    if (!text_open(&hypothesis, path, error)) return false;
    hypothesis.replace = scores->reference.replace;
    do result = text_next(&hypothesis, &line, &length, error);
    while (result == TEXT_LINE && scores_add(scores, line));
    scores->reference.replaced += hypothesis.replaced;
    text_close(&hypothesis);
    return result != TEXT_ERROR;
}

static void print_text(const Scores *scores, FILE *out)
{
    char bleu[256], chrf[256], words[256];
    Chrf characters = scores->chrf;
    characters.word_order = 0;  // what counts chrF2++ counts chrF2
    bleu_format(&scores->bleu, bleu, sizeof bleu);
    chrf_format(&characters, chrf, sizeof chrf);
    chrf_format(&scores->chrf, words, sizeof words);
    fprintf(out, "%s\n%s\n%s\n", bleu, chrf, words);
}

static void print_json(const Scores *scores, FILE *out)
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

/* BLEU of a language without spaces counts sentences, unless it is of characters. */
static void advise(const Scores *scores)
{
    enum { FEW = 200 };
    if (scores->bleu.tokenization != TOKENIZATION_CHAR && scores->bytes >= FEW &&
        scores->spaces * 40 < scores->bytes)
        command_say(stderr,
                    "warning: the references have hardly any spaces, and BLEU counts words: "
                    "--bleu-tokenize char counts characters");
}

bool scores_end(Scores *scores, FILE *out, bool json, Error *error)
{
    if (scores->failure.text[0]) return *error = scores->failure, false;
    if (!partner_end(&scores->reference, "translations", error)) return false;
    advise(scores);
    (json ? print_json : print_text)(scores, out);
    return true;
}
