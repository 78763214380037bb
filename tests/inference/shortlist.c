/* Searches with a shortlist: with all tokens they are those without it, bit for bit; with fewer, those
 * of a model in which no other token is probable. And lists that are not those of a model. */
#include "inference/shortlist.h"
#include "base/rng.h"
#include "model/quantised.h"
#include "tests/fixtures/hypotheses.h"
#include "tests/fixtures/random-model.h"

enum { V = 150, C = V - 1, MOST_LENGTH = 40, S = 30, FIRST_PLACEHOLDER = 2 };
static const real NEVER = -10000;  // nats

static Transformer model;
static Packed source, prefix;
static Workers *workers[4];
static Error error;

FIXTURE(setup)
{
    model = random_model(V, MOST_LENGTH, 70);
    model.weights.logits_bias[ID_END] += 1;
    source = random_sentences(S, 20, V, 71);
    static int begin[] = {40, 41}, start[] = {0, 2};
    prefix = (Packed){1, 2, begin, start};
    for (int t = 1; t < 4; t++) workers[t] = workers_start(t, &error);
    return transformer_prepare(&model, true, &error) ? 0 : -1;
}

FIXTURE(teardown)
{
    for (int t = 1; t < 4; t++) workers_stop(workers[t]);
    transformer_free(&model);
    free_sentences(source);
    return 0;
}

/* Each token has up to `most` random targets, or, with C, all. */
static Shortlist random_shortlist(int most, uint64_t seed)
{
    Shortlist shortlist;
    Rng rng = rng_stream(seed, RNG_TEST, 0);
    uint16_t *list = malloc(V * (size_t)(C + 1) * sizeof *list);
    size_t used = 0;
    for (int s = 0; s < V; s++) {
        int count = most == C ? C : (int)rng_below(&rng, (uint32_t)most + 1);
        list[used++] = (uint16_t)count;
        for (int i = 0; i < count; i++)
            list[used++] = (uint16_t)(most == C ? (uint32_t)i : rng_below(&rng, C));
    }
    assert_true(shortlist_open(&shortlist, list, used, &model.config, &error));
    return shortlist;
}

static const SearchConfig settings[] = {
    {.beam = 1, .n_best = 1},
    {.beam = 1, .n_best = 1, .no_scores = true, .no_repeat_ngram = 1},
    {.beam = 5, .n_best = 5, .length_penalty = 1},
    {.beam = 3, .n_best = 1, .copy_unknown = true, .min_length = 7, .no_repeat_ngram = 2},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void search(Translations *out, const Ensemble *ensemble, const Packed *from, int setting,
                   bool shortlist, bool constrained, int threads)
{
    SearchConfig config = settings[setting];
    TranslatorInput input = {.source = *from, .line = 1};
    config.max_length_ratio = 2, config.batch_rows = 20 * threads, config.shortlist = shortlist;
    if (constrained) input.prefix = &prefix, input.placeholder = FIRST_PLACEHOLDER;
    if (!translator_run(out, ensemble, &input, &config, workers[threads], NULL, &error))
        fail_msg("%s", error.text);
}

static bool only(const bool *has, const Hypothesis *h)
{
    for (int t = 0; t < h->length; t++)
        if (!has[h->id[t]]) return false;
    return true;
}

/* The hypotheses of b, which are at most those of a, have the same ids, and ln p to `most`.
 * has [V]: except where a had to take another token; or NULL. Returns how many are the same. */
static int check_same(const Translations *a, const Translations *b, const bool *has,
                      double most)
{
    int same = 0;
    for (int s = 0; s < a->sentences; s++) {
        assert_in_range(b->sentence[s].count, 1, a->sentence[s].count);
        for (int i = 0; i < b->sentence[s].count; i++) {
            const Hypothesis *x = &a->sentence[s].hypothesis[i];
            const Hypothesis *y = &b->sentence[s].hypothesis[i];
            if (has && !only(has, x)) continue;
            same++;
            assert_true(same_ids(x, y));
            if (!isnan(x->log_probability))
                assert_true(fabs(x->log_probability - y->log_probability) <= most);
        }
    }
    return same;
}

TEST(of_all_tokens)
{
    Shortlist all = random_shortlist(C, 1);
    Ensemble without = ensemble_of(&model), with = without;
    with.shortlist = &all;
    for (int setting = 0; setting < SETTINGS; setting++)
        for (int constrained = 0; constrained < 2; constrained++) {
            Translations a, b;
            search(&a, &without, &source, setting, false, constrained, 1);
            search(&b, &with, &source, setting, true, constrained, 1 + setting % 3);
            check_same(&a, &b, NULL, 0);
            translations_free(&a);
            translations_free(&b);
        }
    shortlist_free(&all);
}

/* has [V] (=) which tokens a source's translation may have. */
static void allowed(bool *has, const Shortlist *shortlist, const int *id, int n,
                    bool constrained)
{
    memset(has, 0, V * sizeof *has);
    has[ID_END] = has[ID_UNKNOWN] = true;
    for (int j = 0; j < n; j++) {
        const uint16_t *list = shortlist->list + shortlist->start[id[j]];
        has[id[j]] = true;
        for (int i = 1; i <= list[0]; i++) has[list[i]] = true;
    }
    for (int i = 0; constrained && i < PLACEHOLDERS; i++) has[FIRST_PLACEHOLDER + i] = true;
    for (int i = 0; constrained && i < prefix.rows; i++) has[prefix.id[i]] = true;
}

TEST(of_few_tokens)
{
    Shortlist few = random_shortlist(6, 2);
    Ensemble without = ensemble_of(&model), with = without;
    real *bias = model.weights.logits_bias, before[V];
    int longest = 0, same = 0;
    with.shortlist = &few;
    memcpy(before, bias, sizeof before);
    for (int run = 0; run < 2 * SETTINGS * S; run++) {
        int setting = run % SETTINGS, s = run / SETTINGS % S, start[2];
        bool constrained = run >= SETTINGS * S, has[V];
        Packed one = packed_slice(start, &source, s, s + 1);
        Translations a, b;
        search(&b, &with, &one, setting, true, constrained, 1);
        allowed(has, &few, one.id, one.rows, constrained);
        for (int c = 0; c < C; c++) bias[c] = has[c] ? before[c] : NEVER;
        search(&a, &without, &one, setting, false, constrained, 1);
        memcpy(bias, before, sizeof before);
        same += check_same(&a, &b, has, 1e-3);
        int length = b.sentence[0].hypothesis[0].length;
        if (length > longest) longest = length;
        translations_free(&a);
        translations_free(&b);
    }
    assert_in_range(longest, 20, MOST_LENGTH);
    assert_true(same > SETTINGS * S);
    shortlist_free(&few);
}

/* The same translations whatever sentences and threads are beside them. */
TEST(alone_and_together)
{
    Shortlist few = random_shortlist(30, 3);
    Ensemble with = ensemble_of(&model);
    with.shortlist = &few;
    for (int setting = 0; setting < SETTINGS; setting++) {
        Translations all, one;
        search(&all, &with, &source, setting, true, false, 3);
        for (int s = 0; s < S; s++) {
            int start[2];
            Packed alone = packed_slice(start, &source, s, s + 1);
            search(&one, &with, &alone, setting, true, false, 1);
            Translations same = {.sentences = 1, .sentence = &all.sentence[s]};
            check_same(&one, &same, NULL, 0);
            translations_free(&one);
        }
        translations_free(&all);
    }
    shortlist_free(&few);
}

static void refuse(size_t count, int wrong, const char *sentence)
{
    Shortlist shortlist;
    uint16_t *list = calloc(count + 1, sizeof *list);
    assert_non_null(list);
    if (wrong) list[0] = 1, list[1] = (uint16_t)wrong;
    assert_false(shortlist_open(&shortlist, list, count, &model.config, &error));
    assert_non_null(strstr(error.text, sentence));
    shortlist_free(&shortlist);
}

TEST(wrong_lists)
{
    refuse(V - 1, 0, "the shortlist ends at token 149 of 150");
    refuse(V + 2, 0, "2 numbers too many");
    refuse(V + 1, C, "the shortlist has token 149");
    refuse(1, 5, "ends at token 0");
}

TEST(refused)
{
    Shortlist few = random_shortlist(6, 4);
    Translations out;
    TranslatorInput input = {.source = source, .line = 1};
    SearchConfig config = search_default;
    Ensemble ensemble = ensemble_of(&model);
    config.shortlist = true;
    assert_false(translator_run(&out, &ensemble, &input, &config, workers[1], NULL, &error));
    assert_non_null(strstr(error.text, "has no `shortlist`"));
    ensemble.shortlist = &few;
    ensemble.model[ensemble.count++] = &model;
    assert_false(translator_run(&out, &ensemble, &input, &config, workers[1], NULL, &error));
    assert_non_null(strstr(error.text, "several models"));
    ensemble.count = 1, config.sample = true;
    assert_false(translator_run(&out, &ensemble, &input, &config, workers[1], NULL, &error));
    assert_non_null(strstr(error.text, "`sample` draws from all tokens"));
    Transformer floats = random_model(V, MOST_LENGTH, 70);
    assert_true(transformer_prepare(&floats, false, &error));
    ensemble.model[0] = &floats, config.sample = false;
    assert_false(translator_run(&out, &ensemble, &input, &config, workers[1], NULL, &error));
    assert_non_null(strstr(error.text, "in int8"));
    transformer_free(&floats);
    shortlist_free(&few);
}

TEST_MAIN("shortlist", setup, teardown)
