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
#include <unistd.h>

#include "base/options.h"
#include "inference/bleu.h"
#include "inference/chrf.h"
#include "inference/translator.h"
#include "program/answer.h"
#include "program/input.h"
#include "program/likelihood.h"
#include "program/models.h"
#include "program/picture.h"
#include "program/progressbar.h"
#include "program/scores.h"

typedef struct TranslateConfig {
    StringList model;
    char *prefix, *attention, *target, *hypothesis, *reference;
    int threads, bleu_tokenize;
    bool score, lowercase, json, quiet, help, version;
} TranslateConfig;

#define FIELD(name) offsetof(TranslateConfig, name)
static const char *const TOKENIZATIONS[] = {"13a", "none", "char", "intl", NULL};
// clang-format off
static const Option translate_options[] = {
    {"model", OPTION_LIST, FIELD(model), 0, 0, NULL, "FILE|DIR",
     "a checkpoint, or a run's folder; given several times, they translate together", true},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "threads; 0: one for each processor. The result is the same", true},
    {"prefix", OPTION_TEXT, FIELD(prefix), 0, 0, NULL, "TEXT",
     "every translation begins with this", true},
    {"attention", OPTION_TEXT, FIELD(attention), 0, 0, NULL, "OUT.png",
     "draw who looked at whom; with several sentences OUT-1.png, OUT-2.png, …", true},
    {"score", OPTION_FLAG, FIELD(score), 0, 0, NULL, NULL,
     "print ln p of given translations, source TAB target, and their perplexity", true},
    {"target", OPTION_TEXT, FIELD(target), 0, 0, NULL, "FILE",
     "with --score: the translations, line by line, of the sources that are the input", true},
    {"reference", OPTION_TEXT, FIELD(reference), 0, 0, NULL, "FILE",
     "the right translations, line by line: prints BLEU and chrF to standard error", true},
    {"hypothesis", OPTION_TEXT, FIELD(hypothesis), 0, 0, NULL, "FILE",
     "with --reference: score these translations; needs no model", true},
    {"bleu-tokenize", OPTION_CHOICE, FIELD(bleu_tokenize), 0, 0, TOKENIZATIONS, NULL,
     "how BLEU cuts text into words, as sacrebleu names it", true},
    {"lowercase", OPTION_FLAG, FIELD(lowercase), 0, 0, NULL, NULL,
     "score without regard to case", true},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, NULL,
     "one JSON object a line, with scores and tokens; with --hypothesis: the scores", true},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only", true},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print this", true},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", true},
};
// clang-format on

enum { GROUPS = 2, CHUNK = 2000 };

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
    StringList texts;  // of the command line; none: standard input
    Input input;
    TextReader reference;
    Models models;
    const Bundle *bundle;  // the first of them
    Workers *workers;
    Scores scores;
    IdLines lines, prefix;
    ProgressBar bar;
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
        if (cut && !p->config.quiet) {
            progressbar_clear(&p->bar);
            fprintf(stderr, "translate: line %lld has %zu tokens; only the first %d are "
                    "translated, as the model's limit is %d\n", p->input.lines, cut,
                    p->bundle->max_length - 1, p->bundle->max_length);
        }
    } while (p->lines.count < CHUNK && input_ready(&p->input) && !stop_signal);
    return p->lines.count > 0;
}

/* "out.png" for a single text; "out-3.png" for the third of several. */
static void picture_path(char *path, size_t size, const Program *p, long long number)
{
    const char *name = p->config.attention;
    int stem = (int)strlen(name) - 4;
    if (p->texts.count == 1) snprintf(path, size, "%s", name);
    else snprintf(path, size, "%.*s-%lld%s", stem, name, number, name + stem);
}

static bool draw(Program *p, int s, const Hypothesis *best, long long number, Error *error)
{
    char path[4200];
    const IdLines *lines = &p->lines;
    picture_path(path, sizeof path, p, number);
    if (!picture_attention(path, &p->bundle->model, &p->bundle->vocabulary,
                           p->config.model.item[0],
                           lines->ids.id + lines->start[s],
                           lines->start[s + 1] - lines->start[s], best->id, best->length, error))
        return false;
    if (!p->config.quiet) fprintf(stderr, "translate: drew %s\n", path);
    return true;
}

/* One line of output, and what else was asked for about it. */
static bool answer(Program *p, const Translation *translation, int s, Error *error)
{
    AnswerFormat format = {stdout, p->bundle->vocabulary.tokenizer[TARGET], p->config.json,
                           p->search.alternatives || p->search.n_best > 1};
    long long number = p->input.lines - p->lines.count + s + 1;
    bool empty = p->lines.start[s + 1] - p->lines.start[s] == 1;
    char *best;
    bool good = answer_write(&format, translation, number, empty, &best, error);
    if (good && p->config.attention && !empty)
        good = draw(p, s, &translation->hypothesis[0], number, error);
    if (good && p->config.reference)
        good = scores_add_line(&p->scores, best, &p->reference, error);
    free(best);
    return good;
}

/* So many of the chunk's sentences are done. */
static void show_progress(void *context, int sentences)
{
    Program *p = context;
    double before = (double)(p->input.lines - p->lines.count), lines = before + sentences;
    double share = input_share(&p->input), read = (double)p->input.lines;
    progressbar_show(&p->bar, lines, share < 0 ? share : share * lines / read);
}

static bool translate_chunk(Program *p, Error *error)
{
    TranslatorInput input = {.source = idlines_packed(&p->lines),
                             .line = (uint64_t)(p->input.lines - p->lines.count + 1),
                             .done = show_progress, .context = p};
    Packed prefix;
    Translations out;
    if (p->config.prefix) {
        prefix = idlines_packed(&p->prefix);
        input.prefix = &prefix;
    }
    if (!translator_run(&out, &p->models.ensemble, &input, &p->search, p->workers, &stop_signal,
                        error))
        return false;
    bool good = true;
    if (p->config.attention) progressbar_clear(&p->bar);
    for (int s = 0; s < out.sentences && good && !out.stopped; s++)
        good = answer(p, &out.sentence[s], s, error);
    translations_free(&out);
    if (good && fflush(stdout) != 0)
        good = error_set(error, "cannot write the translations: %s", strerror(errno));
    return good;
}

/* Models, threads, and the files that the options name. */
static bool prepare(Program *p, Error *error)
{
    int threads = p->config.threads ? p->config.threads : workers_processors();
    p->bundle = &p->models.bundle[0];
    return models_load(&p->models, &p->config.model, error) &&
           (p->workers = workers_start(threads, error)) &&
           input_open(&p->input, &p->texts, p->config.quiet ? NULL : stderr, error) &&
           (!p->config.reference || text_open(&p->reference, p->config.reference, error));
}

/* --prefix as ids, without an end. */
static bool read_prefix(Program *p, Error *error)
{
    const char *text = p->config.prefix;
    if (!text) return true;
    if (!text_is_utf8(text, strlen(text), NULL))
        return error_set(error, "the text of --prefix is not valid UTF-8");
    size_t cut;
    if (!bundle_encode_target(p->bundle, &p->prefix, text, strlen(text), &cut, error))
        return false;
    p->prefix.start[1]--;
    return !cut || error_set(error, "--prefix has %zu tokens, and the model takes %d", cut,
                             p->bundle->max_length - 1);
}

static bool translate(Program *p, Error *error)
{
    if (!prepare(p, error) || !read_prefix(p, error)) return false;
    p->search.no_scores = !p->config.json && p->search.n_best == 1 && !p->search.alternatives;
    bool is_watched = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) && !p->input.prompt;
    p->bar = progressbar_start(is_watched && !p->config.quiet ? stderr : NULL);
    bool failed = false;
    while (!stop_signal && !failed && read_chunk(p, &failed, error))
        if (!translate_chunk(p, failed ? NULL : error)) return progressbar_clear(&p->bar), false;
    progressbar_clear(&p->bar);
    if (failed) return false;
    if (!p->config.reference || stop_signal) return true;
    return scores_end(&p->scores, &p->reference, error) && scores_print(&p->scores, stderr);
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

static bool check(const Program *p, Error *error)
{
    const char *attention = p->config.attention;
    size_t length = attention ? strlen(attention) : 0;
    if (attention && (length < 5 || strcmp(attention + length - 4, ".png")))
        return error_set(error, "--attention takes the name of a .png file, not '%s'", attention);
    if (p->config.hypothesis && !p->config.reference)
        return error_set(error, "--hypothesis needs --reference, the file to compare it with");
    if (p->config.hypothesis && p->texts.count)
        return error_set(error, "--hypothesis scores a file of translations: no text to translate "
                         "can be given with it");
    if (p->config.target && !p->config.score)
        return error_set(error, "--target goes with --score: it has the translations to score");
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
    if (!(p->config.hypothesis ? score(p, error)
          : p->config.score    ? rate(p, error)
                               : translate(p, error)))
        return 1;
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
    models_free(&p.models);
    idlines_free(&p.lines);
    idlines_free(&p.prefix);
    input_close(&p.input);
    text_close(&p.reference);
    strings_free(&p.texts);
    options_free(groups, GROUPS);
    return status;
}
