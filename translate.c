/* translate.c -- ./translate: text in, translated text out.
 *
 *   read the options, load the models
 *   chunk by chunk: lines → ids → search → text, in the order of the input;
 *       for each translation, what --attention, --explain and --align show (view.h)
 *   with --reference: BLEU and chrF of all translations (scores.h)
 *
 * Other options ask about given translations, or write or print something of the model: `work` and
 * `read_input` choose. */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/options.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "commands/progressbar.h"
#include "commands/translate/alignment.h"
#include "commands/translate/input.h"
#include "commands/translate/likelihood.h"
#include "commands/translate/neighbours.h"
#include "commands/translate/request.h"
#include "commands/translate/scores.h"
#include "commands/translate/view.h"
#include "commands/translate/webpage.h"
#include "data/html.h"
#include "data/words.h"
#include "explain/byhand.h"
#include "inference/answer.h"
#include "inference/beginnings.h"
#include "inference/bundle.h"
#include "inference/marian.h"
#include "inference/scoring.h"
#include "inference/translator.h"

enum { CHUNK = 2000 };

static void on_signal(int number)
{
    file_stop = number;
    signal(number, SIG_DFL);
}

/* Ends as programs do when nobody reads their output any more; the news may be without a
 * reader. */
static void on_pipe(int number)
{
    struct pollfd output = {.fd = STDOUT_FILENO};
    if (poll(&output, 1, 0) > 0) signal(number, SIG_DFL), raise(number);
}

typedef struct Program {
    Request request;
    Models models;
    const Bundle *bundle;  // the first model
    Workers *workers;
    Input input;
    Scores scores;
    View view;
    Passages passages;  // the chunk
    json_t *ids;        // of its texts, with --json: null if a text has none
    uint64_t before;    // sentences of the chunks before it
    Beginnings prefix;  // of the chunk, with --prefix
    int missing;        // spans of HTML documents that their translations lack
    FILE *news;         // standard error; NULL with --quiet
} Program;

/* ---- translating ---- */

/* Says which sentences of the last text are too long. what: "line" or "block", and its number */
static void warn_of_cut(Program *p, const char *what, long long number)
{
    const Passage *passage = &p->passages.passage[p->passages.count - 1];
    for (int i = 0; i < passage->count; i++) {
        int cut = p->passages.sentence[passage->first + i].cut;
        if (!cut) continue;
        progressbar_clear(&p->input.bar);
        command_say(
            p->news,
            "%s %lld has %s%d tokens without the end of a sentence; only the first "
            "%d are translated, as the model's limit is %d: make shorter sentences of it",
            what, number, passage->length > TOKENIZER_MAX_TEXT ? "at least " : "", cut,
            p->bundle->max_length - 1, p->bundle->max_length);
    }
}

/* Adds a text to the chunk. With --json it may be in an object {"id":…,"text":…}. */
static bool add_text(Program *p, const char *line, size_t length, Error *error)
{
    json_error_t why = {0};
    size_t blank = strspn(line, " \t");
    bool code = p->input.code && !p->request.given;
    bool in_object = p->request.json && !code && line[blank] == '{';
    json_t *object = in_object ? json_loadb(line, length, 0, &why) : NULL,
           *text = json_object_get(object, "text"), *id = json_object_get(object, "id");
    if (json_is_string(text)) line = json_string_value(text), length = json_string_length(text);
    else if (in_object && line[blank + 1] == '"')
        command_say(p->news,
                    "line %lld is no object with a text (%s): it is translated as it stands",
                    p->input.line, *why.text ? why.text : "there is no \"text\"");
    if (id && !json_is_string(id) && !json_is_integer(id)) {
        command_say(p->news, "line %lld: the id is neither a text nor an integer: left out",
                    p->input.line);
        id = NULL;
    }
    if (p->request.json)
        json_array_append(p->ids, json_is_string(text) && id ? id : json_null());
    const char *prefix = p->request.prefix;
    p->passages.kept = code;
    bool good =
        passages_add(&p->passages, line, length, error) &&
        (!prefix || beginnings_add(&p->prefix, &p->passages, prefix, "--prefix", error));
    json_decref(object);
    return good;
}

/* Fills p->passages, and stops early where the input would have to be waited for. Lines before an
 * error are kept. */
static TextResult read_chunk(Program *p, Error *error)
{
    Passages *passages = &p->passages;
    passages_clear(passages);
    idlines_clear(&p->prefix.lines);
    json_array_clear(p->ids);
    do {
        const char *line;
        size_t length;
        TextResult result = input_next(&p->input, &line, &length, error);
        if (result != TEXT_LINE) return result;
        if (!add_text(p, line, length, error)) return TEXT_ERROR;
        passages->passage[passages->count - 1].line = p->input.line;
        warn_of_cut(p, "line", p->input.line);
        input_warn_unknown(&p->input, &passages->passage[passages->count - 1].unknown, NULL);
    } while (passages->count < CHUNK && passages->lines.count < CHUNK &&
             input_ready(&p->input) && !file_stop);
    return TEXT_LINE;
}

/* Shows the translations of text i of the chunk, and scores the best one. */
static bool answer(Program *p, const Translation *translation, int i, Error *error)
{
    char *text = NULL;
    p->view.id = json_array_get(p->ids, (size_t)i);
    bool good = view_answer(&p->view, &text, &p->passages, i, translation, error);
    if (good && p->request.reference.count) {
        const Passage *passage = &p->passages.passage[i];
        size_t tag = passage->tag;
        while (tag && words_blank(passage->text[tag - 1])) tag--;
        scores_add(&p->scores, (const char *[]){text}, passage->text, tag);
    }
    free(text);
    return good;
}

/* Encodes the text of an option as a line of the target; names its unknown words. */
static bool encode_option(Program *p, IdLines *line, size_t *cut, const char *option,
                          const char *text, Error *error)
{
    line->find_unknown = true;
    return bundle_encode(p->bundle, TARGET, line, text, strlen(text), cut, error) &&
           input_warn_line(&p->input, line, option, error);
}

/* Answers the only text with the given translation, as the models score it. */
static bool answer_given(Program *p, Error *error)
{
    IdLines given = {0};
    Hypothesis h = {0};
    size_t cut;
    bool good = encode_option(p, &given, &cut, "--given", p->request.given, error) &&
                (!cut || error_set(error, "--given has %zu tokens, and the model takes %d", cut,
                                   p->bundle->max_length - 1));
    if (good && p->passages.lines.count) {
        Packed source = idlines_packed(&p->passages.lines), target = idlines_packed(&given);
        h = (Hypothesis){.id = given.ids.id,
                         .length = target.rows,
                         .each = calloc((size_t)target.rows, sizeof *h.each)};
        good = (h.each || error_memory(error, "for a translation")) &&
               scoring_run(h.each, NULL, &p->models.ensemble, &source, &target, p->workers,
                           NULL, error);
        for (int t = 0; good && t < h.length; t++) h.log_probability += h.each[t];
        h.score = search_score(&p->request.search, h.log_probability, h.length);
    }
    p->passages.begun = &given;
    good = good && answer(p, &(Translation){&h, 1, p->bundle->max_length + 1}, 0, error);
    free(h.each);
    idlines_free(&given);
    return good;
}

/* Called when `sentences` of the chunk are translated. */
static void show_progress(void *context, int sentences)
{
    Program *p = context;
    const Passages *chunk = &p->passages;
    double read = (double)p->input.lines;
    double lines = read - chunk->count * (1 - (double)sentences / chunk->lines.count);
    double share = input_share(&p->input) * lines / read, now = clock_seconds();
    ProgressBar *bar = &p->input.bar;
    double seconds = now - bar->begin;
    char number[NUMBER_TEXT];
    if (!progressbar_begin(bar, now)) return;
    if (share > 0) progressbar_share(bar, share, seconds * (1 - share) / share, false);
    progressbar_add(bar, "%s lines", number_text(number, lines));
    progressbar_add(bar, "%s/s", number_text(number, lines / seconds));
    progressbar_end(bar);
}

/* out (=) the translations of all sentences of the chunk */
static bool search(Program *p, Translations *out, Error *error)
{
    const Passages *chunk = &p->passages;
    if (!chunk->lines.count) return true;
    const IdLines *begin = &p->prefix.lines;
    Packed prefix = begin->count ? idlines_packed(begin) : (Packed){0};
    TranslatorInput input =
        translator_input(idlines_packed(&chunk->lines), &p->bundle->vocabulary);
    input.prefix = begin->count ? &prefix : NULL;
    input.line = p->before + 1;
    input.done = show_progress, input.context = p;
    return translator_run(out, &p->models.ensemble, &input, &p->request.search, p->workers,
                          &file_stop, error);
}

static bool translate_chunk(Program *p, Error *error)
{
    if (p->request.given) return answer_given(p, error);
    const Passages *chunk = &p->passages;
    Translations out = {0};
    bool good = search(p, &out, error);
    p->before += (uint64_t)chunk->lines.count;
    progressbar_clear(&p->input.bar);  // what is doubtful is said
    for (int i = 0; i < chunk->count && good && !out.stopped; i++)
        good =
            answer(p, out.sentence ? out.sentence + chunk->passage[i].first : NULL, i, error);
    translations_free(&out);
    return good && stream_flush(stdout, "the translations", error);
}

static bool translate(Program *p, Error *error)
{
    const Request *r = &p->request;
    bool is_watched = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO) && !p->input.prompt;
    p->input.bar = progressbar_start(is_watched ? p->news : NULL, clock_seconds());
    p->input.wrapped = r->passage.wrapped;
    p->ids = json_array();
    if (!passages_open(&p->passages, p->bundle, &r->passage, error)) return false;
    p->passages.lines.find_words = r->align;
    p->passages.lines.characters = r->align_unit == ALIGN_CHARACTERS;
    if (r->given) p->passages.plain = p->passages.whole = true;
    size_t cut;  // each sentence may have as many tokens as the model takes
    if (r->prefix && !encode_option(p, &p->prefix.lines, &cut, "--prefix", r->prefix, error))
        return false;
    TextResult result = TEXT_LINE;
    while (!file_stop && result == TEXT_LINE) {
        result = read_chunk(p, error);
        if (p->passages.count && !translate_chunk(p, result == TEXT_ERROR ? NULL : error))
            return false;
    }
    if (p->input.fence.count && result == TEXT_END && !file_stop) {
        progressbar_clear(&p->input.bar);
        command_say(p->news,
                    "line %lld begins a block of code that no line ends: nothing from there on "
                    "is translated; end it with a line %.*s",
                    p->input.fence_line, p->input.fence.count,
                    strchr("~~~---``````````", p->input.fence.mark));
    }
    return result != TEXT_ERROR;
}

/* ---- HTML documents (data/html.h) ---- */

/* translation (=) those of blocks first .. first+CHUNK-1, for free(). */
static bool translate_blocks(Program *p, const HtmlDocument *d, int first, char **translation,
                             Error *error)
{
    Passages *passages = &p->passages;
    Translations out = {0};
    bool good = true;
    passages_clear(passages);
    for (int k = first; good && k < d->count && k < first + CHUNK; k++) {
        const char *text = d->block[k].text;
        if (!(good = passages_add(passages, text, strlen(text), error))) break;
        warn_of_cut(p, "block", k + 1);
        input_warn_unknown(&p->input, &passages->passage[k - first].unknown, NULL);
    }
    good = good && search(p, &out, error);
    for (int k = 0; good && !out.stopped && k < passages->count; k++) {
        TextAnswer a = {0};
        good = answer_create(&a, passages, k,
                             out.sentence ? out.sentence + passages->passage[k].first : NULL, 0,
                             &p->request.search, false, error);
        for (int i = 0; good && i < a.count; i++) p->missing += a.sentence[i].missing.count;
        translation[first + k] = a.text, a.text = NULL;
        answer_free(&a);
    }
    good = good && !out.stopped;
    translations_free(&out);
    return good;
}

/* name: of the document, for errors */
static bool translate_document(Program *p, const char *html, size_t length, const char *name,
                               Error *error)
{
    HtmlDocument d = {0};
    size_t bad;
    bool good = (utf8_is_valid(html, length, &bad) ||
                 error_set(error, "%s is not valid UTF-8 (byte %zu)", name, bad + 1)) &&
                (strlen(html) == length || error_set(error, "%s has a NUL byte in it", name)) &&
                html_open(&d, html, length, error);
    char **translation = calloc((size_t)d.count + 1, sizeof *translation), *out = NULL;
    for (int k = 0; good && translation && k < d.count; k += CHUNK)
        good = translate_blocks(p, &d, k, translation, error);
    if (good && translation) out = html_join(&d, (const char *const *)translation);
    if (out) fputs(out, stdout);
    else if (good) good = error_memory(error, "for HTML");
    for (int k = 0; translation && k < d.count; k++) free(translation[k]);
    free(out);
    free(translation);
    html_close(&d);
    return good;
}

/* Prints each text, or the whole of standard input, with its blocks translated. */
static bool translate_documents(Program *p, Error *error)
{
    const StringList *texts = &p->request.texts;
    bool good = passages_open(&p->passages, p->bundle, &p->request.passage, error);
    for (int i = 0; good && i < texts->count; i++) {
        char name[24];
        snprintf(name, sizeof name, "text %d", i + 1);
        good = translate_document(p, texts->item[i], strlen(texts->item[i]), name, error);
        putchar('\n');
    }
    if (good && !texts->count) {
        size_t length = 0;
        char *html = file_read_input("-", TEXT_MAX_LINE, &length, error);
        good = html && translate_document(p, html, length, TEXT_STANDARD_INPUT, error);
        free(html);
    }
    bool one = p->missing == 1;
    if (good && p->missing)
        command_say(p->news,
                    "check the translation: %d number%s, name%s or the like of the document %s "
                    "not in it",
                    p->missing, one ? "" : "s", one ? "" : "s", one ? "is" : "are");
    return stream_flush(stdout, "the translations", error) && good;
}

/* ---- without translating ---- */

static bool export_model(Program *p, Error *error)
{
    Bundle *bundle = &p->models.bundle[0];
    const char *model = p->request.model.item[0];
    if (!bundle_load(bundle, model, BUNDLE_ROWS, NULL, error)) return false;
    if (p->request.page) return webpage_save(p->request.page, bundle, model, p->news, error);
    return marian_export(&bundle->model, &bundle->vocabulary, p->request.export, error);
}

static ByHand by_hand;
static MissingGlyphs *missing;

static bool draw_by_hand(const void *path, Error *error)
{
    return byhand_draw(path, &by_hand, missing, error);
}

static bool compute_by_hand(const Program *p, Error *error)
{
    const Request *r = &p->request;
    if (!byhand_read(&by_hand, r->by_hand, error) ||
        !byhand_print(stdout, &by_hand, r->word, error))
        return false;
    if (r->backward) byhand_backward(stdout, &by_hand);
    if (!stream_flush(stdout, "the steps", error)) return false;
    missing = command_share(sizeof *missing);  // it is drawn in another process
    for (int i = 0; i < r->attention.count; i++) {
        const char *path = r->attention.item[i];
        if (!command_draw(draw_by_hand, path, path, error)) return false;
        command_say(p->news, "drew %s", path);
    }
    command_say_missing(p->news, missing);
    return true;
}

/* Prints the pieces of the vocabularies without the special tokens. */
static bool list_vocabulary(const Vocabulary *vocabulary, Error *error)
{
    for (int side = vocabulary_is_joint(vocabulary) ? TARGET : SOURCE; side < SIDES; side++) {
        const Tokenizer *tokenizer = vocabulary->tokenizer[side];
        bool words = tokenizer_type(tokenizer) == TOKENIZER_WORD;
        for (int id = ID_UNKNOWN + 1; id < tokenizer_vocab_size(tokenizer) - 1; id++)
            utf8_put(stdout, (words ? tokenizer_label : tokenizer_piece)(tokenizer, id),
                     UTF8_CELL_ENDS),
                putchar('\n');
    }
    return stream_flush(stdout, "the vocabulary", error);
}

/* ---- the program ---- */

/* Translates the input, or scores or aligns its pairs. */
static bool read_input(Program *p, Error *error)
{
    const Request *r = &p->request;
    int threads = r->threads ? r->threads : workers_processors();
    p->view = (View){.request = r, .bundle = p->bundle, .news = p->news};
    bool good = view_open(&p->view, error) && (p->workers = workers_start(threads, error)) &&
                input_open(&p->input, r, p->news, error) &&
                (!r->reference.count ||
                 scores_open(&p->scores, r, p->bundle->vocabulary.tokenizer[TARGET], error));
    bool may_be_pairs = (r->align || r->head_report) && !r->reference.count && !r->show &&
                        !r->attention.count && !r->given && !r->prefix && !r->passage.wrapped;
    bool pairs = r->target || r->gold;
    p->input.reader.exact =
        !r->json && !r->align && !r->head_report && r->search.n_best == 1 && !r->score;
    if (good && may_be_pairs && !pairs) good = input_is_pairs(&p->input, &pairs, error);
    if (good && r->score)
        good = likelihood_run(&p->input, &p->models, p->workers, r->json, error);
    else if (good && r->html) good = translate_documents(p, error);
    else if (good)
        good = pairs ? alignment_run(&p->input, p->bundle, p->view.by, r,
                                     r->head_report ? &p->view.heads : NULL, error)
                     : translate(p, error);
    input_end(&p->input);
    if (good && r->reference.count && !file_stop)
        good = scores_end(&p->scores, stderr, false, error);
    return view_close(&p->view, good ? error : NULL) && good;
}

static bool work(Program *p, Error *error)
{
    const Request *r = &p->request;
    if (r->by_hand) return compute_by_hand(p, error);
    p->bundle = &p->models.bundle[0];
    bool without = r->bleu_tokenize != TOKENIZATION_SPM || r->bleu_model;
    if (r->hypothesis.count)
        return (without || request_load_models(&p->models, r, error)) &&
               scores_open(&p->scores, r, p->bundle->vocabulary.tokenizer[TARGET], error) &&
               scores_add_files(&p->scores, error) &&
               scores_end(&p->scores, stdout, r->json, error) &&
               stream_flush(stdout, "the scores", error);
    if (r->align && !r->model.count)
        return input_open(&p->input, r, p->news, error) && aligner_run(&p->input, r, error);
    if (r->export || r->page) return export_model(p, error);
    if (!request_load_models(&p->models, r, error)) return false;
    if (r->save_int8) return bundle_save_int8(p->bundle, r->save_int8, error);
    if (r->neighbours) return neighbours_print(p->bundle, r->neighbours, p->news, error);
    if (r->list_vocabulary) return list_vocabulary(&p->bundle->vocabulary, error);
    return read_input(p, error);
}

static bool print_help(bool brief, Error *error)
{
    static Request defaults;
    if (!request_defaults(&defaults, error)) return false;
    command_print_options(defaults.groups, REQUEST_GROUPS, brief,
                          "[OPTION]... [TEXT]...\n"
                          "Translates each TEXT, or standard input line by line.",
                          "  %1$stranslate --attention attention.html \"jane visits africa in "
                          "september\"\n"
                          "  %1$stranslate --model checkpoints/mine <test.en >test.fr\n");
    request_free(&defaults);
    return stream_flush(stdout, "the help", error);
}

static void say_replaced(FILE *news, const TextReader *reader)
{
    const char *encoding = reader->encoding;
    bool other = *encoding && strcmp(encoding, "UTF-8") != 0;
    if (reader->replaced)
        command_say(news, "%s: %zu line%s with invalid UTF-8, where U+FFFD was read%s%s%s",
                    reader->name, reader->replaced, reader->replaced == 1 ? "" : "s",
                    other ? ": convert it, for example by iconv -f " : "",
                    other ? encoding : "", other ? " -t UTF-8" : "");
}

static int run(Program *p, int argc, char **argv, Error *error)
{
    if (!request_read(&p->request, argc, argv, error)) return 2;
    if (p->request.help || p->request.short_help)
        return print_help(!p->request.help, error) ? 0 : 1;
    if (p->request.version)
        return puts("qkv " QKV_VERSION), stream_flush(stdout, "the version", error) ? 0 : 1;
    p->news = p->request.quiet ? NULL : stderr;
    command_catch(SIGINT, on_signal);
    command_catch(SIGTERM, on_signal);
    bool good = work(p, error);
    say_replaced(p->news, &p->input.reader);
    say_replaced(p->news, &p->input.target);
    for (int f = 0; f < p->scores.files; f++) say_replaced(p->news, &p->scores.reference[f]);
    scores_close(&p->scores);
    return file_stop ? 128 + file_stop : good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static Program p;
    Error error = {""};
    command_start();
    signal(SIGPIPE, on_pipe);
    int status = run(&p, argc, argv, &error);
    options_name_in_error(p.request.groups, REQUEST_GROUPS, &error);
    if (status == 1 || status == 2) fprintf(stderr, "%s: %s\n", command_name(), error.text);
    workers_stop(p.workers);
    models_free(&p.models);
    passages_free(&p.passages);
    json_decref(p.ids);
    beginnings_free(&p.prefix);
    input_close(&p.input);
    request_free(&p.request);
    return status;
}
