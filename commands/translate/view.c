/* view.c -- text, links, weights, pictures and explanations; see view.h. */
#include "commands/translate/view.h"

#include <sys/mman.h>

#include "base/file.h"
#include "base/json.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "commands/translate/input.h"
#include "data/words.h"
#include "explain/explain.h"
#include "explain/labels.h"
#include "explain/maps.h"
#include "explain/picture.h"
#include "inference/answer.h"

enum { MOST_DOUBTS = 10, MOST_MISSING = 10 };  // that are named

typedef struct Answer {
    TextAnswer text;
    Links links;
} Answer;

bool view_open(View *view, Error *error)
{
    const Request *r = view->request;
    const ModelConfig *config = &view->bundle->model.config;
    Choice *choice = &view->choice;
    const json_t *weight = bundle_option(view->bundle, "training", "guide_alignment");
    bool guided = json_number_value(weight) > 0;  // head 1 of the last layer
    int last = config->decoder_layers - 1;
    *choice = r->choice;
    if (!choice_check(choice, config, error)) return false;
    if (r->explain && choice->all_kinds)
        command_say(view->news,
                    "--explain explains one kind of attention, here cross; --attention-kind "
                    "encoder or decoder explains another");
    choice_know(choice, view->bundle);
    if (guided) choice->known_layer = last, choice->known_head = 0;
    if (r->align && !alignment_choose(&view->by, guided, choice, last + 1, error)) return false;
    if (r->attention.count) view->missing = command_share(sizeof *view->missing);
    return !r->head_report || heads_create(&view->heads, config, error);
}

/* ---- the attention ---- */

/* Draws "out.png" of a single sentence, "out-3.png" of the third text or of a text's third
 * sentence, "out-3-2.png" of the second sentence of the third text. */
static bool draw(const View *view, const PictureInput *input, const char *name, int sentence,
                 Error *error)
{
    char path[4200], text[24] = "", part[16] = "";
    const char *ending = strrchr(name, '.');
    if (view->request->texts.count != 1)
        snprintf(text, sizeof text, "-%lld", view->passage->line);
    if (sentence) snprintf(part, sizeof part, "-%d", sentence);
    snprintf(path, sizeof path, "%.*s%s%s%s", (int)(ending - name), name, text, part, ending);
    if (!command_draw_attention(path, input, path, error)) return false;
    command_say(view->news, "drew %s", path);
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

/* Draws, prints or explains the attention of a sentence; sentence: 0 if it is the only one. */
static bool show(View *view, SentenceAnswer *answer, int sentence, Error *error)
{
    const Request *r = view->request;
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
                                .choice = &view->choice,
                                .words = !r->pieces,
                                .given = r->given != NULL,
                                .missing = view->missing};
    for (int i = 0; good && i < r->attention.count; i++)
        good = draw(view, &input, r->attention.item[i], sentence, error);
    good = good && (!r->show || r->json || picture_save(NULL, stdout, &input, error)) &&
           (!r->explain || explain_print(stdout, snapshot, input.vocabulary, &view->choice,
                                         r->word, r->backward ? &update : NULL, error));
    update_close(&update);
    return good;
}

/* ---- the answer ---- */

/* The word, or character, in which each token of a sentence's translation ends, and after them their
 * number, for free(); NULL on error. */
static int *find_words(int *words, const SentenceAnswer *a, const Bundle *bundle,
                       bool characters, Error *error)
{
    const Hypothesis *h = a->hypothesis;
    int *word = malloc((size_t)h->length * sizeof *word);
    if (!word) error_memory(error, "for the words of a translation");
    else if (!words_of_ids(word, words, bundle->vocabulary.tokenizer[TARGET], h->id,
                           h->length - 1, (const char *const *)a->shown, characters, error))
        free(word), word = NULL;
    if (word) word[h->length - 1] = *words;
    return word;
}

/* The word, or character, in which token t begins; a span may have several. */
static int first_word(const SentenceAnswer *a, const int *word, int t)
{
    while (a->shown[t] && t > 0 && word[t - 1] == word[t]) t--;  // the space before it
    return t && word[t - 1] == word[t] ? word[t] : t ? word[t - 1] + 1 : 0;
}

/* answer->links (=) the links of all sentences, in words, tokens or characters of the whole text. */
static bool find_links(const View *view, Answer *answer, Error *error)
{
    const IdLines *lines = &view->passages->lines;
    int first = view->passage->first;
    TextAnswer *a = &answer->text;
    size_t length = strlen(a->text);
    AlignUnit unit = (AlignUnit)view->request->align_unit;
    bool characters = unit == ALIGN_CHARACTERS;
    int all, from[SIDES] = {0};
    int *number = words_number(&all, a->text, length, characters, error);
    bool good = number;
    for (int i = 0; good && i < a->count; i++) {
        SentenceAnswer *s = &a->sentence[i];
        const int *source = lines->word + lines->start[first + i];
        const Snapshot *snapshot = snapshot_get(&s->lazy, error);
        int words,
            *word = snapshot ? find_words(&words, s, view->bundle, characters, error) : NULL;
        Links own = {0};
        for (int t = s->hypothesis->length - 1, begin = 0, last = -1; word && t >= 0; t--) {
            if (characters || s->shown[t]) begin = first_word(s, word, t), last = word[t];
            if (word[t] == last) word[t] = begin;
        }
        if (unit != ALIGN_TOKENS) from[TARGET] = s->begin < length ? number[s->begin] : all;
        good = word && ((unit != ALIGN_TOKENS && !words) ||
                        alignment_link(&own, unit, view->by, snapshot, source, word, error));
        for (int k = 0; good && k < own.count; k++) {
            Link link = own.link[k];
            link.source += from[SOURCE], link.target += from[TARGET];
            good = links_add(&answer->links, link, error);
        }
        if (unit == ALIGN_TOKENS) {
            from[SOURCE] += lines->start[first + i + 1] - lines->start[first + i] - 1;
            from[TARGET] += s->hypothesis->length - 1;
        }
        links_free(&own);
        free(word);
        if (a->count > 1) snapshot_drop(&s->lazy);
    }
    free(number);
    return good;
}

void view_put_tokens(JsonWriter *json, const Bundle *bundle, const int *id, const double *each,
                     int count)
{
    const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[TARGET];
    json_open_array(json, "tokens");
    for (int t = 0; t < count; t++)
        json_put_text(json, NULL, tokenizer_piece(tokenizer, id[t]));
    json_close(json);
    json_put_reals(json, "log_probabilities", each, count);
}

/* "KEY":[…], the words of a text (data/words.h). */
static bool put_words(JsonWriter *json, const char *key, const char *text, Error *error)
{
    int words, *word = words_number(&words, text, strlen(text), false, error);
    if (!word) return false;
    json_open_array(json, key);
    for (size_t at = 0, end; text[at += strspn(text + at, " \t\r\n")]; at = end) {
        for (end = at; text[end] && !words_blank(text[end]) && word[end] == word[at];) end++;
        char *one = strndup(text + at, end - at);
        json_put_text(json, NULL, one);
        free(one);
    }
    json_close(json);
    free(word);
    return true;
}

/* The tokens of a sentence's translation, its words, and the probability of each: the product of those
 * of its tokens. A token may be several words. */
static bool put_hypothesis(JsonWriter *json, const View *view, const SentenceAnswer *a,
                           Error *error)
{
    const Hypothesis *h = a->hypothesis;
    int words, *word = find_words(&words, a, view->bundle, false, error);
    if (!word) return false;
    view_put_tokens(json, view->bundle, h->id, h->each, h->length);
    bool good = put_words(json, "words", a->text, error);
    json_open_array(json, "confidence");
    for (int w = 0; w < words; w++) {
        double sum = 0;
        for (int t = 0; t < h->length - 1; t++)
            if (first_word(a, word, t) <= w && w <= word[t]) sum += h->each[t];
        json_put_real(json, NULL, exp(sum));
    }
    json_close(json);
    free(word);
    return good;
}

/* What is probably wrong with a translation. */
static void put_doubts(JsonWriter *json, const TextAnswer *a, const Sentence *source)
{
    int cut = 0;
    bool limit = false, doubtful = false;
    double coverage = a->count == 0;
    for (int i = 0; i < a->count; i++) {
        const SentenceAnswer *s = &a->sentence[i];
        if (source[i].cut > cut) cut = source[i].cut;
        limit |= s->limit, doubtful |= s->doubtful, coverage += s->coverage / a->count;
    }
    json_put_integer(json, "cut", cut);
    json_put_bool(json, "limit", limit);
    json_open_array(json, "missing");
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < a->sentence[i].missing.count; k++)
            json_put_text(json, NULL, a->sentence[i].missing.item[k]);
    json_close(json);
    json_put_real(json, "coverage", coverage);
    json_put_bool(json, "doubtful", doubtful);
}

/* "KEY":[begin,end], counted in characters. */
static void put_range(JsonWriter *json, const char *key, Utf8Place *place, size_t begin,
                      size_t end)
{
    json_open_array(json, key);
    json_put_integer(json, NULL, (int64_t)utf8_move(place, begin));
    json_put_integer(json, NULL, (int64_t)utf8_move(place, end));
    json_close(json);
}

static void put_labels(JsonWriter *json, const char *key, const View *view,
                       const Snapshot *snapshot, TokenSide side)
{
    const Tokens tokens = tokens_of(snapshot, &view->bundle->vocabulary, side);
    json_open_array(json, key);
    for (int i = 0; i < tokens.count; i++)
        json_put_text(json, NULL, tokenizer_piece(tokens.tokenizer, tokens_id(&tokens, i)));
    json_close(json);
}

static bool put_map(JsonWriter *json, const View *view, const Snapshot *snapshot,
                    AttentionKind kind, int layer, int head, Error *error)
{
    Map map;
    if (!map_chosen(&map, snapshot, kind, layer, head, NULL, NULL, error)) return false;
    json_open(json, NULL);
    json_put_text(json, "kind", attention_kind_names[kind]);
    json_put_integer(json, "layer", layer + 1);
    if (head < 0) json_put_text(json, "head", choice_head_name(head));
    else json_put_integer(json, "head", head + 1);
    put_labels(json, "rows", view, snapshot, labels_rows(kind));
    put_labels(json, "columns", view, snapshot, labels_columns(kind));
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

/* The chosen maps of a translation, into the object that is open. */
static bool put_attention(JsonWriter *json, const View *view, SentenceAnswer *answer,
                          Error *error)
{
    const Snapshot *snapshot = snapshot_get(&answer->lazy, error);
    const Choice *choice = &view->choice;
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &view->bundle->vocabulary,
                                .choice = choice,
                                .words = !view->request->pieces};
    bool good = snapshot, all = choice->head == CHOICE_NONE;
    int heads = view->bundle->model.config.heads;
    json_open_array(json, "attention");
    for (AttentionKind kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        PictureBest at = {.layer = choice->layer, .head = choice->head};
        if (!good || !(choice->all_kinds || choice->kind == kind)) continue;
        if (at.head == CHOICE_BEST) good = picture_best(&at, &input, kind, error);
        for (int l = 0; l < snapshot_layers(snapshot, kind); l++)
            for (int h = all ? 0 : at.head; h <= (all ? heads - 1 : at.head); h++)
                if (at.layer < 0 || at.layer == l)
                    good = good && put_map(json, view, snapshot, kind, l, h, error);
    }
    json_close(json);
    return good;
}

/* The members of a translation of sentences `source`. links: of the whole text, or NULL; show: with the
 * attention, of one sentence */
static bool put_members(JsonWriter *json, const View *view, const TextAnswer *a,
                        const Links *links, const Sentence *source, bool show, Error *error)
{
    json_put_text(json, "text", a->text);
    json_put_real(json, "score", a->score);
    json_put_real(json, "log_probability", a->log_probability);
    if (a->count == 0) view_put_tokens(json, view->bundle, NULL, NULL, 0);
    if (a->count == 0) json_put_texts(json, "words", NULL, 0);
    if (a->count == 0) json_put_reals(json, "confidence", NULL, 0);
    if (a->count == 1 && !put_hypothesis(json, view, a->sentence, error)) return false;
    if (view->request->align && links) {
        if (!put_words(json, "target_words", a->text, error)) return false;
        links_put(json, view->request->align_unit, links);
    }
    put_doubts(json, a, source);
    return !show || a->count != 1 || put_attention(json, view, a->sentence, error);
}

/* A translation of the text, into the object that is open. show: with the attention */
static bool put_answer(JsonWriter *json, const View *view, const Answer *answer, bool show,
                       Error *error)
{
    const TextAnswer *a = &answer->text;
    const Passage *passage = view->passage;
    const Sentence *source = view->passages->sentence + passage->first;
    bool whole = a->count == 1 && source->begin == 0 && source->end == passage->length;
    Utf8Place typed = {.text = passage->typed ? passage->typed : passage->text},
              translated = {.text = a->text};
    bool good = put_members(json, view, a, &answer->links, source, show, error);
    if (whole || !a->count) return good;
    json_open_array(json, "sentences");
    for (int i = 0; good && i < a->count; i++, source++) {
        SentenceAnswer *s = &a->sentence[i];
        const TextAnswer one = {.sentence = s,
                                .count = 1,
                                .text = s->text,
                                .score = s->hypothesis->score,
                                .log_probability = s->hypothesis->log_probability};
        json_open(json, NULL);
        put_range(json, "source", &typed, passage_place(passage, source->begin),
                  passage_place(passage, source->end));
        put_range(json, "target", &translated, s->begin, s->begin + strlen(s->text));
        good = put_members(json, view, &one, NULL, source, show && a->count > 1, error);
        if (a->count > 1) snapshot_drop(&s->lazy);
        json_close(json);
    }
    json_close(json);
    return good;
}

static bool print_json(const View *view, const Answer *answers, int count, Error *error)
{
    const StringList *unknown = &view->passage->unknown;
    bool several = view->request->search.n_best > 1;
    JsonWriter json = {.out = stdout, .lines = true};
    json_open(&json, NULL);
    json_put_integer(&json, "line", view->passage->line);
    if (json_is_string(view->id)) json_put_text(&json, "id", json_string_value(view->id));
    if (json_is_integer(view->id)) json_put_integer(&json, "id", json_integer_value(view->id));
    json_put_texts(&json, "unknown", unknown->item, unknown->count);
    bool good = (!view->request->align ||
                 put_words(&json, "source_words", view->passage->text, error)) &&
                put_answer(&json, view, answers, view->request->show, error);
    if (several) json_open_array(&json, "n_best");
    for (int h = 0; several && good && h < count; h++) {
        json_open(&json, NULL);
        good = put_answer(&json, view, &answers[h], false, error);
        json_close(&json);
    }
    if (several) json_close(&json);
    json_close(&json);
    return good;
}

static void print_text(const View *view, const Answer *answer)
{
    const Request *r = view->request;
    bool several = r->search.n_best > 1, links = r->align && (several || *answer->text.text);
    if (several) printf("%lld ||| ", view->passage->line);
    utf8_put(stdout, answer->text.text, several || links ? UTF8_LINE_ENDS : "");
    if (several) printf(" ||| %.4f", answer->text.score);
    if (links) fputs(" ||| ", stdout), links_print(stdout, &answer->links);
    putchar('\n');
}

/* Says what is probably wrong with the translation of a text, for MOST_DOUBTS texts. */
static void warn(View *view, const TextAnswer *a)
{
    int doubtful = 0, limit = 0, missing = 0;
    TextStream stream;
    FILE *out = view->news ? textstream_open(&stream) : NULL;
    if (!out) return;
    for (int i = 0; i < a->count; i++) {
        const StringList *lost = &a->sentence[i].missing;
        doubtful += a->sentence[i].doubtful, limit += a->sentence[i].limit;
        for (int k = 0; k < lost->count; k++) {
            char span[61];
            bool whole = utf8_fit(span, sizeof span, lost->item[k]);
            if (++missing <= MOST_MISSING)
                fprintf(out, "%s %s%s", missing > 1 ? "," : " has no", span, whole ? "" : "…");
        }
    }
    if (missing > MOST_MISSING) fprintf(out, " and %d more", missing - MOST_MISSING);
    if (limit) fprintf(out, "%s was ended at its longest", missing ? " and" : "");
    if (doubtful)
        fprintf(out, "%s has a low score (%.2f)", missing || limit ? " and" : "", a->score);
    char *what = textstream_close(&stream);
    if (what && *what && ++view->warned <= MOST_DOUBTS)
        command_say(view->news, "check line %lld: its translation%s", view->passage->line,
                    what);
    free(what);
}

/* answer (=) the h-th best translation of the text. */
static bool make_answer(View *view, Answer *answer, const Translation *translation, int h,
                        Error *error)
{
    const Request *r = view->request;
    TextAnswer *a = &answer->text;
    int p = (int)(view->passage - view->passages->passage);
    bool good = answer_create(a, view->passages, p, translation, h, &r->search, r->json, error);
    if (good && r->align && a->count) good = find_links(view, answer, error);
    for (int i = 0; h > 0 && i < a->count; i++) snapshot_drop(&a->sentence[i].lazy);
    return good;
}

/* The views of a text of one sentence share its snapshot. */
bool view_answer(View *view, char **text, const Passages *passages, int p,
                 const Translation *translation, Error *error)
{
    const Request *r = view->request;
    int sentences = passages->passage[p].count, count = 1;
    bool shows = r->attention.count || r->show || r->explain || r->head_report;
    view->passages = passages, view->passage = &passages->passage[p];
    for (int i = 0; r->search.n_best > 1 && i < sentences; i++)
        if (translation[i].count > count) count = translation[i].count;
    Answer *answers = calloc((size_t)count, sizeof *answers);
    if (!answers) return error_memory(error, "for %d texts", count);
    bool good = sentences || !shows || r->texts.count != 1 ||
                error_set(error, "the text has nothing to translate: it has no attention");
    if (good && !sentences && shows)
        command_say(view->news, "line %lld has nothing to translate: it has no attention",
                    view->passage->line);
    for (int h = 0; h < count && good; h++)
        good = make_answer(view, &answers[h], translation, h, error);
    if (good) warn(view, &answers->text);
    if (good && r->json && !r->head_report) good = print_json(view, answers, count, error);
    else if (!r->head_report && (!sentences || !r->explain))
        for (int h = 0; good && h < count; h++) print_text(view, &answers[h]);
    for (int i = 0; good && shows && i < sentences; i++) {
        good = show(view, &answers->text.sentence[i], sentences > 1 ? i + 1 : 0, error);
        if (sentences > 1) snapshot_drop(&answers->text.sentence[i].lazy);
    }
    *text = answers->text.text;
    answers->text.text = NULL;
    for (int h = 0; h < count; h++) {
        links_free(&answers[h].links);
        answer_free(&answers[h].text);
    }
    free(answers);
    return good;
}

bool view_close(View *view, Error *error)
{
    MissingGlyphs *missing = view->missing;
    command_say_missing(view->news, missing);
    if (missing) munmap(missing, sizeof *missing);
    if (view->warned > MOST_DOUBTS)
        command_say(view->news, "%d more to check: --json marks them",
                    view->warned - MOST_DOUBTS);
    bool good = !error || !view->request->head_report || report_heads(view, error);
    heads_free(&view->heads);
    return good;
}
