/* request.c -- options, defaults, and what goes with what; see request.h. */
#include "commands/translate/request.h"

#include <unistd.h>

#include "base/utf8.h"
#include "commands/command.h"
#include "data/text.h"
#include "scores/significance.h"

const char *const align_unit_names[] = {"word", "token", "character", NULL};
const char *const align_join_names[] = {"grow-diag-final-and", "intersection", "forward",
                                        "backward", NULL};

#define FIELD(name) offsetof(Request, name)
// clang-format off
static const Option request_options[] = {
    {"model", OPTION_LIST, FIELD(model), 0, 0, NULL, "FILE|DIR",
     "a checkpoint, the folder of a run or of a MarianMT model, or toy: the model that comes with the "
     "program; several translate as an ensemble", OPTION_COMMON},
    {"threads", OPTION_INT, FIELD(threads), 0, 1024, NULL, NULL,
     "number of threads; 0: one for each processor. The result is the same for any number",
     OPTION_COMMON},
    {"int8", OPTION_FLAG, FIELD(int8), 0, 0, NULL, NULL,
     "quantise the weights to 8 bits: faster, nearly the same translations", OPTION_COMMON},
    {"page", OPTION_TEXT, FIELD(page), 0, 0, NULL, "OUT.html",
     "write a page for browsers that translates with this model by itself, quantised, and stop", 0},
    {"save-int8", OPTION_TEXT, FIELD(save_int8), 0, 0, NULL, "FILE",
     "write the quantised model to FILE, for --model, and exit", 0},
    {"export", OPTION_TEXT, FIELD(export), 0, 0, NULL, "DIR",
     "write the model to the folder DIR in the format of Hugging Face's MarianMT, and exit", 0},
    {"list-vocabulary", OPTION_FLAG, FIELD(list_vocabulary), 0, 0, NULL, NULL,
     "print the words or subwords that the model knows, one a line, and exit", 0},
    {"prefix", OPTION_TEXT, FIELD(prefix), 0, 0, NULL, "TEXT",
     "begin every translation with TEXT", 0},
    {"attention", OPTION_LIST, FIELD(attention), 0, 0, NULL, "OUT.png|svg|pdf|html",
     "draw the attention as a picture or an HTML page; of several sentences as OUT-1.png, "
     "OUT-2.png, …; may be given several times", OPTION_COMMON},
    {"show", OPTION_FLAG, FIELD(show), 0, 0, NULL, NULL,
     "print the attention below each translation; with --json: all weights", OPTION_COMMON},
    {"pieces", OPTION_FLAG, FIELD(pieces), 0, 0, NULL, NULL,
     "with --attention, --show or --explain: do not join subwords to words. \"·\" stands before a piece "
     "that goes on with a word", 0},
    {"whole-words", OPTION_FLAG, FIELD(words), 0, 0, NULL, NULL,
     "with --attention or --show: the opposite of --pieces, and the default: the columns of a word's pieces "
     "are added, their rows averaged", OPTION_EXPERT},
    {"given", OPTION_TEXT, FIELD(given), 0, 0, NULL, "TEXT",
     "use this as the translation of the only input text, to show its attention", 0},
    {"explain", OPTION_FLAG, FIELD(explain), 0, 0, NULL, NULL,
     "print step by step how a head computes attention; no translation", OPTION_COMMON},
    {"by-hand", OPTION_TEXT, FIELD(by_hand), 0, 0, NULL, "FILE",
     "compute attention for your own queries, keys and values step by step; no model "
     "(docs/by-hand.md)", 0},
    {"word", OPTION_TEXT, FIELD(word), 0, 0, NULL, "WORD|N",
     "with --explain or --by-hand: the token to follow, or its position", 0},
    {"ablate", OPTION_LIST, FIELD(intervention.ablate), 0, 0, NULL, "KIND.LAYER.HEAD=zero|uniform",
     "switch a head off, or make its attention weights uniform: cross.2.1=zero, or "
     "encoder.1.*=uniform for a layer", 0},
    {"intervene", OPTION_LIST, FIELD(intervention.intervene), 0, 0, NULL,
     "positions=0|scale=X|wq=wk",
     "add no positions; let the softmax be of X q·k; use W_K as W_Q, too", 0},
    {"head-report", OPTION_FLAG, FIELD(head_report), 0, 0, NULL, NULL,
     "print what every head does over all of the input, or over its pairs with --target: entropy, "
     "shares of the weight, typical pairs of words", 0},
    {"from", OPTION_TEXT, FIELD(from), 0, 0, NULL, "WORD",
     "with --head-report: rank the heads by the mean weight from this word to that of --to", 0},
    {"to", OPTION_TEXT, FIELD(to), 0, 0, NULL, "WORD", "with --from: the word that it attends to", 0},
    {"pair-count", OPTION_INT, FIELD(pair_count), 1, 1000000, NULL, "N",
     "with --head-report: its pairs of words occur at least this often", OPTION_EXPERT},
    {"neighbours", OPTION_TEXT, FIELD(neighbours), 0, 0, NULL, "WORD",
     "print the nearest embeddings of a word, and whose keys answer its query best", 0},
    {"backward", OPTION_FLAG, FIELD(backward), 0, 0, NULL, NULL,
     "with --explain, --by-hand or --attention OUT.html: also go back from the loss, through the gradients "
     "of a head and of its weights to one update by Adam", 0},
    {"align", OPTION_FLAG, FIELD(align), 0, 0, NULL, NULL,
     "print the word alignment: TRANSLATION ||| i-j …, source and target words counted from 0; of given "
     "translations (--target, or lines of source TAB target or source ||| target) only the links",
     OPTION_COMMON},
    {"align-unit", OPTION_CHOICE, FIELD(align_unit), 0, 0, align_unit_names, NULL,
     "with --align: what it links and counts: words, tokens of the model, or characters: code points, "
     "without blanks", 0},
    {"align-join", OPTION_CHOICE, FIELD(align_join), 0, 0, align_join_names, NULL,
     "with --align --no-model: how the two directions of what it learns from the pairs are joined",
     OPTION_EXPERT},
    {"gold", OPTION_TEXT, FIELD(gold), 0, 0, NULL, "FILE",
     "with --align: the gold links of the translations of --target, line by line. Prints the alignment "
     "error rate of every layer and head", OPTION_EXPERT},
    {"score", OPTION_FLAG, FIELD(score), 0, 0, NULL, NULL,
     "print the log probability of given translations, source TAB target, and their perplexity",
     OPTION_COMMON},
    {"target", OPTION_TEXT, FIELD(target), 0, 0, NULL, "FILE",
     "with --score, --align or --head-report: the translations of the input, line by line", 0},
    {"reference", OPTION_LIST, FIELD(reference), 0, 0, NULL, "FILE",
     "print BLEU, chrF and TER against these references, line by line; given several times: several "
     "references a line, of which an empty one is none", OPTION_COMMON},
    {"hypothesis", OPTION_LIST, FIELD(hypothesis), 0, 0, NULL, "FILE",
     "with --reference: score these translations, without a model; given several times: compare "
     "systems with the first one", 0},
    {"significance", OPTION_CHOICE, FIELD(significance), 0, 0, significance_names, NULL,
     "with --hypothesis: 95 % intervals and p-values by (paired) bootstrap resampling, or p-values by "
     "approximate randomization; auto: bootstrap for several systems", 0},
    {"trials", OPTION_INT, FIELD(trials), 0, 1000000, NULL, "N",
     "with --hypothesis: how often --significance draws; 0: 1,000 of bootstrap, 10,000 of randomization", OPTION_EXPERT},
    {"documents", OPTION_FLAG, FIELD(documents), 0, 0, NULL, NULL,
     "with --hypothesis: empty lines end documents, which --json scores and --significance draws in "
     "place of lines", OPTION_EXPERT},
    {"invalid", OPTION_CHOICE, FIELD(invalid), 0, 0, text_invalid_names, NULL,
     "a line that is not valid UTF-8: stop, or replace each invalid byte by U+FFFD", 0},
    {"bleu-tokenize", OPTION_CHOICE, FIELD(bleu_tokenize), 0, 0, tokenization_names, NULL,
     "with --reference: tokenization of BLEU, as sacrebleu names it; ja-mecab and ko-mecab need MeCab, "
     "spm takes the pieces of a SentencePiece model", 0},
    {"bleu-model", OPTION_TEXT, FIELD(bleu_model), 0, 0, NULL, "FILE",
     "with --reference: the SentencePiece model of --bleu-tokenize spm; default: that of --model", 0},
    {"lowercase", OPTION_FLAG, FIELD(lowercase), 0, 0, NULL, NULL,
     "with --reference: ignore case in BLEU and chrF; TER always does", 0},
    {"html", OPTION_FLAG, FIELD(html), 0, 0, NULL, NULL,
     "each text, or the whole of standard input, is an HTML document: translate what people read in it, "
     "and keep the rest", 0},
    {"json", OPTION_FLAG, FIELD(json), 0, 0, NULL, NULL,
     "print one JSON object per line, with scores and tokens; a line of the input may be one, too: "
     "{\"id\": …, \"text\": …}, and the answer has the id; with --hypothesis: the scores",
     OPTION_COMMON},
    {"quiet", OPTION_FLAG, FIELD(quiet), 0, 0, NULL, NULL, "print errors only",
     OPTION_COMMON | OPTION_LETTER},
    {"h", OPTION_FLAG, FIELD(short_help), 0, 0, NULL, NULL, "print the most used options", 0},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print all options", OPTION_COMMON},
    {"version", OPTION_FLAG, FIELD(version), 0, 0, NULL, NULL, "print the version", OPTION_LETTER},
};
// clang-format on

/* Texts that the tokenizer will get must be UTF-8. */
static bool check_text(const char *name, const char *text, Error *error)
{
    size_t bad;
    return !text || utf8_is_valid(text, strlen(text), &bad) ||
           error_set(error, "--%s is not valid UTF-8 (byte %zu)", name, bad + 1);
}

static int is_dash(const char *path)
{
    return path && !strcmp(path, "-");
}

static int dashes_of(const StringList *paths)
{
    int dashes = 0;
    for (int i = 0; i < paths->count; i++) dashes += is_dash(paths->item[i]);
    return dashes;
}

static const char *given(const Request *r, int argc, char *const *argv, const char *name)
{
    return options_find_text(r->groups, REQUEST_GROUPS, argc, argv, name);
}

/* Whether no text and no other options are given than those in names, "|NAME|NAME|". */
static bool check_only(const Request *r, int argc, char *const *argv, const char *names,
                       const char *why, Error *error)
{
    if (r->texts.count) return error_set(error, "%s: leave out the text", why);
    for (OptionPlace p = {0}; options_next(&p, r->groups, REQUEST_GROUPS);) {
        char name[48];
        snprintf(name, sizeof name, "|%s|", p.option->name);
        if (!strstr(names, name) && !strstr("|threads|quiet|h|help|version|", name) &&
            given(r, argc, argv, p.option->name))
            return error_set(error, "%s: leave out --%s", why, p.option->name);
    }
    return true;
}

static bool check(Request *r, int argc, char *const *argv, Error *error)
{
    if (!choice_parse(&r->choice, &r->choice_words, error) ||
        !intervention_parse(&r->intervention, error) || !check_text("given", r->given, error) ||
        !check_text("prefix", r->prefix, error))
        return false;
    bool page = false, drawn = false, picture = r->attention.count || r->show;
    bool colors = r->choice.follow || r->choice.high > r->choice.low;
    bool pairs = (r->align || r->head_report) && (r->target || r->gold);
    bool lists = r->list_vocabulary || r->neighbours;
    bool hypothesis = r->hypothesis.count, reference = r->reference.count;
    bool work = r->texts.count || reference || r->score || r->align || r->explain ||
                r->head_report || r->html || r->json || r->given || r->prefix;
    bool model = given(r, argc, argv, "model"), pieces = r->bleu_tokenize == TOKENIZATION_SPM;
    bool tests = r->significance > SIGNIFICANCE_NONE ||
                 (r->significance == SIGNIFICANCE_AUTO && r->hypothesis.count > 1);
    int dashes = dashes_of(&r->reference) + is_dash(r->target) + dashes_of(&r->hypothesis) +
                 is_dash(r->gold) +
                 (!r->texts.count && !r->by_hand && !hypothesis && !r->save_int8 && !r->page &&
                  !r->export);
    for (int i = 0; i < r->attention.count; i++) {
        int format = picture_format(r->attention.item[i], error);
        if (format < 0) return false;
        page |= format == PICTURE_HTML;
        drawn |= format != PICTURE_HTML;
    }
    if (r->by_hand &&
        !check_only(r, argc, argv, "|by-hand|word|backward|attention|model|",
                    "--by-hand computes with numbers and needs no text and no model", error))
        return false;
    if (hypothesis &&
        !check_only(r, argc, argv,
                    "|hypothesis|reference|significance|trials|documents|invalid|bleu-tokenize|"
                    "bleu-model|lowercase|json|model|",
                    "--hypothesis scores files of translations without a model", error))
        return false;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {r->given && r->texts.count != 1, "--given is the translation of one TEXT: give one"},
        {r->given && (r->search.n_best > 1 || r->score || r->target || r->prefix),
         "--given is one whole translation: it does not go with --n-best, --score, --target "
         "or --prefix"},
        {hypothesis && r->trials && !tests,
         "--trials draws for a test: give --significance or several --hypothesis, too"},
        {r->significance == SIGNIFICANCE_RANDOMIZATION && r->hypothesis.count < 2,
         "--significance randomization compares several --hypothesis: give another one"},
        {r->documents && !r->json && !tests,
         "--documents goes with --json, --significance or several --hypothesis"},
        {(pieces && hypothesis && !r->bleu_model && !model) || (r->bleu_model && !pieces),
         "--bleu-tokenize spm and --bleu-model FILE go together: FILE is a SentencePiece "
         "model; without it, that of --model is taken"},
        {hypothesis && model && (!pieces || r->bleu_model),
         "--hypothesis needs a --model for --bleu-tokenize spm only: leave it out"},
        {!r->model.count && !hypothesis && !r->by_hand && !r->align,
         "--no-model leaves no model: name one with --model"},
        {(r->page || r->export) &&
             (work || picture || (r->page && r->export) || r->save_int8 || lists || r->int8 ||
              r->intervention.any || r->model.count > 1),
         "--page or --export writes one model as it was trained, and stops: only --model goes "
         "with it"},
        {r->save_int8 && (work || picture || r->model.count > 1),
         "--save-int8 writes one model and stops: there is nothing to translate or to score "
         "with it"},
        {lists && (work || picture || r->save_int8 || (r->list_vocabulary && r->neighbours)),
         "--list-vocabulary and --neighbours print words and stop: give one of them, and "
         "nothing to translate, to score or to save"},
        {r->backward && !r->explain && !r->by_hand && !page,
         "--backward goes with --explain, --by-hand or --attention OUT.html"},
        {r->backward && (r->int8 || r->intervention.any),
         "--backward explains the model as it was trained: leave out --int8, --ablate and "
         "--intervene"},
        {!drawn &&
             (r->choice.font || colors || (r->choice.first_word && (!r->show || r->json))),
         "a page and --json show the whole: --font and --range are for .png, .svg and .pdf "
         "files, "
         "and --words is for these and for --show"},
        {r->choice.bare && (page || !r->attention.count),
         "--bare draws to a .png, .svg or .pdf file that --attention names"},
        {r->pieces && r->words, "--pieces and --whole-words are opposites: give one of them"},
        {r->html && (r->json || r->align || r->explain || r->score || reference || picture ||
                     r->given || r->prefix || r->head_report || r->search.n_best > 1),
         "--html prints a document: only options of texts and of searching go with it"},
        {r->explain && (r->json || r->align),
         "--explain is text for people: it does not go with --json or --align"},
        {r->from && (!r->to || r->json),
         "--from WORD --to WORD go together with --head-report, without --json"},
        {r->head_report && (r->align || r->explain || r->score || reference || picture),
         "--head-report goes with --target: ask for other views alone"},
        {!r->model.count && r->align &&
             (r->json || r->align_unit == ALIGN_TOKENS || picture || r->explain ||
              r->head_report || reference || r->prefix || r->given),
         "--align --no-model prints the links of words or characters, and nothing else"},
        {r->align_join != JOIN_GROWN && r->model.count,
         "--align-join goes with --align --no-model"},
        {r->gold && r->json, "--gold prints a table: it does not go with --json"},
        {dashes > 1, "only one of the input, --reference, --target, --hypothesis "
                     "and --gold can be standard input"},
        {pairs && (reference || picture || r->prefix),
         "--target and --gold are of given translations, and nothing is translated: leave out "
         "--reference, --attention and --prefix"},
        {r->score && (reference || r->align || picture || r->explain || r->prefix),
         "--score asks the model about given translations: it does not go with --reference, "
         "--align, --attention, --explain or --prefix"},
        {r->intervention.any && (r->save_int8 || r->list_vocabulary),
         "--ablate and --intervene show what a model says: they do not go with --save-int8 or "
         "--list-vocabulary"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return error_set(error, "%s", rules[i].why);
    return search_check(&r->search, error);
}

bool request_defaults(Request *r, Error *error)
{
    *r = (Request){.search = search_copying, .invalid = TEXT_REPLACE, .pair_count = 5};
    int own = sizeof request_options / sizeof *request_options;
    const OptionGroup groups[] = {
        {"Translating", NULL, request_options, own, r},
        {"Texts", NULL, passage_options, passage_option_count, &r->passage},
        {"Searching", NULL, search_options, search_option_count, &r->search},
        {"Which attention", NULL, choice_options, choice_option_count, &r->choice_words}};
    memcpy(r->groups, groups, sizeof groups);
    return options_set(r->groups, REQUEST_GROUPS, "model", "checkpoints/toy", error);
}

bool request_read(Request *r, int argc, char *const *argv, Error *error)
{
    if (!request_defaults(r, error) ||
        !options_parse(r->groups, REQUEST_GROUPS, argc, argv, &r->texts, error) ||
        !command_find_model(&r->shipped, &r->model, r->groups, REQUEST_GROUPS, argc, argv,
                            error))
        return false;
    if (r->texts.count == 1 && is_dash(r->texts.item[0])) strings_free(&r->texts);
    if (!check(r, argc, argv, error)) return false;
    r->search.no_scores =
        !r->json && r->search.n_best == 1 && !r->attention.count && !r->passage.min_score;
    return true;
}

bool request_load_models(Models *models, const Request *r, Error *error)
{
    char file[PATH_MAX + 32];
    Error missing;
    for (int m = 0; m < r->model.count; m++)
        if (!bundle_find(file, sizeof file, r->model.item[m], &missing))
            return error_set(
                error, "%s: %strain makes one%s, and --model names another", missing.text,
                command_prefix(),
                access(r->model.item[m], F_OK) == 0 ? "" : " (by default in checkpoints/toy)");
    if (r->shipped && !r->quiet)
        utf8_print(stderr,
                   "%s: using the toy model %s; %strain makes your own in checkpoints/toy\n",
                   command_name(), r->model.item[0], command_prefix());
    bool screened = r->search.no_scores && r->search.beam == 1 && !r->search.sample;
    return models_load(models, &r->model, r->int8 || r->save_int8 ? BUNDLE_INT8 : BUNDLE_FLOAT,
                       &r->intervention, error) &&
           (!screened || models_screen(models, error));
}

void request_free(Request *r)
{
    options_free(r->groups, REQUEST_GROUPS);
    strings_free(&r->texts);
    *r = (Request){0};
}
