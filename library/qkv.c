/* qkv.c -- the library for other programs; see qkv.h. */
#include "library/qkv.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "data/text.h"
#include "inference/copying.h"
#include "inference/scoring.h"
#include "inference/translator.h"

struct QkvModel {
    Bundle bundle;
};

struct QkvTranslator {
    const Bundle *bundle;
    Ensemble ensemble;
    Workers *workers;
    SearchConfig search;
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

/* Appends a text as ids. *cut (=) its number of tokens if it was too long and has been cut, or 0.
 * Without `cut` that is an error. Errors begin with `what` and `number`, as in "text 3". */
static bool encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                   const char *what, int number, int *cut, Error *error)
{
    size_t length = text ? strlen(text) : 0, tokens;
    if (!text) return error_set(error, "%s %d is NULL", what, number);
    if (!text_is_utf8(text, length, NULL))
        return error_set(error, "%s %d is not valid UTF-8", what, number);
    if (!bundle_encode(bundle, side, lines, text, length, &tokens, error))
        return error_prefix(error, "%s %d", what, number);
    if (cut) *cut = tokens < INT_MAX ? (int)tokens : INT_MAX;
    return cut || !tokens ||
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
    bool int8 = precision == QKV_INT8, known = int8 || precision == QKV_FLOAT;
    bool good = (model || error_memory(&error, "for a model")) &&
                (known || error_set(&error, "there is no precision %d", (int)precision)) &&
                (path ? bundle_load(&model->bundle, path, int8, NULL, &error)
                      : bundle_load_bytes(&model->bundle, bytes, size, "model", int8, &error));
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
        *translator = (QkvTranslator){&model->bundle, ensemble_of(&model->bundle.model),
                                      workers, search_copying};
    if (leave(before, workers, to, &error)) return translator;
    free(translator);
    return NULL;
}

void qkv_translator_free(QkvTranslator *translator)
{
    if (translator) workers_stop(translator->workers);
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
    SearchConfig search = good ? translator->search : search_default;
    OptionGroup group = {"Searching", NULL, search_options, search_option_count, &search};
    good = good && options_set(&group, 1, option, value, &error);
    if (good) translator->search = search;
    return leave(before, good, to, &error);
}

/* ---- translating ---- */

/* What qkv_translate returns, with the memory that it points to. */
typedef struct TranslationResult {
    QkvTranslations out;  // first: the caller's pointer
    QkvTranslation *sentence;
    QkvHypothesis *hypothesis;
    size_t hypotheses;
    const char **token;
    int *id;
} TranslationResult;

void qkv_translations_free(QkvTranslations *translations)
{
    TranslationResult *result = (TranslationResult *)translations;
    if (!result) return;
    for (size_t h = 0; h < result->hypotheses; h++) free((char *)result->hypothesis[h].text);
    free(result->sentence);
    free(result->hypothesis);
    free(result->token);
    free(result->id);
    free(result);
}

/* Allocates the blocks of the result for all hypotheses. */
static bool allocate(TranslationResult *result, const Translations *found, Error *error)
{
    size_t hypotheses = 0, tokens = 0;
    for (int s = 0; s < found->sentences; s++)
        for (int h = 0; h < found->sentence[s].count; h++, hypotheses++)
            tokens += (size_t)found->sentence[s].hypothesis[h].length;
    result->hypothesis = calloc(hypotheses + 1, sizeof *result->hypothesis);
    result->token = calloc(tokens + 1, sizeof *result->token);
    result->id = calloc(tokens + 1, sizeof *result->id);
    return (result->hypothesis && result->token && result->id) ||
           error_memory(error, "for %zu translations", hypotheses);
}

/* Text, with unknown words copied, of a translation of line s. */
static bool decode(char **text, const Bundle *bundle, const IdLines *lines, int s,
                   const Hypothesis *from, Error *error)
{
    LazySnapshot lazy = copying_snapshot(&bundle->model, lines, s, from);
    const char **copied;
    bool good = copying_choose(&copied, lines, s, from, &lazy, error) &&
                tokenizer_decode_replaced(bundle->vocabulary.tokenizer[TARGET], text, from->id,
                                          (size_t)from->length, copied, error);
    snapshot_close(lazy.taken);
    free(copied);
    return good;
}

/* Fills the result. An empty text has one hypothesis, which is empty. */
static bool fill(TranslationResult *result, const Bundle *bundle, const IdLines *lines,
                 const Translations *found, Error *error)
{
    static const Hypothesis nothing = {0};
    size_t token = 0;
    if (!allocate(result, found, error)) return false;
    for (int s = 0; s < found->sentences; s++) {
        bool empty = lines->start[s + 1] - lines->start[s] == 1;
        QkvTranslation *sentence = &result->sentence[s];
        sentence->hypothesis = result->hypothesis + result->hypotheses;
        sentence->count = empty ? 1 : found->sentence[s].count;
        for (int h = 0; h < sentence->count; h++) {
            const Hypothesis *from = empty ? &nothing : &found->sentence[s].hypothesis[h];
            char *text;
            if (!decode(&text, bundle, lines, s, from, error)) return false;
            result->hypothesis[result->hypotheses++] =
                (QkvHypothesis){text,         from->score,           from->log_probability,
                                from->length, result->token + token, result->id + token};
            for (int t = 0; t < from->length; t++, token++) {
                result->id[token] = from->id[t];
                result->token[token] =
                    tokenizer_piece(bundle->vocabulary.tokenizer[TARGET], from->id[t]);
            }
        }
    }
    return true;
}

static bool translate(TranslationResult *result, QkvTranslator *translator,
                      const char *const *texts, const char *const *beginnings, int count,
                      Error *error)
{
    const Bundle *bundle = translator->bundle;
    IdLines lines = {.find_unknown = translator->search.copy_unknown}, beginning = {0};
    Translations found = {0};
    bool good = search_check(&translator->search, error);
    for (int i = 0; good && i < count; i++)
        good = encode(bundle, &lines, SOURCE, texts[i], "text", i + 1, &result->sentence[i].cut,
                      error);
    for (int i = 0; good && beginnings && i < count; i++) {
        good = encode(bundle, &beginning, TARGET, beginnings[i] ? beginnings[i] : "",
                      "beginning", i + 1, NULL, error);
        if (good) beginning.ids.count--, beginning.start[i + 1]--;  // without </s>
    }
    if (good) {
        Packed prefix = beginnings ? idlines_packed(&beginning) : (Packed){0};
        TranslatorInput input = {.source = idlines_packed(&lines),
                                 .prefix = beginnings ? &prefix : NULL,
                                 .placeholder = vocabulary_placeholder(&bundle->vocabulary),
                                 .line = 1};
        good = translator_run(&found, &translator->ensemble, &input, &translator->search,
                              translator->workers, NULL, error) &&
               fill(result, bundle, &lines, &found, error);
    }
    translations_free(&found);
    idlines_free(&lines);
    idlines_free(&beginning);
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
    bool good = can_take(translator, texts, count, &error);
    if (good && result) result->sentence = calloc((size_t)count + 1, sizeof *result->sentence);
    good =
        good &&
        ((result && result->sentence) || error_memory(&error, "for %d translations", count)) &&
        (!count || translate(result, translator, texts, beginnings, count, &error));
    if (good) result->out = (QkvTranslations){count, result->sentence};
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
        good =
            encode(bundle, &source, SOURCE, texts[i], "text", i + 1, NULL, error) &&
            encode(bundle, &target, TARGET, translations[i], "translation", i + 1, NULL, error);
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
    Snapshot *snapshot;
    const char **piece;  // [sources + 2 targets]
} AttentionResult;

void qkv_attention_free(QkvAttention *attention)
{
    AttentionResult *a = (AttentionResult *)attention;
    if (!a) return;
    snapshot_close(a->snapshot);
    free(a->piece);
    free(a);
}

/* Runs the network over the pair of ids, and names their tokens. */
static bool take(AttentionResult *a, const Bundle *bundle, const int *source, int sources,
                 const int *target, int targets, Error *error)
{
    const ModelConfig *c = &bundle->model.config;
    Tokenizer *const *tokenizer = bundle->vocabulary.tokenizer;
    a->snapshot = snapshot_open(&bundle->model, source, sources, target, targets, error);
    if (!a->snapshot) return false;
    const char **from = calloc((size_t)sources + 2 * (size_t)targets, sizeof *from);
    if (!from) return error_memory(error, "for an attention map");
    const char **to = from + sources, **read = to + targets;
    for (int i = 0; i < sources; i++) from[i] = tokenizer_piece(tokenizer[SOURCE], source[i]);
    for (int i = 0; i < targets; i++) {
        to[i] = tokenizer_piece(tokenizer[TARGET], target[i]);
        read[i] = i ? to[i - 1] : tokenizer_piece(tokenizer[TARGET], c->vocab - 1);
    }
    a->piece = from;
    a->out = (QkvAttention){sources,           targets,           from,    to, read,
                            c->encoder_layers, c->decoder_layers, c->heads};
    return true;
}

/* Of a text and a translation: ids [count], or a text if id is NULL. */
static QkvAttention *attention(const QkvModel *model, const char *text, const int *id,
                               int count, const char *translation, QkvError *to)
{
    Error error;
    locale_t before = enter();
    IdLines source = {0}, target = {0};
    AttentionResult *a = calloc(1, sizeof *a);
    int cut;
    bool good = given(model, "the model", &error) &&
                (a || error_memory(&error, "for an attention map")) &&
                encode(&model->bundle, &source, SOURCE, text, "text", 1, &cut, &error) &&
                (id || encode(&model->bundle, &target, TARGET, translation, "translation", 1,
                              &cut, &error)) &&
                take(a, &model->bundle, source.ids.id, source.start[1], id ? id : target.ids.id,
                     id ? count : target.start[1], &error);
    idlines_free(&source);
    idlines_free(&target);
    if (leave(before, good, to, &error)) return &a->out;
    qkv_attention_free((QkvAttention *)a);
    return NULL;
}

QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error)
{
    static const QkvHypothesis nothing;
    const QkvHypothesis *t = translation ? translation : &nothing;
    return attention(model, text, t->id, t->tokens, NULL, error);
}

QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error)
{
    return attention(model, text, NULL, 0, translation, error);
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
        snapshot_weights(weights, ((const AttentionResult *)attention)->snapshot,
                         (AttentionKind)kind, layer, head);
    return leave(before, good, to, &error);
}
