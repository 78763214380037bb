/* translate.c -- ./translate: text in, translated text out.
 *
 *   read the options, load the models
 *   chunk by chunk: lines → ids → search → text, in the order of the input;
 *       where asked, the attention of each as a picture
 *   where there is a reference: BLEU and chrF of it all
 *
 * With --score it says how probable given translations are instead (program/likelihood.h). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "inference/bleu.h"
#include "inference/chrf.h"
#include "data/words.h"
#include "inference/translator.h"
#include "program/alignment.h"
#include "program/choice.h"
#include "program/explain.h"
#include "program/input.h"
#include "program/likelihood.h"
#include "program/models.h"
#include "program/page.h"
#include "program/picture.h"
#include "program/scores.h"

typedef struct TranslateConfig {
    StringList model;
    char *attention, *given, *word, *target, *hypothesis, *reference, *save_int8;
    int threads, bleu_tokenize;
    bool int8, explain, score, lowercase, json, quiet, help, version;
} TranslateConfig;

#define FIELD(name) offsetof(TranslateConfig, name)
static const char *const TOKENIZATIONS[] = {"13a", "none", "char", "intl", NULL};
// clang-format off
static const Option translate_options[] = {
    {"model", OPTION_LIST, FIELD(model), 0, 0, NULL, "FILE|DIR",
     "a checkpoint, or a run's folder; given several times, they translate together", true},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "threads; 0: one for each processor. The result is the same", true},
    {"int8", OPTION_FLAG, FIELD(int8), 0, 0, NULL, NULL,
     "compute with weights rounded to 8 bits: faster, and almost the same translations", true},
    {"save-int8", OPTION_TEXT, FIELD(save_int8), 0, 0, NULL, "FILE",
     "write the model so rounded to FILE, for --model, and stop", true},
    {"attention", OPTION_TEXT, FIELD(attention), 0, 0, NULL, "OUT.png|html",
     "draw who looked at whom, as a picture or as a page for a browser; with several sentences "
     "OUT-1.png, OUT-2.png, …", true},
    {"given", OPTION_TEXT, FIELD(given), 0, 0, NULL, "TEXT",
     "do not translate the one TEXT: this is its translation, to be looked at", true},
    {"explain", OPTION_FLAG, FIELD(explain), 0, 0, NULL, NULL,
     "in place of the translation alone, how one head's attention comes about, step by step", true},
    {"word", OPTION_TEXT, FIELD(word), 0, 0, NULL, "WORD|N",
     "which word --explain follows: a token, or its place", true},
    {"score", OPTION_FLAG, FIELD(score), 0, 0, NULL, NULL,
     "print ln p of given translations, source TAB target, and their perplexity", true},
    {"target", OPTION_TEXT, FIELD(target), 0, 0, NULL, "FILE",
     "with --score or --align: the translations, line by line, of the sources that are the input", true},
    {"reference", OPTION_TEXT, FIELD(reference), 0, 0, NULL, "FILE",
     "the right translations, line by line: prints BLEU and chrF to standard error", true},
    {"hypothesis", OPTION_TEXT, FIELD(hypothesis), 0, 0, NULL, "FILE",
     "with --reference: score these translations; needs no model", true},
    {"bleu-tokenize", OPTION_CHOICE, FIELD(bleu_tokenize), 0, 0, TOKENIZATIONS, NULL,
     "how BLEU cuts text into words, as sacrebleu names it", true},
    {"lowercase", OPTION_FLAG, FIELD(lowercase), 0, 0, NULL, NULL,
     "score without regard to case", true},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, NULL,
     "with --score or --hypothesis: the scores as JSON, to standard output", true},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only", true},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print this", true},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", true},
};
// clang-format on

enum { GROUPS = 5, CHUNK = 2000 };

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
    signal(number, SIG_DFL);
}

/* The program's state: options, models, and where the lines come from. */
typedef struct Program {
    TranslateConfig config;
    SearchConfig search;
    ChoiceConfig choice_config;
    Choice choice;         // which attention
    Choice drawn;          // the same with --head best as it was said, and what is known of it
    PictureConfig picture;
    AlignConfig align;
    Aligner aligner;       // if there is --align
    AttentionTable table;  // if there is --attention-tsv
    StringList texts;  // of the command line; none: standard input
    Input input;
    TextReader reference;
    Models models;
    const Bundle *bundle;  // the first of them
    Workers *workers;
    Scores scores;
    IdLines lines;
} Program;

/* Fills p->lines; false at the end of the input or on an error (then *failed). */
static bool read_chunk(Program *p, bool *failed, Error *error)
{
    idlines_clear(&p->lines);
    *failed = false;
    do {
        const char *line;
        size_t length, cut;
        TextResult result = input_next(&p->input, &line, &length, error);
        if (result == TEXT_END) break;
        if (result == TEXT_ERROR ||
            !bundle_encode(p->bundle, &p->lines, line, length, &cut, error)) {
            *failed = true;
            break;
        }
        if (cut && !p->config.quiet)
            fprintf(stderr, "translate: line %lld has %zu tokens; only the first %d are "
                    "translated, as the model's limit is %d\n", p->input.lines, cut,
                    p->bundle->model.config.max_length - 1, p->bundle->model.config.max_length);
    } while (p->lines.count < CHUNK && input_ready(&p->input) && !stop_signal);
    return p->lines.count > 0;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), behind = strlen(end);
    return length > behind && !strcmp(name + length - behind, end);
}

static bool is_page(const char *name)
{
    return ends_with(name, ".html");
}

/* "out.png" for a single text; "out-3.png" for the third of several. */
static void picture_path(char *path, size_t size, const Program *p, long long number)
{
    const char *name = p->config.attention;
    int stem = (int)(strrchr(name, '.') - name);
    if (p->texts.count == 1) snprintf(path, size, "%s", name);
    else snprintf(path, size, "%.*s-%lld%s", stem, name, number, name + stem);
}

static bool draw(Program *p, int s, const Hypothesis *best, long long number, Error *error)
{
    char path[4200];
    const IdLines *lines = &p->lines;
    const SentencePair pair = {lines->ids.id + lines->start[s], best->id,
                               lines->start[s + 1] - lines->start[s], best->length,
                               p->config.given != NULL};
    picture_path(path, sizeof path, p, number);
    if (!(is_page(path) ? page_attention : picture_attention)(
            path, &p->bundle->model, &p->bundle->vocabulary, p->config.model.item[0], &pair,
            &p->drawn, &p->picture, error))
        return false;
    if (!p->config.quiet) fprintf(stderr, "translate: drew %s\n", path);
    return true;
}

static AlignPair pair_of(const Program *p, int s, const Hypothesis *best, const int *target_word)
{
    const IdLines *lines = &p->lines;
    int first = lines->start[s], length = lines->start[s + 1] - first;
    return (AlignPair){lines->ids.id + first, best->id, lines->word + first, target_word, length,
                       best->length};
}

/* " ||| 0-0 1-1" behind the translation, and its attention into the table. */
static bool show_links(Program *p, int s, const Hypothesis *best, long long number, Error *error)
{
    const Bundle *bundle = p->bundle;
    int words, *word = malloc((size_t)best->length * sizeof *word);
    if (!word) return error_set(error, "not enough memory to align %d words", best->length);
    AlignPair pair = pair_of(p, s, best, word);
    Look *look = look_open(&bundle->model, pair.source, pair.n, pair.target, pair.m, error);
    bool good = look && words_of_ids(word, &words, bundle->vocabulary.tokenizer[TARGET], best->id,
                                     best->length - 1, error);
    if (good && p->align.align && (good = aligner_link(&p->aligner, look, &pair, error))) {
        fputs(" ||| ", stdout);
        links_print(stdout, &p->aligner.links);
    }
    good = good && (!p->align.tsv ||
                    table_add(&p->table, look, &bundle->vocabulary, &bundle->model.config,
                              &p->choice, number, pair.source, pair.target, error));
    look_close(look);
    free(word);
    return good;
}

static bool explain(Program *p, int s, const Hypothesis *best, Error *error)
{
    const IdLines *lines = &p->lines;
    const int *source = lines->ids.id + lines->start[s];
    return explain_print(stdout, &p->bundle->model, &p->bundle->vocabulary, &p->choice,
                         p->config.word, source, lines->start[s + 1] - lines->start[s], best->id,
                         best->length, error);
}

/* One line of output; an empty line of input gives an empty line. n-best: number ||| text |||
 * score, one line each. */
static bool answer(Program *p, const Translation *translation, int s, Error *error)
{
    long long number = p->input.lines - p->lines.count + s + 1;
    bool empty = p->lines.start[s + 1] - p->lines.start[s] == 1;
    char *best = NULL;
    for (int h = 0; h < translation->count && (h == 0 || !empty); h++) {
        const Hypothesis *hypothesis = &translation->hypothesis[h];
        char *text = NULL;
        if (empty) text = strdup("");
        else if (!tokenizer_decode(p->bundle->vocabulary.tokenizer[TARGET], &text, hypothesis->id,
                                   (size_t)hypothesis->length, error))
            return false;
        bool looked = !empty && (p->align.align || p->align.tsv);
        if (p->config.explain && !empty) {}
        else if (p->search.n_best == 1) fputs(text, stdout);
        else printf("%lld ||| %s ||| %.4f", number, text, empty ? 0 : hypothesis->score);
        if (looked && !show_links(p, s, hypothesis, number, error)) return free(text), false;
        if (!p->config.explain || empty) putchar('\n');
        if (h == 0) best = text;
        else free(text);
    }
    bool good = true;
    if (p->config.attention && !empty)
        good = draw(p, s, &translation->hypothesis[0], number, error);
    if (good && p->config.explain && !empty)
        good = explain(p, s, &translation->hypothesis[0], error);
    if (good && p->config.reference)
        good = scores_add_line(&p->scores, best, &p->reference, error);
    free(best);
    return good;
}

/* The answer to the one text is the one that was given. */
static bool answer_given(Program *p, Error *error)
{
    Ids ids = {0};
    const char *given = p->config.given;
    const Tokenizer *tokenizer = p->bundle->vocabulary.tokenizer[TARGET];
    bool good = tokenizer_encode(tokenizer, &ids, given, strlen(given), error);
    int32_t *id = good ? realloc(ids.id, (ids.count + 1) * sizeof *id) : NULL;
    if (good && !id) good = error_set(error, "not enough memory");
    if (id) ids.id = id, id[ids.count++] = ID_END;
    Hypothesis hypothesis = {.id = ids.id, .length = (int)ids.count};
    good = good && answer(p, &(Translation){&hypothesis, 1}, 0, error);
    free(ids.id);
    return good;
}

static bool translate_chunk(Program *p, Error *error)
{
    if (p->config.given) return answer_given(p, error);
    Packed source = idlines_packed(&p->lines);
    Translations out;
    if (!translator_run(&out, &p->bundle->model, &source, &p->search, p->workers, &stop_signal,
                        error))
        return false;
    bool good = true;
    for (int s = 0; s < out.sentences && good && !out.stopped; s++)
        good = answer(p, &out.sentence[s], s, error);
    translations_free(&out);
    if (good && fflush(stdout) != 0)
        good = error_set(error, "cannot write the translations: %s", strerror(errno));
    return good;
}

static bool prepare_looking(Program *p, Error *error)
{
    const char *model = p->config.model.item[0];
    p->lines.find_words = p->align.align || p->align.tsv;
    p->drawn = p->choice;
    return choice_check(&p->choice, &p->bundle->model.config, error) &&
           (!p->config.attention ||
            align_known_best(&p->drawn, model, &p->bundle->model.config, error)) &&
           (!p->align.align ||
            aligner_create(&p->aligner, p->bundle, model, &p->align, &p->choice, error)) &&
           align_settle_best(&p->choice, p->config.explain && p->choice.layer < 0 &&
                             p->choice.head == CHOICE_NONE, model, &p->bundle->model.config, error) &&
           (!p->align.tsv || table_open(&p->table, p->align.tsv, error));
}

/* Models, threads, and the files that the options name. */
static bool prepare(Program *p, Error *error)
{
    int threads = p->config.threads ? p->config.threads : workers_processors();
    p->bundle = &p->models.bundle[0];
    return models_load(&p->models, &p->config.model, p->config.int8, error) &&
           prepare_looking(p, error) && (p->workers = workers_start(threads, error)) &&
           input_open(&p->input, &p->texts, p->config.quiet ? NULL : stderr, error) &&
           (!p->config.reference || text_open(&p->reference, p->config.reference, error));
}

static bool translate(Program *p, Error *error)
{
    if (!prepare(p, error)) return false;
    bool failed = false;
    while (!stop_signal && !failed && read_chunk(p, &failed, error))
        if (!translate_chunk(p, failed ? NULL : error)) return false;
    if (failed) return false;
    if (!p->config.reference || stop_signal) return true;
    return scores_end(&p->scores, &p->reference, error) && scores_print(&p->scores, stderr);
}

static bool save_int8(Program *p, Error *error)
{
    if (p->config.model.count > 1)
        return error_set(error, "--save-int8 writes one model: give --model once");
    return models_load(&p->models, &p->config.model, true, error) &&
           bundle_save_int8(&p->models.bundle[0], p->config.save_int8, error);
}

/* How probable given translations are. */
static bool rate(Program *p, Error *error)
{
    TextReader target = {.descriptor = -1};
    bool good = prepare(p, error) &&
                (!p->config.target || text_open(&target, p->config.target, error));
    Likelihood likelihood = {.bundle = p->bundle, .ensemble = &p->models.ensemble,
                             .workers = p->workers, .input = &p->input,
                             .target = p->config.target ? &target : NULL, .out = stdout,
                             .news = p->config.quiet ? NULL : stderr, .json = p->config.json};
    good = good && likelihood_run(&likelihood, &stop_signal, error);
    text_close(&target);
    return good;
}

/* How the words of given translations stand to those of their sources. */
static bool align(Program *p, Error *error)
{
    TextReader target = {.descriptor = -1}, gold = {.descriptor = -1};
    bool good = prepare(p, error) &&
                (!p->config.target || text_open(&target, p->config.target, error)) &&
                (!p->align.gold || text_open(&gold, p->align.gold, error));
    Alignment alignment = {.aligner = &p->aligner, .input = &p->input,
                           .target = p->config.target ? &target : NULL,
                           .gold = p->align.gold ? &gold : NULL,
                           .table = p->align.tsv ? &p->table : NULL, .out = stdout,
                           .news = p->config.quiet ? NULL : stderr};
    good = good && alignment_run(&alignment, &p->choice, &stop_signal, error) &&
           (!p->align.save || stop_signal ||
            align_save(p->config.model.item[0], alignment.best, alignment.best_aer,
                       alignment.best_head, alignment.best_head_aer, error));
    text_close(&target);
    text_close(&gold);
    return good;
}

/* Scores a file of translations; no model takes part. */
static bool score(Program *p, Error *error)
{
    TextReader hypothesis = {0};
    bool good = text_open(&hypothesis, p->config.hypothesis, error) &&
                text_open(&p->reference, p->config.reference, error);
    const char *line;
    size_t length;
    TextResult result = TEXT_END;
    while (good && (result = text_next(&hypothesis, &line, &length, error)) == TEXT_LINE)
        good = scores_add_line(&p->scores, line, &p->reference, error);
    text_close(&hypothesis);
    if (!good || result == TEXT_ERROR || !scores_end(&p->scores, &p->reference, error))
        return false;
    return p->config.json ? scores_print_json(&p->scores, stdout)
                          : scores_print(&p->scores, stdout);
}

static bool check(Program *p, Error *error)
{
    const char *attention = p->config.attention;
    if (!choice_parse(&p->choice, &p->choice_config, error)) return false;
    if (attention && !ends_with(attention, ".png") && !is_page(attention))
        return error_set(error, "--attention takes the name of a .png or .html file, not '%s'",
                         attention);
    if (attention && is_page(attention) && p->picture.rollout)
        return error_set(error, "--rollout is for pictures, --attention OUT.png");
    size_t bad;
    if (p->config.given && p->texts.count != 1)
        return error_set(error, "--given is the translation of one TEXT: give one");
    if (p->config.given && p->search.n_best > 1)
        return error_set(error, "--given is one translation: --n-best cannot find more");
    if (p->config.given && !text_is_utf8(p->config.given, strlen(p->config.given), &bad))
        return error_set(error, "--given is not valid UTF-8 (byte %zu)", bad + 1);
    if (p->choice.head == CHOICE_SOME && (p->config.explain || p->align.align || p->align.tsv))
        return error_set(error, "--head with several numbers is for --attention");
    if (p->config.given && (p->config.score || p->config.target || p->config.hypothesis))
        return error_set(error, "--given is looked at, by --attention, --explain or --align: "
                         "--score, --target and --hypothesis have texts of their own");
    if (p->config.hypothesis && !p->config.reference)
        return error_set(error, "--hypothesis needs --reference, the file to compare it with");
    if (p->config.hypothesis && p->texts.count)
        return error_set(error, "--hypothesis scores a file of translations: no text to translate "
                         "can be given with it");
    if (p->config.save_int8 && (p->texts.count || p->config.hypothesis || p->config.score))
        return error_set(error, "--save-int8 writes a model and stops: there is nothing to "
                         "translate or to score with it");
    if (p->config.word && !p->config.explain)
        return error_set(error, "--word goes with --explain");
    if (p->config.json && !p->config.hypothesis && !p->config.score)
        return error_set(error, "--json goes with --score or --hypothesis");
    if (p->config.target && !p->config.score && !p->align.align)
        return error_set(error, "--target goes with --score or --align: it has the translations "
                         "that are given");
    if (p->align.gold && !p->align.align)
        return error_set(error, "--gold goes with --align: it has the right links");
    if (p->align.tsv && p->choice.head == CHOICE_MAX)
        return error_set(error, "--attention-tsv takes a head's number, mean or best as --head");
    if (p->align.save && !p->align.gold)
        return error_set(error, "--align-save goes with --gold, which shows what is best");
    if (p->align.align && (p->config.explain || p->config.score))
        return error_set(error, "--align does not go with --%s: ask for one at a time",
                         p->config.explain ? "explain" : "score");
    if (p->align.align && (p->config.target || p->align.gold) &&
        (p->config.reference || p->config.attention))
        return error_set(error, "--align of given translations translates nothing: it does not go "
                         "with --reference or --attention");
    if (p->config.score && (p->config.hypothesis || p->config.reference || p->config.attention))
        return error_set(error, "--score asks the model about given translations: it does not go "
                         "with --hypothesis, --reference or --attention");
    return search_check(&p->search, error);
}

/* The defaults, and the groups that point at them. */
static bool start(Program *p, OptionGroup groups[GROUPS], Error *error)
{
    p->search = search_default;
    groups[0] = (OptionGroup){"Translating", NULL, translate_options,
                              sizeof translate_options / sizeof *translate_options, &p->config};
    groups[1] = (OptionGroup){"Searching", NULL, search_options, search_option_count, &p->search};
    groups[2] = (OptionGroup){"Which attention", NULL, choice_options, choice_option_count,
                              &p->choice_config};
    p->picture = picture_default;
    groups[4] = (OptionGroup){"Drawing it", NULL, picture_options, picture_option_count,
                              &p->picture};
    groups[3] = (OptionGroup){"Aligning words", NULL, align_options, align_option_count, &p->align};
    return options_set(groups, GROUPS, "model", "checkpoints/toy", error);
}

static void print_help(void)
{
    static Program defaults;
    OptionGroup groups[GROUPS];
    char *options = start(&defaults, groups, NULL) ? options_help(groups, GROUPS) : NULL;
    printf("Usage: translate [OPTION]... [TEXT]...\n"
           "Translates each TEXT, or standard input line by line.\n\n%s",
           options ? options : "");
    free(options);
    options_free(groups, GROUPS);
}

static int run(Program *p, OptionGroup groups[GROUPS], int argc, char **argv, Error *error)
{
    if (!start(p, groups, error) ||
        !options_parse(groups, GROUPS, argc, argv, &p->texts, error) || !check(p, error))
        return 2;
    if (p->config.help) return print_help(), 0;
    if (p->config.version) return puts("qkv 1.0"), 0;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    scores_start(&p->scores, (Tokenization)p->config.bleu_tokenize, p->config.lowercase);
    if (!(p->config.save_int8 ? save_int8(p, error)
          : p->config.hypothesis ? score(p, error)
          : p->config.score    ? rate(p, error)
          : p->config.target || p->align.gold ? align(p, error)
                               : translate(p, error)))
        return 1;
    if (!table_close(&p->table, error)) return 1;
    return stop_signal ? 128 + stop_signal : 0;
}

int main(int argc, char **argv)
{
    static Program p;
    OptionGroup groups[GROUPS];
    Error error;
    int status = run(&p, groups, argc, argv, &error);
    if (status == 1 || status == 2) fprintf(stderr, "translate: %s\n", error.text);
    workers_stop(p.workers);
    aligner_free(&p.aligner);
    table_close(&p.table, NULL);
    models_free(&p.models);
    idlines_free(&p.lines);
    input_close(&p.input);
    text_close(&p.reference);
    strings_free(&p.texts);
    options_free(groups, GROUPS);
    return status;
}
