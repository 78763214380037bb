/* qkv.c -- the library for other programs; see qkv.h. */
#include "library/qkv.h"
#include "base/utf8.h"

#include <locale.h>

#include "data/text.h"
#include "inference/answer.h"
#include "inference/beginnings.h"
#include "inference/scoring.h"
#include "inference/translator.h"
#include "library/qkv-inside.h"

struct QkvModel {
    Bundle bundle;
};

struct QkvTranslator {
    const Bundle *bundle;
    Ensemble ensemble;
    Workers *workers;
    SearchConfig search;
    PassageConfig own;           // of qkv_translator_set
    const PassageConfig *texts;  // own, or inside_configure's
    Passages passages;           // of the last call; opened by it
};

/* Every function that reads or writes numbers calls `enter` first and `leave` last. Between the two
 * the thread's locale is "C", so that numbers have a decimal point. */
static locale_t enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

/* Unless good, copies the error to the caller's QkvError, if that is not NULL. Returns good. */
static bool leave(locale_t before, bool good, QkvError *to, const Error *error)
{
    _Static_assert(sizeof *to == sizeof *error, "one is copied to the other");
    locale_t ours = uselocale(before);
    if (ours != LC_GLOBAL_LOCALE) freelocale(ours);
    if (!good && to) memcpy(to, error, sizeof *to);
    return good;
}

/* Whether the caller passed `argument`; else the error is "WHAT is NULL". */
static bool given(const void *argument, const char *what, Error *error)
{
    return argument || error_set(error, "%s is NULL", what);
}

/* Errors begin with `what` and `number`, as in "text 3". */
static bool check_text(const char *text, const char *what, int number, Error *error)
{
    if (!text) return error_set(error, "%s %d is NULL", what, number);
    return utf8_is_valid(text, strlen(text), NULL) ||
           error_set(error, "%s %d is not valid UTF-8", what, number);
}

/* Appends a text as ids. One that is too long is an error, or with `cuts` cut. */
static bool encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                   const char *what, int number, bool cuts, Error *error)
{
    size_t tokens;
    if (!check_text(text, what, number, error)) return false;
    if (!bundle_encode(bundle, side, lines, text, strlen(text), &tokens, error))
        return error_prefix(error, "%s %d", what, number);
    return cuts || !tokens ||
           error_set(error, "%s %d has %zu tokens, and the model takes %d", what, number,
                     tokens, bundle->max_length - 1);
}

const char *qkv_version(void)
{
    return QKV_VERSION;
}

/* ---- a model ---- */

/* Loads the file `path`, or bytes [size] if path is NULL. */
static QkvModel *load(const char *path, const void *bytes, size_t size, QkvPrecision precision,
                      QkvError *to)
{
    Error error;
    locale_t before = enter();
    QkvModel *model = calloc(1, sizeof *model);
    BundleMatrices matrices = precision == QKV_INT8 ? BUNDLE_INT8 : BUNDLE_FLOAT;
    bool good =
        (model || error_memory(&error, "for a model")) &&
        (matrices || precision == QKV_FLOAT ||
         error_set(&error, "there is no precision %d", (int)precision)) &&
        (path ? bundle_load(&model->bundle, path, matrices, NULL, &error)
              : bundle_load_bytes(&model->bundle, bytes, size, "model", matrices, &error));
    if (leave(before, good, to, &error)) return model;
    qkv_model_free(model);
    return NULL;
}

QkvModel *qkv_model_load(const char *path, QkvPrecision precision, QkvError *error)
{
    return load(path ? path : "", NULL, 0, precision, error);
}

QkvModel *qkv_model_read(const void *bytes, size_t size, QkvPrecision precision,
                         QkvError *error)
{
    return load(NULL, bytes ? bytes : "", bytes ? size : 0, precision, error);
}

int qkv_model_max_length(const QkvModel *model)
{
    return model ? model->bundle.max_length : 0;
}

const Bundle *inside_model(const QkvModel *model)
{
    return &model->bundle;
}

void qkv_model_free(QkvModel *model)
{
    if (model) bundle_free(&model->bundle);
    free(model);
}

/* ---- a translator ---- */

QkvTranslator *qkv_translator_new(const QkvModel *model, int threads, QkvError *to)
{
    enum { MOST_THREADS = 1024 };
    Error error;
    locale_t before = enter();
    QkvTranslator *translator = calloc(1, sizeof *translator);
    bool good =
        given(model, "the model", &error) &&
        ((threads >= 0 && threads <= MOST_THREADS) ||
         error_set(&error, "a translator has 1 to %d threads, or 0 for all processors, not %d",
                   MOST_THREADS, threads)) &&
        (translator || error_memory(&error, "for a translator"));
    Workers *workers =
        good ? workers_start(threads ? threads : workers_processors(), &error) : NULL;
    if (workers)
        *translator = (QkvTranslator){.bundle = &model->bundle,
                                      .ensemble = bundle_ensemble(&model->bundle),
                                      .workers = workers,
                                      .search = search_copying,
                                      .texts = &translator->own};
    if (leave(before, workers, to, &error)) return translator;
    free(translator);
    return NULL;
}

static OptionGroup texts_group(PassageConfig *config)
{
    return (OptionGroup){"Texts", NULL, passage_options, passage_option_count, config};
}

void qkv_translator_free(QkvTranslator *translator)
{
    if (!translator) return;
    OptionGroup group = texts_group(&translator->own);
    workers_stop(translator->workers);
    passages_free(&translator->passages);
    options_free(&group, 1);
    free(translator);
}

bool qkv_translator_set(QkvTranslator *translator, const char *option, const char *value,
                        QkvError *to)
{
    Error error;
    locale_t before = enter();
    bool good =
        given(translator, "the translator", &error) &&
        ((option && value) || error_set(&error, "an option and its value are texts, not NULL"));
    if (good) {
        PassageConfig alone = {0};  // whose rules are tried before the translator changes
        OptionGroup groups[] = {
            texts_group(&alone),
            {"Searching", NULL, search_options, search_option_count, &translator->search}};
        SpanRules *rules = NULL;
        good = options_set(groups, 2, option, value, &error);
        if (good && (alone.protect.count || alone.terms)) {
            rules =
                spanrules_open(alone.protect.item, alone.protect.count, alone.terms, &error);
            good = rules;
            passages_free(&translator->passages);
        }
        spanrules_free(rules);
        options_free(groups, 1);
        groups[0] = texts_group(&translator->own);
        good = good && options_set(groups, 2, option, value, &error);
    }
    return leave(before, good, to, &error);
}

void inside_configure(QkvTranslator *t, const PassageConfig *texts, const SearchConfig *search)
{
    t->texts = texts;
    t->search = *search;
}

/* ---- translating ---- */

/* What qkv_translate returns, with the memory that it points to. */
typedef struct TranslationResult {
    QkvTranslations out;  // first: the caller's pointer
    struct Block *block;  // all that it points to: a list
} TranslationResult;

typedef struct Block {
    struct Block *next;
    max_align_t memory[];
} Block;

/* Memory of the result, all zero; NULL: there is none. */
static void *take(TranslationResult *result, size_t count, size_t size)
{
    Block *block = calloc(1, sizeof *block + count * size);
    if (!block) return NULL;
    block->next = result->block;
    result->block = block;
    return block->memory;
}

void qkv_translations_free(QkvTranslations *translations)
{
    TranslationResult *result = (TranslationResult *)translations;
    if (!result) return;
    for (Block *block = result->block, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(result);
}

static const char *copy_text(TranslationResult *result, const char *text)
{
    char *copy = take(result, strlen(text) + 1, 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Copies of a list of texts; *count (=) their number. */
static const char *const *copy_texts(TranslationResult *result, int *count,
                                     const StringList *texts)
{
    const char **copies = take(result, (size_t)texts->count + 1, sizeof *copies);
    for (*count = 0; copies && *count < texts->count; ++*count)
        if (!(copies[*count] = copy_text(result, texts->item[*count]))) return NULL;
    return copies;
}

/* *to (=) a translation, whose tokens are those of all sentences. */
static bool fill_hypothesis(TranslationResult *result, QkvHypothesis *to, const Bundle *bundle,
                            const TextAnswer *a)
{
    int tokens = 0;
    for (int i = 0; i < a->count; i++) tokens += a->sentence[i].hypothesis->length;
    const char **token = take(result, (size_t)tokens + 1, sizeof *token);
    int *id = take(result, (size_t)tokens + 1, sizeof *id);
    double *each = take(result, (size_t)tokens + 1, sizeof *each);
    *to = (QkvHypothesis){
        copy_text(result, a->text), a->score, a->log_probability, tokens, token, id, each};
    if (!token || !id || !each || !to->text) return false;
    for (int i = 0; i < a->count; i++) {
        const Hypothesis *from = a->sentence[i].hypothesis;
        for (int t = 0; t < from->length; t++) {
            *id++ = from->id[t];
            *each++ = from->each[t];
            *token++ = tokenizer_piece(bundle->vocabulary.tokenizer[TARGET], from->id[t]);
        }
    }
    return true;
}

/* What holds for the best translation of text p: its sentences, and what is probably wrong. */
static bool fill_sentences(TranslationResult *result, QkvTranslation *to,
                           const Passages *passages, int p, const TextAnswer *a)
{
    const Passage *passage = &passages->passage[p];
    QkvSentence *sentence = take(result, (size_t)a->count + 1, sizeof *sentence);
    StringList missing = {0};
    QkvHypothesis rest = to->hypothesis[0];  // from the tokens of sentence i on
    bool good = sentence;
    to->sentence = sentence, to->sentences = a->count;
    for (int i = 0; good && i < a->count; i++) {
        const Sentence *source = &passages->sentence[passage->first + i];
        const SentenceAnswer *s = &a->sentence[i];
        rest.text = copy_text(result, s->text), rest.score = s->hypothesis->score;
        rest.log_probability = s->hypothesis->log_probability;
        rest.tokens = s->hypothesis->length;
        sentence[i] = (QkvSentence){passage_place(passage, source->begin),
                                    passage_place(passage, source->end), s->begin,
                                    s->begin + strlen(s->text), rest};
        rest.token += rest.tokens, rest.id += rest.tokens, rest.each += rest.tokens;
        if (source->cut > to->cut) to->cut = source->cut;
        to->limit |= s->limit, to->doubtful |= s->doubtful;
        good = rest.text;
        for (int k = 0; good && k < s->missing.count; k++)
            good = strings_add(&missing, s->missing.item[k], NULL);
    }
    good = good && (to->missing = copy_texts(result, &to->missing_count, &missing)) &&
           (to->unknown = copy_texts(result, &to->unknown_count, &passage->unknown));
    strings_free(&missing);
    return good;
}

/* *to (=) the translation of text p; found: those of its sentences. */
static bool fill(TranslationResult *result, QkvTranslation *to, const Passages *passages, int p,
                 const Translation *found, const SearchConfig *search, Error *error)
{
    int count = 1;
    for (int i = 0; i < passages->passage[p].count; i++)
        if (found[i].count > count) count = found[i].count;
    QkvHypothesis *hypothesis = take(result, (size_t)count, sizeof *hypothesis);
    *to = (QkvTranslation){.count = count, .hypothesis = hypothesis};
    for (int h = 0; h < count; h++) {
        TextAnswer a = {0};
        bool good = answer_create(&a, passages, p, found, h, search, false, error);
        bool filled = good && hypothesis &&
                      fill_hypothesis(result, &hypothesis[h], passages->bundle, &a) &&
                      (h > 0 || fill_sentences(result, to, passages, p, &a));
        answer_free(&a);
        if (!filled) return good && error_memory(error, "for translations");
    }
    return true;
}

/* Adds the texts to the passages, and what their translations must begin with. */
static bool encode_texts(QkvTranslator *t, Beginnings *beginning, const char *const *texts,
                         const char *const *beginnings, int count, Error *error)
{
    Passages *passages = &t->passages;
    bool good = true;
    passages_clear(passages);
    for (int i = 0; good && i < count; i++) {
        const char *begin = beginnings && beginnings[i] ? beginnings[i] : "";
        char name[24];
        snprintf(name, sizeof name, "beginning %d", i + 1);
        good = check_text(texts[i], "text", i + 1, error) &&
               check_text(begin, "beginning", i + 1, error) &&
               (passages_add(passages, texts[i], strlen(texts[i]), error) ||
                error_prefix(error, "text %d", i + 1)) &&
               (!beginnings || beginnings_add(beginning, passages, begin, name, error));
    }
    return good;
}

static bool translate(TranslationResult *result, QkvTranslator *t, const char *const *texts,
                      const char *const *beginnings, int count, Error *error)
{
    Passages *passages = &t->passages;
    Beginnings beginning = {0};
    Translations found = {0};
    QkvTranslation *to = take(result, (size_t)count + 1, sizeof *to);
    result->out = (QkvTranslations){count, to};
    bool good = (to || error_memory(error, "for %d translations", count)) &&
                search_check(&t->search, error) &&
                (passages->rules || passages_open(passages, t->bundle, t->texts, error)) &&
                encode_texts(t, &beginning, texts, beginnings, count, error);
    if (good && passages->lines.count) {
        Packed prefix = beginnings ? idlines_packed(&beginning.lines) : (Packed){0};
        TranslatorInput input =
            translator_input(idlines_packed(&passages->lines), &t->bundle->vocabulary);
        input.prefix = beginnings ? &prefix : NULL;
        good =
            translator_run(&found, &t->ensemble, &input, &t->search, t->workers, NULL, error);
    }
    for (int i = 0; good && i < count; i++)
        good = fill(result, &to[i], passages, i,
                    found.sentence ? found.sentence + passages->passage[i].first : NULL,
                    &t->search, error);
    translations_free(&found);
    beginnings_free(&beginning);
    return good;
}

/* Whether a call can have this translator and this list of texts [count]. */
static bool can_take(const QkvTranslator *translator, const char *const *texts, int count,
                     Error *error)
{
    if (count < 0) return error_set(error, "there cannot be %d texts", count);
    return given(translator, "the translator", error) &&
           (!count || given(texts, "the list of texts", error));
}

QkvTranslations *qkv_translate(QkvTranslator *translator, const char *const *texts,
                               const char *const *beginnings, int count, QkvError *to)
{
    Error error;
    locale_t before = enter();
    TranslationResult *result = calloc(1, sizeof *result);
    bool good = can_take(translator, texts, count, &error) &&
                (result || error_memory(&error, "for %d translations", count)) &&
                (!count || translate(result, translator, texts, beginnings, count, &error));
    if (leave(before, good, to, &error)) return &result->out;
    qkv_translations_free((QkvTranslations *)result);
    return NULL;
}

/* ---- scoring ---- */

static bool score(double *log_probability, QkvTranslator *translator, const char *const *texts,
                  const char *const *translations, int count, Error *error)
{
    const Bundle *bundle = translator->bundle;
    IdLines source = {0}, target = {0};
    bool good = true;
    for (int i = 0; good && i < count; i++)
        good = encode(bundle, &source, SOURCE, texts[i], "text", i + 1, false, error) &&
               encode(bundle, &target, TARGET, translations[i], "translation", i + 1, false,
                      error);
    double *each = calloc(target.ids.count + 1, sizeof *each);
    if (good && !each) good = error_memory(error, "to score %d texts", count);
    if (good) {
        Packed x = idlines_packed(&source), y = idlines_packed(&target);
        good = scoring_run(each, NULL, &translator->ensemble, &x, &y, translator->workers, NULL,
                           error);
    }
    for (int s = 0; good && s < count; s++) {
        log_probability[s] = 0;
        for (int t = target.start[s]; t < target.start[s + 1]; t++)
            log_probability[s] += each[t];
    }
    free(each);
    idlines_free(&source);
    idlines_free(&target);
    return good;
}

bool qkv_score(double *log_probability, QkvTranslator *translator, const char *const *texts,
               const char *const *translations, int count, QkvError *to)
{
    Error error;
    locale_t before = enter();
    bool good =
        can_take(translator, texts, count, &error) &&
        (!count || (given(translations, "the list of translations", &error) &&
                    given(log_probability, "the array of scores", &error) &&
                    score(log_probability, translator, texts, translations, count, &error)));
    return leave(before, good, to, &error);
}

/* ---- attention ---- */

/* What qkv_attention returns, with the memory that it points to. */
typedef struct AttentionResult {
    QkvAttention out;  // first: the caller's pointer
    Passages source;
    IdLines target;     // a given translation, or none
    LazySnapshot lazy;  // of both
    const char **text;  // [sources + 3 targets] the pieces, and the snapshot's unknown[TARGET]
} AttentionResult;

const Snapshot *inside_attention(const QkvAttention *attention)
{
    return ((const AttentionResult *)attention)->lazy.taken;
}

void qkv_attention_free(QkvAttention *attention)
{
    AttentionResult *a = (AttentionResult *)attention;
    if (!a) return;
    snapshot_close(a->lazy.taken);
    passages_free(&a->source);
    idlines_free(&a->target);
    free(a->text);
    free(a);
}

/* Runs the network over the source and a translation, and names their tokens. */
static bool run(AttentionResult *a, const Bundle *bundle, const QkvHypothesis *target,
                Error *error)
{
    const ModelConfig *c = &bundle->model.config;
    Tokenizer *const *tokenizer = bundle->vocabulary.tokenizer;
    const Passages *p = &a->source;
    int targets = target->tokens, sources = p->lines.start[1], seen[PLACEHOLDERS] = {0};
    a->lazy = (LazySnapshot){.model = &bundle->model,
                             .source = p->lines.ids.id,
                             .source_length = sources,
                             .target = target->id,
                             .target_length = targets,
                             .unknown = {(const char *const *)p->lines.unknown}};
    for (int i = 0; targets <= c->max_length && i + 1 < targets; i++)
        if (target->id[i] == ID_END)
            return error_set(error, "the translation has several sentences: give one of them, "
                                    "and its part of the text");
    if (!snapshot_get(&a->lazy, error)) return false;
    const char **from = a->text = calloc((size_t)sources + 3 * (size_t)targets, sizeof *from);
    if (!from) return error_memory(error, "for an attention map");
    const char **to = from + sources, **read = to + targets, **replaced = read + targets;
    for (int i = 0; i < sources; i++)
        from[i] = tokenizer_piece(tokenizer[SOURCE], p->lines.ids.id[i]);
    for (int i = 0; i < targets; i++) {
        int id = target->id[i];
        const CopySpan *span = p->sentence ? passages_span(p, p->sentence, id, seen) : NULL;
        to[i] = tokenizer_piece(tokenizer[TARGET], id);
        read[i] = i ? to[i - 1] : tokenizer_piece(tokenizer[TARGET], c->vocab - 1);
        replaced[i] = span ? span->text : a->target.count ? a->target.unknown[i] : NULL;
    }
    a->out = (QkvAttention){sources,           targets,           from,    to, read,
                            c->encoder_layers, c->decoder_layers, c->heads};
    a->lazy.unknown[TARGET] = replaced, a->lazy.each = target->each;
    return (a->target.count || copying_choose(replaced, &a->lazy, error)) &&
           snapshot_get(&a->lazy, error);
}

static const PassageConfig plain_texts;  // a result points to it

/* Of a text of one sentence and a translation, or a given text if that is NULL. */
static QkvAttention *attention(const QkvModel *model, const PassageConfig *config,
                               const char *text, const QkvHypothesis *found,
                               const char *translation, QkvError *to)
{
    Error error;
    locale_t before = enter();
    AttentionResult *a = calloc(1, sizeof *a);
    QkvHypothesis own = {0};
    bool good = given(model, "the model", &error) &&
                (a || error_memory(&error, "for an attention map")) &&
                check_text(text, "text", 1, &error) &&
                passages_open(&a->source, &model->bundle, config, &error);
    if (a) a->target.find_unknown = true;
    if (good) a->source.whole = true, a->source.plain |= !found;
    good = good && passages_add(&a->source, text, strlen(text), &error) &&
           (a->source.lines.count ||
            bundle_encode(&model->bundle, SOURCE, &a->source.lines, "", 0, NULL, &error)) &&
           (found || encode(&model->bundle, &a->target, TARGET, translation, "translation", 1,
                            true, &error));
    if (good && !found) own.id = a->target.ids.id, own.tokens = a->target.start[1];
    good = good && run(a, &model->bundle, found ? found : &own, &error);
    if (leave(before, good, to, &error)) return &a->out;
    qkv_attention_free((QkvAttention *)a);
    return NULL;
}

QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error)
{
    return inside_attention_of(model, &plain_texts, text, translation, error);
}

QkvAttention *inside_attention_of(const QkvModel *model, const PassageConfig *texts,
                                  const char *text, const QkvHypothesis *translation,
                                  QkvError *error)
{
    const QkvHypothesis *found = translation && translation->id ? translation : NULL;
    return attention(model, texts, text, found, NULL, error);
}

QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error)
{
    return attention(model, &plain_texts, text, NULL, translation, error);
}

bool qkv_attention_weights(float *weights, const QkvAttention *attention, QkvAttentionKind kind,
                           int layer, int head, QkvError *to)
{
    _Static_assert((int)QKV_CROSS == (int)ATTENTION_CROSS, "the kinds have the same order");
    Error error;
    locale_t before = enter();
    bool good = given(attention, "the attention", &error) &&
                given(weights, "the array of weights", &error);
    int heads = good ? attention->heads : 0, layers = 0;
    if (good)
        layers = kind == QKV_ENCODER ? attention->encoder_layers : attention->decoder_layers;
    if (good && kind != QKV_ENCODER && kind != QKV_DECODER && kind != QKV_CROSS)
        good = error_set(&error, "there is no attention of kind %d", (int)kind);
    if (good && (layer < 0 || layer >= layers))
        good = error_set(&error, "there is no layer %d: there are 0 to %d", layer, layers - 1);
    if (good && head != QKV_MEAN && (head < 0 || head >= heads))
        good = error_set(&error, "there is no head %d: there are 0 to %d", head, heads - 1);
    if (good)
        snapshot_weights(weights, inside_attention(attention), (AttentionKind)kind, layer,
                         head);
    return leave(before, good, to, &error);
}
