/* translate.c -- ./translate: text in, translated text out.
 *
 *   read the options, load the model
 *   chunk by chunk: lines → ids → beam search → text, in the order of the input;
 *       where asked, the attention of each as a picture
 *   where there is a reference: BLEU and chrF of it all */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "data/text.h"
#include "inference/bleu.h"
#include "inference/chrf.h"
#include "inference/translator.h"
#include "program/bundle.h"
#include "program/choice.h"
#include "program/page.h"
#include "program/picture.h"
#include "program/scores.h"

typedef struct TranslateConfig {
    char *model, *attention, *given, *hypothesis, *reference;
    int threads, bleu_tokenize;
    bool lowercase, json, quiet, help, version;
} TranslateConfig;

#define FIELD(name) offsetof(TranslateConfig, name)
static const char *const TOKENIZATIONS[] = {"13a", "none", "char", "intl", NULL};
// clang-format off
static const Option translate_options[] = {
    {"model", OPTION_TEXT, FIELD(model), 0, 0, NULL, "FILE|DIR",
     "a checkpoint, or a run's folder", true},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "threads; 0: one for each processor. The result is the same", true},
    {"attention", OPTION_TEXT, FIELD(attention), 0, 0, NULL, "OUT.png|html",
     "draw who looked at whom, as a picture or as a page for a browser; with several sentences "
     "OUT-1.png, OUT-2.png, …", true},
    {"given", OPTION_TEXT, FIELD(given), 0, 0, NULL, "TEXT",
     "do not translate the one TEXT: this is its translation, to be looked at", true},
    {"reference", OPTION_TEXT, FIELD(reference), 0, 0, NULL, "FILE",
     "the right translations, line by line: prints BLEU and chrF to standard error", true},
    {"hypothesis", OPTION_TEXT, FIELD(hypothesis), 0, 0, NULL, "FILE",
     "with --reference: score these translations; needs no model", true},
    {"bleu-tokenize", OPTION_CHOICE, FIELD(bleu_tokenize), 0, 0, TOKENIZATIONS, NULL,
     "how BLEU cuts text into words, as sacrebleu names it", true},
    {"lowercase", OPTION_FLAG, FIELD(lowercase), 0, 0, NULL, NULL,
     "score without regard to case", true},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, NULL,
     "with --hypothesis: the scores as JSON, to standard output", true},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only", true},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print this", true},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", true},
};
// clang-format on

enum { GROUPS = 4, CHUNK = 2000 };

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
    signal(number, SIG_DFL);
}

/* The program's state: options, model, and where the lines come from. */
typedef struct Program {
    TranslateConfig config;
    SearchConfig search;
    ChoiceConfig choice_config;
    Choice choice;     // which attention
    PictureConfig picture;
    StringList texts;  // of the command line; none: standard input
    int next_text;
    TextReader input, reference;
    Bundle bundle;
    Workers *workers;
    Scores scores;
    IdLines lines;
    long long line;  // lines read so far
} Program;

/* The next line to translate; TEXT_END when there is none. */
static TextResult next_line(Program *p, const char **line, size_t *length, Error *error)
{
    if (!p->texts.count) return text_next(&p->input, line, length, error);
    if (p->next_text == p->texts.count) return TEXT_END;
    *line = p->texts.item[p->next_text++];
    *length = strlen(*line);
    size_t bad;
    if (text_is_utf8(*line, *length, &bad)) return TEXT_LINE;
    error_set(error, "text %d of the command line is not valid UTF-8 (byte %zu)", p->next_text,
              bad + 1);
    return TEXT_ERROR;
}

/* Whether a next line can be had without waiting: only then does a chunk grow. */
static bool more_is_there(const Program *p)
{
    if (p->texts.count || p->input.begin < p->input.end) return true;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 1;
}

/* Fills p->lines; false at the end of the input or on an error (then *failed). */
static bool read_chunk(Program *p, bool *failed, Error *error)
{
    idlines_clear(&p->lines);
    *failed = false;
    do {
        const char *line;
        size_t length, cut;
        TextResult result = next_line(p, &line, &length, error);
        if (result == TEXT_END) break;
        if (result == TEXT_ERROR ||
            !bundle_encode(&p->bundle, &p->lines, line, length, &cut, error)) {
            *failed = true;
            break;
        }
        p->line++;
        if (cut && !p->config.quiet)
            fprintf(stderr, "translate: line %lld has %zu tokens; only the first %d are "
                    "translated, as the model's limit is %d\n", p->line, cut,
                    p->bundle.model.config.max_length - 1, p->bundle.model.config.max_length);
    } while (p->lines.count < CHUNK && more_is_there(p) && !stop_signal);
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
            path, &p->bundle.model, &p->bundle.vocabulary, p->config.model, &pair, &p->choice,
            &p->picture, error))
        return false;
    if (!p->config.quiet) fprintf(stderr, "translate: drew %s\n", path);
    return true;
}

/* One line of output; an empty line of input gives an empty line. n-best: number ||| text |||
 * score, one line each. */
static bool answer(Program *p, const Translation *translation, int s, Error *error)
{
    long long number = p->line - p->lines.count + s + 1;
    bool empty = p->lines.start[s + 1] - p->lines.start[s] == 1;
    char *best = NULL;
    for (int h = 0; h < translation->count && (h == 0 || !empty); h++) {
        const Hypothesis *hypothesis = &translation->hypothesis[h];
        char *text = NULL;
        if (empty) text = strdup("");
        else if (!tokenizer_decode(p->bundle.vocabulary.tokenizer[TARGET], &text, hypothesis->id,
                                   (size_t)hypothesis->length, error))
            return false;
        if (p->search.n_best == 1) printf("%s\n", text);
        else printf("%lld ||| %s ||| %.4f\n", number, text, empty ? 0 : hypothesis->score);
        if (h == 0) best = text;
        else free(text);
    }
    bool good = true;
    if (p->config.attention && !empty)
        good = draw(p, s, &translation->hypothesis[0], number, error);
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
    const Tokenizer *tokenizer = p->bundle.vocabulary.tokenizer[TARGET];
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
    if (!translator_run(&out, &p->bundle.model, &source, &p->search, p->workers, &stop_signal,
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

static bool translate(Program *p, Error *error)
{
    int threads = p->config.threads ? p->config.threads : workers_processors();
    if (!bundle_load(&p->bundle, p->config.model, error) ||
        !(p->workers = workers_start(threads, error)) ||
        (!p->texts.count &&
         !text_open_descriptor(&p->input, STDIN_FILENO, "standard input", error)) ||
        (p->config.reference && !text_open(&p->reference, p->config.reference, error)) ||
        !choice_check(&p->choice, &p->bundle.model.config, error))
        return false;
    bool failed = false;
    while (!stop_signal && !failed && read_chunk(p, &failed, error))
        if (!translate_chunk(p, failed ? NULL : error)) return false;
    if (failed) return false;
    if (!p->config.reference || stop_signal) return true;
    return scores_end(&p->scores, &p->reference, error) && scores_print(&p->scores, stderr);
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
    if (p->config.hypothesis && !p->config.reference)
        return error_set(error, "--hypothesis needs --reference, the file to compare it with");
    if (p->config.hypothesis && p->texts.count)
        return error_set(error, "--hypothesis scores a file of translations: no text to translate "
                         "can be given with it");
    if (p->config.json && !p->config.hypothesis)
        return error_set(error, "--json goes with --hypothesis");
    return choice_parse(&p->choice, &p->choice_config, error) && search_check(&p->search, error);
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
    groups[3] = (OptionGroup){"Drawing it", NULL, picture_options, picture_option_count,
                              &p->picture};
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
    if (!(p->config.hypothesis ? score(p, error) : translate(p, error))) return 1;
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
    bundle_free(&p.bundle);
    idlines_free(&p.lines);
    text_close(&p.input);
    text_close(&p.reference);
    strings_free(&p.texts);
    options_free(groups, GROUPS);
    return status;
}
