/* view.c -- text, links, weights, pictures and explanations; see view.h. */
#include "commands/translate/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/json.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "commands/translate/input.h"
#include "explain/explain.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "explain/page.h"
#include "explain/picture.h"
#include "inference/copying.h"

/* One translation of a line. */
typedef struct Answer {
    const Hypothesis *hypothesis;
    char *text, *links;   // links NULL: no alignment
    int *word, words;     // of each token but </s>, for the links and the confidence
    double *confidence;   // [words] the probability of each word; NULL: not needed
    const char **copied;  // unknown words of the source in its place (inference/copying.h)
    LazySnapshot lazy;
} Answer;

bool view_needs_words(const View *view)
{
    return view->request->align;
}

bool view_open(View *view, Error *error)
{
    const Request *r = view->request;
    const ModelConfig *config = &view->bundle->model.config;
    Choice *choice = &view->choice;
    bool guided = false;
    int last = config->decoder_layers - 1;
    *choice = view->drawn = r->choice;
    if (!choice_check(choice, config, error)) return false;
    bool unchosen = choice->layer < 0 && choice->head == CHOICE_NONE;
    bool best = choice->kind == ATTENTION_CROSS &&
                (choice->head == CHOICE_BEST || (r->explain && unchosen));
    if (r->explain && choice->all_kinds && view->news)
        fprintf(view->news,
                "%s: --explain explains one kind of attention, here cross; --attention-kind "
                "encoder or decoder explains another\n",
                command_name());
    if ((r->attention.count || r->show || r->align || best) &&
        !aligner_guided(&guided, view->bundle->config, r->model.item[0], error))
        return false;
    if (r->align &&
        !aligner_create(&view->aligner, guided, choice, config->decoder_layers, error))
        return false;
    if (guided) view->drawn.known_layer = last, view->drawn.known_head = 0;
    if (guided && best && (choice->layer < 0 || choice->layer == last))
        choice->layer = last, choice->head = 0;
    if (r->attention.count) view->missing = command_share(sizeof *view->missing);
    return !r->head_report || heads_create(&view->heads, config, error);
}

/* ---- the attention ---- */

typedef struct Drawing {
    char path[4200];
    const PictureInput *input;
} Drawing;

static bool draw_file(const void *context, Error *error)
{
    const Drawing *d = context;
    return picture_format(d->path, error) == PICTURE_HTML
               ? page_save(d->path, d->input, error)
               : picture_save(d->path, NULL, d->input, error);
}

/* Draws "out.png" of a single text, and "out-3.png" of the third of several. */
static bool draw(const View *view, const PictureInput *input, const char *name,
                 long long number, Error *error)
{
    Drawing drawing = {.input = input};
    char *path = drawing.path;
    int stem = (int)(strrchr(name, '.') - name);
    if (view->request->texts.count == 1) snprintf(path, sizeof drawing.path, "%s", name);
    else snprintf(path, sizeof drawing.path, "%.*s-%lld%s", stem, name, number, name + stem);
    if (!command_draw(draw_file, &drawing, path, error)) return false;
    if (view->news) utf8_print(view->news, "%s: drew %s\n", command_name(), path);
    return true;
}

static bool report_heads(View *view, Error *error)
{
    const Request *r = view->request;
    if (!view->heads.sentences) return error_set(error, "there is no sentence to report on");
    if (!r->from) heads_print(stdout, &view->heads, r->pair_count, r->json);
    else if (!heads_rank(stdout, &view->heads, r->from, r->to, error)) return false;
    return stream_flush(stdout, "the report", error);
}

/* Whether the attention is drawn, printed or explained. */
static bool shows_attention(const Request *r)
{
    return r->attention.count || r->show || r->explain || r->head_report;
}

/* Does so for a translation of line `number`. */
static bool show(View *view, Answer *answer, long long number, Error *error)
{
    const Request *r = view->request;
    if (!shows_attention(r)) return true;
    const Snapshot *snapshot = snapshot_get(&answer->lazy, error);
    if (r->head_report)
        return snapshot && heads_add(&view->heads, snapshot, &view->bundle->vocabulary, error);
    Update update = {.number = 0};
    bool good =
        snapshot && (!r->backward || update_open(&update, r->model.item[0], snapshot, error));
    const PictureInput input = {.snapshot = snapshot,
                                .gradients = update.snapshot[0],
                                .vocabulary = &view->bundle->vocabulary,
                                .model_name = r->model.item[0],
                                .choice = &view->drawn,
                                .words = r->words,
                                .given = r->given != NULL,
                                .missing = view->missing};
    for (int i = 0; good && i < r->attention.count; i++)
        good = draw(view, &input, r->attention.item[i], number, error);
    good = good && (!r->show || r->json || picture_save(NULL, stdout, &input, error)) &&
           (!r->explain || explain_print(stdout, snapshot, input.vocabulary, &view->choice,
                                         r->word, r->backward ? &update : NULL, error));
    update_close(&update);
    return good;
}

/* For an empty line: fails if its attention is to be shown and it is the only text. */
static bool show_nothing(const View *view, long long number, Error *error)
{
    const Request *r = view->request;
    if (!shows_attention(r)) return true;
    if (r->texts.count == 1) return error_set(error, "the text is empty: it has no attention");
    if (view->news)
        fprintf(view->news, "%s: line %lld is empty: it has no attention\n", command_name(),
                number);
    return true;
}

/* ---- the answer ---- */

static bool find_words(Answer *answer, const Tokenizer *tokenizer, Error *error)
{
    const Hypothesis *from = answer->hypothesis;
    answer->word = malloc((size_t)from->length * sizeof *answer->word);
    if (!answer->word) return error_memory(error, "for the words of a translation");
    return words_of_ids(answer->word, &answer->words, tokenizer, from->id, from->length - 1,
                        error);
}

/* answer->links (=) the links of the pair, as text. source_word [n-1]: the words of the source's
 * tokens. */
static bool find_links(Answer *answer, View *view, const int *source_word, Error *error)
{
    TextStream stream;
    const Snapshot *snapshot = snapshot_get(&answer->lazy, error);
    if (!snapshot || !aligner_link(&view->aligner, snapshot, source_word, answer->word, error))
        return false;
    FILE *out = textstream_open(&stream);
    if (out) links_print(out, &view->aligner.links);
    answer->links = textstream_close(&stream);
    return answer->links || error_memory(error, "to align words");
}

/* answer->confidence (=) the probability of each word of the text, the product of its tokens'. A
 * token may be several words: each has its probability. */
static bool find_confidence(Answer *answer, Error *error)
{
    const int *word = answer->word;
    answer->confidence = calloc((size_t)answer->words + 1, sizeof *answer->confidence);
    if (!answer->confidence) return error_memory(error, "for the words of a translation");
    for (int t = 0, last = -1; t < answer->hypothesis->length - 1; last = word[t++])
        for (int w = word[t] > last ? last + 1 : word[t]; w <= word[t]; w++)
            answer->confidence[w] += answer->hypothesis->each[t];
    for (int w = 0; w < answer->words; w++) answer->confidence[w] = exp(answer->confidence[w]);
    return true;
}

/* The members of one translation, into the object that is open. */
static void put_answer(JsonWriter *json, const Answer *answer, const Tokenizer *tokenizer)
{
    const Hypothesis *hypothesis = answer->hypothesis;
    json_put_text(json, "text", answer->text);
    json_put_real(json, "score", hypothesis->score);
    json_put_real(json, "log_probability", hypothesis->log_probability);
    json_open_array(json, "tokens");
    for (int t = 0; t < hypothesis->length; t++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, hypothesis->id[t]));
    json_close(json);
    json_open_array(json, "log_probabilities");
    for (int t = 0; t < hypothesis->length; t++) json_put_real(json, NULL, hypothesis->each[t]);
    json_close(json);
    json_open_array(json, "confidence");
    for (int w = 0; w < answer->words; w++) json_put_real(json, NULL, answer->confidence[w]);
    json_close(json);
    if (answer->links) json_put_text(json, "alignment", answer->links);
}

static void put_tokens(JsonWriter *json, const char *key, const View *view,
                       const Snapshot *snapshot, TokenSide side)
{
    const Tokenizer *tokenizer = labels_tokenizer(&view->bundle->vocabulary, side);
    json_open_array(json, key);
    for (int i = 0; i < labels_tokens(snapshot, side); i++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, labels_id(snapshot, side, i)));
    json_close(json);
}

/* One map; head: CHOICE_MEAN for the mean of the layer. */
static bool put_map(JsonWriter *json, const View *view, const Snapshot *snapshot,
                    AttentionKind kind, int layer, int head, Error *error)
{
    Map map;
    if (!map_head(&map, snapshot, kind, layer, head, error)) return false;
    json_open(json, NULL);
    json_put_text(json, "kind", attention_kind_names[kind]);
    json_put_integer(json, "layer", layer + 1);
    if (head == CHOICE_MEAN) json_put_text(json, "head", "mean");
    else json_put_integer(json, "head", head + 1);
    put_tokens(json, "rows", view, snapshot, labels_rows(kind));
    put_tokens(json, "columns", view, snapshot, labels_columns(kind));
    const float *weight = map.at;
    json_open_array(json, "weights");
    for (int i = 0; i < map.rows; i++) {
        json_open_array(json, NULL);
        for (int j = 0; j < map.columns; j++)
            json_put_real(json, NULL, round(1e6 * (double)*weight++) / 1e6);
        json_close(json);
    }
    json_close(json);
    json_close(json);
    map_free(&map);
    return true;
}

/* The chosen maps of a translation, into the array that is open. */
static bool put_attention(JsonWriter *json, const View *view, Answer *answer, Error *error)
{
    const Snapshot *snapshot = snapshot_get(&answer->lazy, error);
    const PictureInput input = {
        .snapshot = snapshot, .vocabulary = &view->bundle->vocabulary, .choice = &view->drawn};
    Choice choice = view->drawn;
    PictureBest best;
    bool good = snapshot;
    if (good && choice.head == CHOICE_BEST) {
        good = picture_best(&best, &input, error);
        choice.layer = best.layer, choice.head = best.head;
    }
    bool all = choice.head == CHOICE_NONE;
    int first = all ? 0 : choice.head,
        last = all ? view->bundle->model.config.heads - 1 : choice.head;
    for (AttentionKind kind = ATTENTION_ENCODER; good && kind <= ATTENTION_CROSS; kind++)
        for (int l = 0; l < snapshot_layers(snapshot, kind); l++)
            for (int h = first; h <= last; h++)
                if ((choice.all_kinds || choice.kind == kind) &&
                    (choice.layer < 0 || choice.layer == l))
                    good = good && put_map(json, view, snapshot, kind, l, h, error);
    return good;
}

static bool print_json(const View *view, Answer *answers, int count, const IdLines *lines,
                       int s, long long number, Error *error)
{
    const Tokenizer *tokenizer = view->bundle->vocabulary.tokenizer[TARGET];
    bool several = view->request->search.n_best > 1;
    JsonWriter json = {.out = stdout, .lines = true};
    json_open(&json, NULL);
    json_put_integer(&json, "line", number);
    input_put_unknown(&json, "unknown", lines, s);
    put_answer(&json, &answers[0], tokenizer);
    if (several) json_open_array(&json, "n_best");
    for (int h = 0; several && h < count; h++) {
        json_open(&json, NULL);
        put_answer(&json, &answers[h], tokenizer);
        json_close(&json);
    }
    if (several) json_close(&json);
    bool good = true;
    if (view->request->show) {
        json_open_array(&json, "attention");
        good = !answers->hypothesis->length || put_attention(&json, view, answers, error);
        json_close(&json);
    }
    json_close(&json);
    return good;
}

static void print_text(const Answer *answer, bool several, long long number)
{
    if (several) printf("%lld ||| ", number);
    utf8_put(stdout, answer->text);
    if (several) printf(" ||| %.4f", answer->hypothesis->score);
    if (answer->links) printf(" ||| %s", answer->links);
    putchar('\n');
}

/* answer (=) a translation of line s: its alignment, its text. */
static bool make_answer(View *view, Answer *answer, const Hypothesis *hypothesis,
                        const IdLines *lines, int s, Error *error)
{
    int first = lines->start[s];
    const Tokenizer *tokenizer = view->bundle->vocabulary.tokenizer[TARGET];
    LazySnapshot *lazy = &answer->lazy;
    answer->hypothesis = hypothesis;
    *lazy = copying_snapshot(&view->bundle->model, lines, s, hypothesis);
    lazy->unknown[SOURCE] = (const char *const *)lines->unknown + first;
    lazy->each = hypothesis->each;
    bool links = hypothesis->length && view_needs_words(view),
         confidence = hypothesis->length && view->request->json;
    if (((links || confidence) && !find_words(answer, tokenizer, error)) ||
        (links && !find_links(answer, view, lines->word + first, error)) ||
        (confidence && !find_confidence(answer, error)))
        return false;
    bool copies = view->request->search.copy_unknown && !view->given;
    if (copies && !copying_choose(&answer->copied, lines, s, hypothesis, lazy, error))
        return false;
    lazy->unknown[TARGET] =
        view->given ? (const char *const *)view->given->unknown : answer->copied;
    return tokenizer_decode_replaced(tokenizer, &answer->text, hypothesis->id,
                                     (size_t)hypothesis->length, lazy->unknown[TARGET], error);
}

static void answer_free(Answer *answer)
{
    snapshot_close(answer->lazy.taken);
    free(answer->text);
    free(answer->links);
    free(answer->word);
    free(answer->confidence);
    free(answer->copied);
}

/* All views of a translation share one snapshot. */
bool view_answer(View *view, char **text, const IdLines *lines, int s,
                 const Translation *translation, long long number, Error *error)
{
    static const Hypothesis nothing = {0};
    const Request *r = view->request;
    bool empty = lines->start[s + 1] - lines->start[s] == 1, good = true;
    bool several = r->search.n_best > 1;
    const Hypothesis *hypothesis = empty ? &nothing : translation->hypothesis;
    int count = empty || !several ? 1 : translation->count;
    Answer *answers = calloc((size_t)count, sizeof *answers);
    if (!answers) return error_memory(error, "for %d texts", count);
    if (empty) good = show_nothing(view, number, error);
    for (int h = 0; h < count && good; h++) {
        good = make_answer(view, &answers[h], &hypothesis[h], lines, s, error);
        if (h > 0) snapshot_close(answers[h].lazy.taken), answers[h].lazy.taken = NULL;
    }
    if (good && r->json && !r->head_report)
        good = print_json(view, answers, count, lines, s, number, error);
    else if (!r->head_report && (empty || !r->explain))
        for (int h = 0; good && h < count; h++) print_text(&answers[h], several, number);
    good = good && (empty || show(view, answers, number, error));
    *text = answers[0].text;
    answers[0].text = NULL;
    for (int h = 0; h < count; h++) answer_free(&answers[h]);
    free(answers);
    return good;
}

bool view_close(View *view, Error *error)
{
    MissingGlyphs *missing = view->missing;
    if (view->news && missing && missing->characters[0])
        fprintf(
            view->news,
            "%s: no font for %s(boxes in the picture): install one, such as fonts-noto-core\n",
            command_name(), missing->characters);
    if (missing) munmap(missing, sizeof *missing);
    bool good = !error || !view->request->head_report || report_heads(view, error);
    aligner_free(&view->aligner);
    heads_free(&view->heads);
    return good;
}
