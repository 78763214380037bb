/* The library: the same translations as those of inference/, from a file, from memory and from
 * many threads at once; attention weights; and errors. */
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/file.h"
#include "base/packed.h"
#include "inference/bundle.h"
#include "inference/translator.h"
#include "library/qkv.h"
#include "model/checkpoint.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

/* LONGEST: tokens that the model takes, </s> included. */
enum { LONGEST = 40, TEXTS = 30, TEXT_SIZE = 24, THREADS = 16, SLICE = 3 };

static char text[TEXTS][TEXT_SIZE];
static const char *texts[TEXTS];
static QkvError wrong;
static char *bytes;
static size_t size;
static QkvModel *model;

/* Saves a model with random weights whose tokens are a space and the letters a to l. */
static bool alphabet_save(Error *error)
{
    static SmallModel letters;
    small_model_begin(&letters, TOKENIZER_CHAR, false);
    small_model_piece(&letters, "\xe2\x96\x81", -1, PIECE_NORMAL);
    for (char c = 'a'; c <= 'l'; c++)
        small_model_piece(&letters, (char[]){c, '\0'}, -2, PIECE_NORMAL);
    Transformer network = random_model(16, LONGEST, 3);
    network.weights.logits_bias[ID_END] += 1;
    const OptionGroup group = {"", "model", model_options, model_option_count, &network.config};
    char *config = options_to_json(&group, 1, false);
    const Checkpoint checkpoint = {.params = &network.params,
                                   .weights = network.block,
                                   .config = config,
                                   .tokenizer[1] = letters.bytes,
                                   .tokenizer_size[1] = letters.size};
    bool good = checkpoint_save(&checkpoint, path, error);
    free(config);
    transformer_free(&network);
    return good;
}

/* to (=) a text of 1 .. capacity-2 characters. */
static void alphabet_text(char *to, int capacity, Rng *rng)
{
    int length = 1 + (int)rng_below(rng, (uint32_t)capacity - 2);
    for (int i = 0; i < length; i++)
        to[i] = i % 6 == 5 ? ' ' : (char)('a' + rng_below(rng, 12));
    to[length] = '\0';
}

FIXTURE(setup)
{
    Error error = {""};
    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (int s = 0; s < TEXTS; s++) {
        alphabet_text(text[s], TEXT_SIZE, &rng);
        texts[s] = text[s];
    }
    text[3][0] = '\0';
    if (path_make(state)) return -1;
    bool good = alphabet_save(&error) && (bytes = file_read(path, 1 << 24, &size, &error));
    if (!good) print_error("%s\n", error.text);
    return good && (model = qkv_model_load(path, QKV_FLOAT, &wrong)) ? 0 : -1;
}

FIXTURE(teardown)
{
    qkv_model_free(model);
    free(bytes);
    return path_remove(state);
}

/* The call failed, with this sentence. */
static void refused(bool failed, const char *sentence)
{
    assert_true(failed);
    assert_string_equal(wrong.text, sentence);
}

/* A translator of model m with the options, {name, value} … {NULL}. */
static QkvTranslator *translator_of(const QkvModel *m, int threads,
                                    const char *const (*option)[2])
{
    QkvTranslator *translator = qkv_translator_new(m, threads, &wrong);
    assert_non_null(translator);
    for (; option && (*option)[0]; option++)
        if (!qkv_translator_set(translator, (*option)[0], (*option)[1], &wrong))
            fail_msg("%s", wrong.text);
    return translator;
}

static QkvTranslations *translate(const QkvModel *m, int threads,
                                  const char *const (*option)[2], const char *const *beginnings)
{
    QkvTranslator *translator = translator_of(m, threads, option);
    QkvTranslations *out = qkv_translate(translator, texts, beginnings, TEXTS, &wrong);
    if (!out) fail_msg("%s", wrong.text);
    qkv_translator_free(translator);
    return out;
}

static bool same_hypothesis(const QkvHypothesis *a, const QkvHypothesis *b)
{
    return a->tokens == b->tokens && !strcmp(a->text, b->text) && a->score == b->score &&
           a->log_probability == b->log_probability &&
           !memcmp(a->id, b->id, (size_t)a->tokens * sizeof *a->id);
}

static bool same(const QkvTranslations *a, const QkvTranslations *b)
{
    if (a->count != b->count) return false;
    for (int s = 0; s < a->count; s++) {
        const QkvTranslation *x = &a->sentence[s], *y = &b->sentence[s];
        if (x->count != y->count || x->cut != y->cut) return false;
        for (int h = 0; h < x->count; h++)
            if (!same_hypothesis(&x->hypothesis[h], &y->hypothesis[h])) return false;
    }
    return true;
}

/* Compares both, and frees them. */
static void assert_same(QkvTranslations *a, QkvTranslations *b)
{
    assert_true(same(a, b));
    qkv_translations_free(a);
    qkv_translations_free(b);
}

static const char *const N_BEST[][2] = {
    {"beam", "5"}, {"n-best", "3"}, {"length-penalty", "0.6"}, {NULL}};

/* The results of translator_run. */
TEST(translations_are_those_of_the_search)
{
    Error error;
    Bundle bundle;
    IdLines lines = {0};
    assert_true(bundle_load(&bundle, folder, BUNDLE_FLOAT, NULL, &error));
    for (int s = 0; s < TEXTS; s++)
        assert_true(
            bundle_encode(&bundle, SOURCE, &lines, texts[s], strlen(texts[s]), NULL, &error));
    SearchConfig search = search_default;
    search.beam = 5, search.n_best = 3, search.length_penalty = 0.6;
    TranslatorInput input = {.source = idlines_packed(&lines)};
    Ensemble ensemble = ensemble_of(&bundle.model);
    Workers *workers = workers_start(1, &error);
    Translations found;
    assert_true(translator_run(&found, &ensemble, &input, &search, workers, NULL, &error));

    assert_int_equal(qkv_model_max_length(model), LONGEST);
    QkvTranslations *out = translate(model, 2, N_BEST, NULL);
    assert_int_equal(out->count, TEXTS);
    for (int s = 0; s < TEXTS; s++) {
        const QkvTranslation *sentence = &out->sentence[s];
        const QkvHypothesis *best = sentence->hypothesis;
        if (!text[s][0]) {
            assert_int_equal(sentence->count, 1);
            assert_string_equal(best->text, "");
            assert_int_equal(best->tokens, 0);
            continue;
        }
        assert_int_equal(sentence->count, found.sentence[s].count);
        for (int h = 0; h < sentence->count; h++) {
            const Hypothesis *expected = &found.sentence[s].hypothesis[h];
            assert_true(best[h].score == expected->score);
            assert_true(best[h].log_probability == expected->log_probability);
            assert_int_equal(best[h].tokens, expected->length);
            assert_memory_equal(best[h].id, expected->id,
                                sizeof(int) * (size_t)expected->length);
        }
        assert_string_equal(best->token[best->tokens - 1], "</s>");
    }
    qkv_translations_free(out);
    translations_free(&found);
    workers_stop(workers);
    idlines_free(&lines);
    bundle_free(&bundle);
}

TEST(a_model_in_memory_is_the_same)
{
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    QkvModel *memory = qkv_model_read(copy, size, QKV_FLOAT, &wrong);
    assert_non_null(memory);
    memset(copy, 0, size);
    free(copy);
    assert_same(translate(model, 1, N_BEST, NULL), translate(memory, 2, N_BEST, NULL));
    qkv_model_free(memory);
}

/* Callers [THREADS] translate the texts in slices. Every second one is cancelled: it frees its
 * translator between two slices and leaves the others undone. Every fourth one has a model of its own. */
typedef struct Caller {
    pthread_t thread;
    int number, slices;  // translated
    bool good;
} Caller;

static QkvTranslations *expected[TEXTS / SLICE];
static atomic_int begun;
static atomic_bool cancelled;

static QkvTranslations *translate_slice(QkvTranslator *translator, int slice)
{
    return qkv_translate(translator, texts + slice * SLICE, NULL, SLICE, NULL);
}

static bool call_once(QkvTranslator *translator, int slice)
{
    const char *invalid = "a\xc3";
    QkvTranslations *out = translate_slice(translator, slice);
    bool good = out && same(out, expected[slice]) &&
                !qkv_translate(translator, &invalid, NULL, 1, NULL);
    qkv_translations_free(out);
    return good;
}

static void *call(void *argument)
{
    Caller *caller = argument;
    bool own = caller->number % 4 == 3, stops = caller->number % 2;
    QkvModel *mine = own ? qkv_model_read(bytes, size, QKV_FLOAT, NULL) : model;
    QkvTranslator *translator = qkv_translator_new(mine, 1 + caller->number % 3, NULL);
    caller->good = qkv_translator_set(translator, "beam", "5", NULL) &&
                   qkv_translator_set(translator, "n-best", "3", NULL);
    while (caller->good && (stops ? !cancelled : caller->slices < TEXTS)) {
        caller->good = call_once(translator, caller->slices % (TEXTS / SLICE));
        if (caller->slices++ == 0) begun++;
    }
    if (!caller->good) begun = THREADS;
    qkv_translator_free(translator);
    if (own) qkv_model_free(mine);
    return NULL;
}

TEST(many_threads_share_a_model_and_some_are_cancelled)
{
    static const char *const three_best[][2] = {{"beam", "5"}, {"n-best", "3"}, {NULL}};
    QkvTranslator *translator = translator_of(model, 1, three_best);
    for (int i = 0; i < TEXTS / SLICE; i++)
        assert_non_null(expected[i] = translate_slice(translator, i));
    qkv_translator_free(translator);
    Caller caller[THREADS];
    for (int t = 0; t < THREADS; t++) {
        caller[t] = (Caller){.number = t};
        assert_int_equal(pthread_create(&caller[t].thread, NULL, call, &caller[t]), 0);
    }
    while (begun < THREADS) usleep(1000);
    cancelled = true;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(caller[t].thread, NULL);
        assert_true(caller[t].good);
        assert_true(caller[t].slices > 0);
    }
    for (int i = 0; i < TEXTS / SLICE; i++) qkv_translations_free(expected[i]);
}

TEST(samples_are_reproducible)
{
    static const char *const sample[][2] = {
        {"sample", "true"}, {"n-best", "9"}, {"seed", "7"}, {NULL}};
    QkvTranslations *a = translate(model, 1, sample, NULL);
    assert_int_equal(a->sentence[0].count, 9);
    assert_same(a, translate(model, 3, sample, NULL));
}

/* A text without a beginning is translated as before. Its scores are equal only if no product's
 * rounding depends on the other rows. */
TEST(translations_begin_as_they_must)
{
    const char *beginnings[TEXTS];
    for (int s = 0; s < TEXTS; s++)
        beginnings[s] = s % 3 == 0 ? "kc ab" : s % 3 == 1 ? "" : NULL;
    QkvTranslations *bare = translate(model, 1, NULL, NULL);
    QkvTranslations *out = translate(model, 1, NULL, beginnings);
    for (int s = 0; s < TEXTS; s++) {
        const QkvHypothesis *a = out->sentence[s].hypothesis, *b = bare->sentence[s].hypothesis;
        if (s % 3) assert_true(same_hypothesis(a, b));
        else if (text[s][0]) assert_memory_equal(a->text, "kc ab", 5);
    }
    qkv_translations_free(bare);
    qkv_translations_free(out);
}

/* Alone as with others. python.py compares with the search, for which a text needs the tokens that
 * a trained model gives it. */
TEST(given_translations_are_scored)
{
    const char *source[TEXTS], *translations[TEXTS];
    double alone[TEXTS], together[TEXTS];
    int count = 0;
    QkvTranslations *out = translate(model, 1, NULL, NULL);
    QkvTranslator *translator = translator_of(model, 2, NULL);
    for (int s = 0; s < TEXTS; s++) {
        const QkvHypothesis *best = out->sentence[s].hypothesis;
        source[count] = texts[s];
        translations[count] = best->text;
        if (!best->tokens ||
            !qkv_score(&alone[count], translator, &texts[s], &best->text, 1, &wrong))
            continue;  // the text has more tokens than the translation
        assert_true(alone[count] < 0);
        count++;
    }
    assert_true(count > TEXTS / 4);
    assert_true(qkv_score(together, translator, source, translations, count, &wrong));
    assert_memory_equal(together, alone, (size_t)count * sizeof *alone);
    assert_true(qkv_score(NULL, translator, NULL, NULL, 0, &wrong));

    const char *long_one = "abababababababababababababababababababababab", *none = NULL;
    refused(!qkv_score(alone, translator, &long_one, translations, 1, &wrong),
            "text 1 has 45 tokens, and the model takes 39");
    refused(!qkv_score(alone, translator, texts, &none, 1, &wrong), "translation 1 is NULL");
    refused(!qkv_score(alone, translator, texts, NULL, 1, &wrong),
            "the list of translations is NULL");
    refused(!qkv_score(alone, translator, NULL, translations, 1, &wrong),
            "the list of texts is NULL");
    refused(!qkv_score(NULL, translator, texts, translations, 1, &wrong),
            "the array of scores is NULL");
    refused(!qkv_score(alone, NULL, texts, translations, 1, &wrong), "the translator is NULL");
    assert_false(qkv_score(alone, translator, texts, translations, -1, NULL));
    qkv_translator_free(translator);
    qkv_translations_free(out);
}

TEST(int8_is_nearly_the_same)
{
    QkvModel *quantised = qkv_model_load(folder, QKV_INT8, &wrong);
    assert_non_null(quantised);
    QkvTranslations *a = translate(model, 1, NULL, NULL),
                    *b = translate(quantised, 1, NULL, NULL);
    double apart = 0;
    int alike = 0;  // rounding can lead a search to another translation, with another score
    for (int s = 0; s < TEXTS; s++) {
        const QkvHypothesis *x = a->sentence[s].hypothesis, *y = b->sentence[s].hypothesis;
        if (strcmp(x->text, y->text)) continue;
        apart = fmax(apart, fabs(x->score - y->score));
        alike++;
    }
    assert_true(alike >= TEXTS - 6);
    assert_true(apart > 0 && apart < 0.1);
    qkv_translations_free(a);
    qkv_translations_free(b);
    qkv_model_free(quantised);
}

TEST(attention_weights)
{
    QkvTranslations *out = translate(model, 1, NULL, NULL);
    const QkvHypothesis *best = out->sentence[0].hypothesis;
    QkvAttention *seen = qkv_attention(model, texts[0], best, &wrong);
    assert_non_null(seen);
    assert_int_equal(seen->targets, best->tokens);
    assert_string_equal(seen->source[seen->sources - 1], "</s>");
    assert_string_equal(seen->read[0], "<pad>");
    assert_string_equal(seen->read[1], seen->target[0]);
    assert_int_equal(seen->encoder_layers, 2);
    assert_int_equal(seen->decoder_layers, 3);
    assert_int_equal(seen->heads, 3);
    float one[LONGEST * LONGEST], mean[LONGEST * LONGEST], sum[LONGEST * LONGEST];
    for (QkvAttentionKind kind = QKV_ENCODER; kind <= QKV_CROSS; kind++) {
        int rows = kind == QKV_ENCODER ? seen->sources : seen->targets;
        int columns = kind == QKV_DECODER ? seen->targets : seen->sources;
        memset(sum, 0, sizeof sum);
        for (int head = 0; head < seen->heads; head++) {
            assert_true(qkv_attention_weights(one, seen, kind, 1, head, &wrong));
            for (int i = 0; i < rows * columns; i++) sum[i] += one[i];
            for (int r = 0; r < rows; r++) {
                double total = 0;
                for (int c = 0; c < columns; c++) total += (double)one[r * columns + c];
                assert_true(fabs(total - 1) < 1e-5);
                if (kind == QKV_DECODER)
                    for (int c = r + 1; c < columns; c++)
                        assert_true(one[r * columns + c] == 0);
            }
        }
        assert_true(qkv_attention_weights(mean, seen, kind, 1, QKV_MEAN, &wrong));
        for (int i = 0; i < rows * columns; i++)
            assert_true(fabs((double)mean[i] - (double)sum[i] / seen->heads) < 1e-6);
    }
    refused(!qkv_attention_weights(one, seen, QKV_ENCODER, 2, 0, &wrong),
            "there is no layer 2: there are 0 to 1");
    refused(!qkv_attention_weights(one, seen, QKV_CROSS, 2, 3, &wrong),
            "there is no head 3: there are 0 to 2");

    QkvAttention *given = qkv_attention_given(model, texts[0], best->text, &wrong);
    assert_non_null(given);
    assert_string_equal(given->target[given->targets - 1], "</s>");
    refused(!qkv_attention_given(model, texts[0], "\xff", &wrong),
            "translation 1 is not valid UTF-8");
    assert_null(qkv_attention(model, "", out->sentence[3].hypothesis, &wrong));  // empty
    qkv_attention_free(given);
    qkv_attention_free(seen);
    qkv_translations_free(out);
}

/* Translates one text: NULL, and the sentence. */
static void assert_refused(QkvTranslator *translator, const char *one, const char *beginning,
                           const char *sentence)
{
    refused(!qkv_translate(translator, &one, beginning ? &beginning : NULL, 1, &wrong),
            sentence);
}

TEST(errors)
{
    QkvTranslator *translator = translator_of(model, 1, NULL);
    assert_refused(translator, NULL, NULL, "text 1 is NULL");
    assert_refused(translator, "a\xc3", NULL, "text 1 is not valid UTF-8");
    assert_refused(translator, "a", "\xc3", "beginning 1 is not valid UTF-8");
    assert_refused(translator, "a", "abababababababababababababababababababababab",
                   "beginning 1 has 45 tokens, and the model takes 39");
    assert_null(qkv_translate(translator, NULL, NULL, -1, NULL));

    assert_false(qkv_translator_set(translator, "beam", "0", &wrong));
    assert_string_equal(wrong.text, "`beam` takes a whole number from 1 to 64, not '0'");
    assert_false(qkv_translator_set(translator, "bean", "5", &wrong));
    assert_string_equal(wrong.text, "unknown option 'bean': did you mean 'beam'?");
    assert_false(qkv_translator_set(translator, "--beam", "5", &wrong));
    assert_string_equal(wrong.text, "unknown option '--beam': did you mean 'beam'?");
    assert_false(qkv_translator_set(translator, "no-copy-unknown", "true", &wrong));
    assert_string_equal(wrong.text,
                        "unknown option 'no-copy-unknown': did you mean 'copy-unknown'?");
    assert_false(qkv_translator_set(translator, "protect", "(", &wrong));
    assert_false(qkv_translator_set(translator, "terms", "/no/such", &wrong));
    const char *still = "abc";  // translates as before
    QkvTranslations *none = qkv_translate(translator, &still, NULL, 1, &wrong);
    assert_non_null(none);
    qkv_translations_free(none);
    char terms[sizeof path + 8];
    snprintf(terms, sizeof terms, "%s.terms", path);
    assert_true(file_replace_text(terms, strdup("abc\tcba\n"), NULL));
    assert_true(qkv_translator_set(translator, "terms", terms, &wrong));
    remove(terms);
    for (int i = 0; i < 3; i++) assert_null(qkv_translate(translator, &still, NULL, 1, &wrong));
    qkv_translator_free(translator);
    translator = translator_of(model, 1, NULL);
    assert_false(qkv_translator_set(translator, "beam", NULL, &wrong));
    assert_true(qkv_translator_set(translator, "n-best", "6", &wrong));
    assert_refused(translator, "a", NULL,
                   "`n-best` 6 is more than `beam` 4, the number of hypotheses");
    assert_true(qkv_translator_set(translator, "beam", "6", &wrong));

    none = qkv_translate(translator, NULL, NULL, 0, &wrong);
    assert_int_equal(none->count, 0);
    qkv_translations_free(none);
    const char *long_one = "abababababababababababababababababababababab";
    QkvTranslations *out = qkv_translate(translator, &long_one, NULL, 1, &wrong);
    assert_int_equal(out->sentence->count, 6);
    assert_int_equal(out->sentence->cut, 45);
    qkv_translations_free(out);
    qkv_translator_free(translator);

    assert_null(qkv_translator_new(model, -1, &wrong));
    assert_null(qkv_translator_new(model, 100000, NULL));
    assert_null(qkv_model_load("/no/such", QKV_FLOAT, &wrong));
    assert_non_null(strstr(wrong.text, "no model at '/no/such'"));
    assert_null(qkv_model_load(NULL, QKV_FLOAT, NULL));
    refused(!qkv_model_read(NULL, 5, QKV_FLOAT, &wrong), "'model' is empty");
    for (size_t length = 0; length < size; length += size / 50 + 1)
        assert_null(qkv_model_read(bytes, length, QKV_INT8, &wrong));
}

/* NULL and values that an enum does not have: a sentence, and no crash. */
TEST(wrong_arguments)
{
    QkvTranslator *translator = translator_of(model, 1, NULL);
    QkvTranslations *out = translate(model, 1, NULL, NULL);
    const QkvHypothesis *best = out->sentence[0].hypothesis, bare = {.tokens = 3};
    QkvAttention *seen = qkv_attention(model, texts[0], best, &wrong);
    float weights[LONGEST * LONGEST];
    for (int value = -1; value < 4; value++) {
        if (value == QKV_FLOAT || value == QKV_INT8) continue;
        assert_null(qkv_model_read(bytes, size, (QkvPrecision)value, &wrong));
        assert_non_null(strstr(wrong.text, "there is no precision "));
    }
    assert_int_equal(qkv_model_max_length(NULL), 0);
    refused(!qkv_translator_new(NULL, 1, &wrong), "the model is NULL");
    refused(!qkv_translator_set(NULL, "beam", "5", &wrong), "the translator is NULL");
    refused(!qkv_translate(NULL, texts, NULL, 1, &wrong), "the translator is NULL");
    refused(!qkv_translate(translator, NULL, NULL, 1, &wrong), "the list of texts is NULL");
    refused(!qkv_attention(NULL, texts[0], best, &wrong), "the model is NULL");
    refused(!qkv_attention(model, NULL, best, &wrong), "text 1 is NULL");
    refused(!qkv_attention(model, texts[0], NULL, &wrong), "translation 1 is NULL");
    assert_null(qkv_attention(model, texts[0], &bare, NULL));
    refused(!qkv_attention_given(model, texts[0], NULL, &wrong), "translation 1 is NULL");
    refused(!qkv_attention_weights(weights, NULL, QKV_CROSS, 0, 0, &wrong),
            "the attention is NULL");
    refused(!qkv_attention_weights(NULL, seen, QKV_CROSS, 0, 0, &wrong),
            "the array of weights is NULL");
    refused(!qkv_attention_weights(weights, seen, (QkvAttentionKind)7, 0, 0, &wrong),
            "there is no attention of kind 7");
    qkv_attention_free(seen), qkv_attention_free(NULL);
    qkv_translations_free(out), qkv_translations_free(NULL);
    qkv_translator_free(translator), qkv_translator_free(NULL);
    qkv_model_free(NULL);
}

/* Numbers have a decimal point in every locale. */
TEST(the_locale_does_not_matter)
{
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", NULL};
    int i = 0;
    while (comma[i] && !setlocale(LC_ALL, comma[i])) i++;
    if (!comma[i]) {
        print_message("skipped decimal commas: no locale here has them\n");
        skip();
    }
    QkvTranslations *out = translate(model, 1, N_BEST, NULL);
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_ALL, "C");
    assert_same(out, translate(model, 1, N_BEST, NULL));
}

TEST_MAIN("library", setup, teardown)
