/* scores.c -- scores of translations against files of references; see scores.h. */
#include "commands/translate/scores.h"

#include "base/grow.h"
#include "base/json.h"
#include "commands/command.h"
#include "commands/translate/input.h"

enum { BOOTSTRAP_TRIALS = 1000, RANDOMIZATION_TRIALS = 10000, LINE = 384 };

static bool keeps_segments(const Request *r)
{
    return r->hypothesis.count && (r->json || r->documents || r->hypothesis.count > 1 ||
                                   r->significance > SIGNIFICANCE_NONE);
}

bool scores_open(Scores *scores, const Request *r, const Tokenizer *tokenizer, Error *error)
{
    int systems = r->hypothesis.count ? r->hypothesis.count : 1;
    Bleu bleu = {.tokenization = (Tokenization)r->bleu_tokenize, .lowercase = r->lowercase};
    const char *const model[SIDES] = {[TARGET] = r->bleu_model};
    Vocabulary *own = &scores->vocabulary;
    *scores = (Scores){.request = r, .tokenizer = tokenizer};
    if (r->bleu_model && (!vocabulary_read(own, model, error) || !vocabulary_load(own, error)))
        return false;
    if (bleu.tokenization == TOKENIZATION_SPM) {
        bleu.split = tokenizer_split;
        bleu.context = r->bleu_model ? own->tokenizer[TARGET] : tokenizer;
    }
    scores->none = statistics_none(&bleu);
    scores->references = r->reference.count;
    scores->system = calloc((size_t)systems, sizeof *scores->system);
    scores->reference =
        calloc((size_t)(scores->references + r->hypothesis.count), sizeof *scores->reference);
    if (!scores->system || !scores->reference)
        return error_memory(error, "for the scores of %d systems", systems);
    for (; scores->systems < systems; scores->systems++)
        scores->system[scores->systems].total = scores->none;
    for (; scores->files < scores->references + r->hypothesis.count; scores->files++) {
        TextReader *reader = &scores->reference[scores->files];
        int system = scores->files - scores->references;
        const char *path =
            system < 0 ? r->reference.item[scores->files] : r->hypothesis.item[system];
        if (!text_open(reader, path, error)) return false;
        if (system >= 0) scores->system[system].name = path;
        reader->replace = r->invalid == TEXT_REPLACE;
    }
    return true;
}

void scores_close(Scores *scores)
{
    for (int f = 0; f < scores->files; f++) text_close(&scores->reference[f]);
    for (int s = 0; s < scores->systems; s++) free(scores->system[s].segment);
    for (int i = 0; i < scores->tags; i++) free(scores->tag[i].tag);
    free(scores->tag);
    free(scores->reference);
    free(scores->system);
    vocabulary_free(&scores->vocabulary);
    *scores = (Scores){0};
}

static bool add_tag(Scores *scores, const char *tag, size_t length, const Statistics *line,
                    const StringList *reference, Error *error)
{
    int i = 0;
    while (i < scores->tags &&
           (strncmp(scores->tag[i].tag, tag, length) != 0 || scores->tag[i].tag[length]))
        i++;
    if (i == scores->tags) {
        char *own = strndup(tag, length);
        if (!own || !GROW(scores->tag, scores->tag_size, (size_t)i + 1)) {
            free(own);
            return error_memory(error, "for the scores of %d tags", i + 1);
        }
        scores->tag[scores->tags++] = (TagScores){.tag = own, .total = scores->none};
    }
    scores->tag[i].lines++;
    for (int r = 0; r < reference->count; r++)
        spacing_add(&scores->tag[i].spacing, reference->item[r], strlen(reference->item[r]));
    statistics_join(&scores->tag[i].total, line);
    return true;
}

/* Counts a reference and its text, and whether the model, even if it is right, writes other words. */
static bool count_reference(Scores *scores, const char *reference, Error *error)
{
    char *normal;
    Bleu bleu = scores->none.bleu;
    scores->text = scores->text || !text_is_blank(reference, strlen(reference));
    spacing_add(&scores->spacing, reference, strlen(reference));
    if (!scores->tokenizer) return true;
    bool good = tokenizer_normal_form(scores->tokenizer, &normal, reference, strlen(reference),
                                      error) &&
                (!normal || bleu_add(&bleu, normal, &reference, 1, error));
    scores->given++;
    scores->other += bleu.correct[0] < bleu.reference_length;
    free(normal);
    return good;
}

/* Adds one translation by each system: to its sum, and as a segment of its own or to that of its
 * document. */
static bool add(Scores *scores, const char *const *hypothesis, const StringList *reference,
                const char *tag, size_t tag_length, Error *error)
{
    const Request *r = scores->request;
    bool same = r->hypothesis.count, keeps = keeps_segments(r), joins = scores->in_document;
    int at = joins ? scores->segments - 1 : scores->segments;
    for (int i = 0; i < reference->count; i++)
        if (!count_reference(scores, reference->item[i], error)) return false;
    for (int s = 0; s < scores->systems; s++) {
        System *system = &scores->system[s];
        Statistics line = scores->none;
        system->differs = system->differs || strcmp(hypothesis[s], hypothesis[0]) != 0;
        char *own = same ? NULL : composed(hypothesis[s], strlen(hypothesis[s]));
        bool good =
            (same || own || error_memory(error, "to score translations")) &&
            statistics_add(&line, own ? own : hypothesis[s],
                           (const char *const *)reference->item, reference->count, error);
        free(own);
        if (!good) return false;
        statistics_join(&system->total, &line);
        if (tag_length && !add_tag(scores, tag, tag_length, &line, reference, error))
            return false;
        if (keeps && !GROW(system->segment, system->size, (size_t)at + 1))
            return error_memory(error, "for the scores of %d lines", at + 1);
        if (keeps && joins) statistics_join(&system->segment[at], &line);
        else if (keeps) system->segment[at] = line;
    }
    if (keeps) scores->segments = at + 1;
    scores->in_document = r->documents;
    return true;
}

/* The next line of each file of references. Of several files, an empty line is no reference, unless all
 * are empty. */
static bool next_references(Scores *scores, StringList *reference, bool *too_long, Error *error)
{
    bool same = scores->request->hypothesis.count;  // as it is, without composing
    const char *line;
    size_t length;
    for (int r = 0; r < scores->references; r++) {
        if (!partner_next(&scores->reference[r], &line, &length, "translations", error))
            return false;
        *too_long = *too_long || length > CODEPOINTS_LIMIT;
        if (!length && (r < scores->references - 1 || reference->count)) continue;
        char *own = same ? NULL : composed(line, length);
        bool good = (same || own || error_memory(error, "to score translations")) &&
                    strings_add(reference, own ? own : line, error);
        free(own);
        if (!good) return false;
    }
    return true;
}

bool scores_add(Scores *scores, const char *const *hypothesis, const char *tag,
                size_t tag_length)
{
    Error *failure = &scores->failure;
    if (failure->text[0]) return false;
    bool too_long = false, empty = true;
    StringList reference = {0};
    bool good = next_references(scores, &reference, &too_long, failure);
    for (int s = 0; good && s < scores->systems; s++) {
        too_long = too_long || strlen(hypothesis[s]) > CODEPOINTS_LIMIT;
        empty = empty && !hypothesis[s][0];
    }
    if (good && too_long)
        command_say(stderr, "%s:%zu: more than %d bytes are too long to score: left out",
                    scores->reference->name, scores->reference->line, CODEPOINTS_LIMIT);
    else if (good && scores->request->documents && empty && !reference.item[0][0])
        scores->in_document = false;
    else if (good) good = add(scores, hypothesis, &reference, tag, tag_length, failure);
    strings_free(&reference);
    return good;
}

bool scores_add_files(Scores *scores, Error *error)
{
    const char **hypothesis = calloc((size_t)scores->systems, sizeof *hypothesis);
    if (!hypothesis) return error_memory(error, "for %d systems", scores->systems);
    int count;  // of systems that have a line
    bool good = true;
    do {
        count = 0;
        for (int s = 0; good && s < scores->systems; s++) {
            size_t length;
            TextResult result = text_next(&scores->reference[scores->references + s],
                                          &hypothesis[s], &length, error);
            good = result != TEXT_ERROR;
            count += result == TEXT_LINE;
        }
    } while (good && count == scores->systems && scores_add(scores, hypothesis, NULL, 0));
    free(hypothesis);
    if (good && count && count < scores->systems)
        return error_set(error,
                         "line %zu is missing in %d of the %d files of translations: they must "
                         "match line by line",
                         scores->reference->line + 1, scores->systems - count, scores->systems);
    return good;
}

/* ---- printing ---- */

/* *trials (=) of the test that the request asks for, or SIGNIFICANCE_NONE */
static Significance test_of(const Scores *scores, int *trials)
{
    const Request *r = scores->request;
    Significance test = (Significance)r->significance;
    if (test == SIGNIFICANCE_AUTO)
        test = scores->systems > 1 ? SIGNIFICANCE_BOOTSTRAP : SIGNIFICANCE_NONE;
    *trials = r->trials;
    if (!*trials)
        *trials = test == SIGNIFICANCE_BOOTSTRAP ? BOOTSTRAP_TRIALS : RANDOMIZATION_TRIALS;
    return test;
}

/* "; mean 31.21 ± 0.90, p = 0.012": what the trials say of a score. */
static void format_estimate(char *text, size_t size, const Estimate *estimate)
{
    int used = 0;
    text[0] = '\0';
    if (!isnan(estimate->mean))
        used = snprintf(text, size, "; mean %.2f ± %.2f", estimate->mean, estimate->interval);
    if (!isnan(estimate->p))
        snprintf(text + used, size - (size_t)used, "; p = %.4f", estimate->p);
}

/* Adds "|bs:1000|seed:12345" to a signature or the line of a score: after the references, where sacrebleu
 * has it. */
static void add_test(char line[LINE], Significance test, int trials)
{
    char rest[LINE], *at = strstr(line, "|case:");
    if (test == SIGNIFICANCE_NONE) return;
    snprintf(rest, sizeof rest, "%s", at);
    snprintf(at, (size_t)(line + LINE - at), "|%s:%d|seed:%d%s",
             test == SIGNIFICANCE_BOOTSTRAP ? "bs" : "ar", trials, SIGNIFICANCE_SEED, rest);
}

static void print_text(const Statistics *total, const Estimate *estimate, Significance test,
                       int trials, FILE *out)
{
    char line[SCORES][LINE], more[LINE];
    bleu_format(&total->bleu, line[0], LINE);
    chrf_format(&total->chrf, line[1], LINE);
    chrf_format(&total->chrfpp, line[2], LINE);
    ter_format(&total->ter, line[3], LINE);
    for (int s = 0; s < SCORES; s++) {
        format_estimate(more, sizeof more, &estimate[s]);
        add_test(line[s], test, trials);
        fprintf(out, "%s%s\n", line[s], more);
    }
}

/* ">>fra<<  bleu 31.20  chrf2 54.71  chrf2pp 53.05  ter 50.00  of 500 lines" */
static void print_tags(const Scores *scores, FILE *out)
{
    for (int i = 0; i < scores->tags; i++) {
        double score[SCORES];
        statistics_scores(score, &scores->tag[i].total);
        fputs(scores->tag[i].tag, out);
        for (int s = 0; s < SCORES; s++)
            fprintf(out, "  %s %.2f", statistics_names[s], score[s]);
        fprintf(out, "  of %d lines\n", scores->tag[i].lines);
    }
}

static void put_scores(JsonWriter *json, const Statistics *statistics)
{
    double score[SCORES];
    statistics_scores(score, statistics);
    for (int s = 0; s < SCORES; s++) json_put_real(json, statistics_names[s], score[s]);
}

static void put_estimate(JsonWriter *json, const char *name, const Estimate *estimate)
{
    json_open(json, name);
    for (int s = 0; s < SCORES; s++) {
        json_open(json, statistics_names[s]);
        if (!isnan(estimate[s].mean)) {
            json_put_real(json, "mean", estimate[s].mean);
            json_put_real(json, "interval", estimate[s].interval);
        }
        if (!isnan(estimate[s].p)) json_put_real(json, "p", estimate[s].p);
        json_close(json);
    }
    json_close(json);
}

static void put_system(JsonWriter *json, const Scores *scores, const System *system,
                       const Estimate *estimate, Significance test, int trials)
{
    char signature[LINE];
    const Bleu *bleu = &system->total.bleu;
    BleuScore score = bleu_score(bleu);
    json_open(json, NULL);
    put_scores(json, &system->total);
    json_put_reals(json, "precisions", score.precisions, BLEU_ORDER);
    json_put_real(json, "bp", score.brevity_penalty);
    bleu_signature(bleu, signature, sizeof signature);
    add_test(signature, test, trials);
    json_put_text(json, "signature", signature);
    json_put_text(json, "hypothesis", system->name);
    if (!isnan(estimate->mean) || (test != SIGNIFICANCE_NONE && system != scores->system))
        put_estimate(json, "significance", estimate);
    json_open_array(json, scores->request->documents ? "documents" : "lines");
    for (int i = 0; i < scores->segments; i++) {
        Statistics segment = system->segment[i];
        segment.bleu.effective_order = true;
        json_open(json, NULL);
        put_scores(json, &segment);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

/* What to do about a BLEU that says little. */
static void advise(const Scores *scores)
{
    const Bleu *bleu = &scores->system->total.bleu;
    bool unspaced = spacing_is_unspaced(&scores->spacing);
    const char *of = "", *tag = "";
    for (int i = 0; i < scores->tags; i++)
        if (spacing_is_unspaced(&scores->tag[i].spacing))
            unspaced = true, of = " of ", tag = scores->tag[i].tag;
    if (tokenization_needs_spaces(bleu->tokenization) && unspaced)
        command_say(
            stderr,
            "warning: the references%s%s have hardly any spaces, and BLEU counts words: use "
            "--bleu-tokenize zh for Chinese, ja-mecab for Japanese, char for others",
            of, tag);
    else if (!bleu->correct[0] && bleu->hypothesis_length)
        command_say(stderr, "warning: no word of the translations is in their references: are "
                            "these the same text, and the same language?");
    else if (!bleu->total[BLEU_ORDER - 1] && bleu->hypothesis_length)
        command_say(stderr, "warning: no line has four words, which BLEU counts, so that it is "
                            "0: compare by chrF2");
    if (scores->other * 100 > scores->given)
        command_say(stderr,
                    "warning: %zu of %zu references have words that the model's normalisation "
                    "writes otherwise (such as ？ or ﬁ), so that right translations lose BLEU; "
                    "one trained with --normalization identity keeps them",
                    scores->other, scores->given);
}

bool scores_end(Scores *scores, FILE *out, bool json, Error *error)
{
    if (scores->failure.text[0]) return *error = scores->failure, false;
    for (int r = 0; r < scores->references; r++)
        if (!partner_end(&scores->reference[r], "translations", error)) return false;
    if (!scores->text)
        return error_set(error, "'%s' %s: there is nothing to score", scores->reference->name,
                         scores->reference->line ? "has only empty lines, or too long ones"
                                                 : "is empty");
    advise(scores);
    int trials;
    Significance test = test_of(scores, &trials);
    for (int s = 0; s < scores->systems; s++) {
        JsonWriter writer = {.out = out, .lines = true};
        const System *system = &scores->system[s];
        Estimate estimate[SCORES];
        for (int k = 0; k < SCORES; k++) estimate[k] = (Estimate){NAN, NAN, NAN};
        const Statistics *baseline = s ? scores->system->segment : NULL;
        if ((baseline || test == SIGNIFICANCE_BOOTSTRAP) && test != SIGNIFICANCE_NONE &&
            !significance_estimate(estimate, test, system->segment, baseline, scores->segments,
                                   trials, error))
            return false;
        if (!json && scores->systems > 1) fprintf(out, "%s%s\n", s ? "\n" : "", system->name);
        if (json) put_system(&writer, scores, system, estimate, test, trials);
        else print_text(&system->total, estimate, test, trials, out);
        if (s && !system->differs)
            command_say(stderr, "%s and %s are the same line by line", system->name,
                        scores->system->name);
    }
    if (!json) print_tags(scores, out);
    return true;
}
