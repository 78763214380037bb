/* placeholders.c -- every hypothesis has each placeholder as often as its source, whatever the search
 * and its other constraints are. Ids 2 to 9 of the random sentences are the placeholders. */
#include "inference/choices.h"
#include "tests/fixtures/translations.h"

enum { FIRST = 2, END_OF_PLACEHOLDERS = FIRST + PLACEHOLDERS };

static bool is_placeholder(int id)
{
    return id >= FIRST && id < END_OF_PLACEHOLDERS;
}

/* counts [PLACEHOLDERS] (+=) those of some ids; returns their number. */
static int count_each(int *counts, const int *id, int length)
{
    int sum = 0;
    for (int t = 0; t < length; t++)
        if (is_placeholder(id[t])) counts[id[t] - FIRST]++, sum++;
    return sum;
}

static void search(Translations *out, const Packed *from, const Packed *prefix,
                   const SearchConfig *config, int placeholder, int threads)
{
    TranslatorInput input = {
        .source = *from, .prefix = prefix, .placeholder = placeholder, .line = 1};
    if (!translator_run(out, &alone, &input, config, workers[threads], NULL, &error))
        fail_msg("%s", error.text);
}

/* The number of hypotheses whose placeholders are not those of their source. */
static int count_wrong(const Translations *out, const Packed *from)
{
    int wrong = 0;
    for (int s = 0; s < out->sentences; s++) {
        int wanted[PLACEHOLDERS] = {0};
        count_each(wanted, from->id + from->start[s], packed_length(from, s));
        assert_true(out->sentence[s].count > 0);
        for (int i = 0; i < out->sentence[s].count; i++) {
            const Hypothesis *h = &out->sentence[s].hypothesis[i];
            int has[PLACEHOLDERS] = {0};
            count_each(has, h->id, h->length);
            wrong += memcmp(has, wanted, sizeof has) != 0;
            assert_in_range(h->length, 1, MOST_LENGTH);
            assert_int_equal(h->id[h->length - 1], ID_END);
        }
    }
    return wrong;
}

TEST(each_as_often_as_the_source)
{
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
        Translations out;
        search(&out, &source, NULL, &config, FIRST, 2);
        assert_int_equal(count_wrong(&out, &source), 0);
        if (which != SAMPLES) check_scores(&out, &alone, &source, &config, workers[2]);
        translations_free(&out);
        search(&out, &source, NULL, &config, 0, 2);
        assert_in_range(count_wrong(&out, &source), S / 2, 3 * S);  // no constraint
        translations_free(&out);
    }
}

/* Some sentences, of which a share of the tokens are placeholders, and beginnings of translations
 * with some of them. */
typedef struct Case {
    int id[3][MOST_LENGTH], length[3];
    int prefix[3][MOST_LENGTH], prefix_length[3];
} Case;

static void random_case(Case *c, Rng *rng)
{
    uint32_t share = rng_below(rng, 5);  // of 4
    for (int s = 0; s < 3; s++) {
        int length = c->length[s] = 1 + (int)rng_below(rng, 16), count = 0;
        for (int t = 0; t < length - 1; t++)
            c->id[s][t] = rng_below(rng, 4) < share
                              ? FIRST + (int)rng_below(rng, 1 + rng_below(rng, PLACEHOLDERS))
                              : END_OF_PLACEHOLDERS + (int)rng_below(rng, 40);
        c->id[s][length - 1] = ID_END;
        for (int t = 0; t < length - 1; t++)
            if (rng_below(rng, 3) == 0) c->prefix[s][count++] = c->id[s][t];
        c->prefix_length[s] = count;
    }
}

static Packed pack(int *id, int *start, int from[][MOST_LENGTH], const int *length)
{
    start[0] = 0;
    for (int s = 0; s < 3; s++) {
        memcpy(id + start[s], from[s], (size_t)length[s] * sizeof *id);
        start[s + 1] = start[s] + length[s];
    }
    return (Packed){3, start[3], id, start};
}

TEST(with_all_other_constraints)
{
    enum { ROUNDS = 400 };
    Rng rng = rng_stream(11, RNG_TEST, 0);
    int more_than_max_tokens = 0;
    for (int round = 0; round < ROUNDS; round++) {
        static Case c;
        int id[2][3 * MOST_LENGTH], start[2][4];
        random_case(&c, &rng);
        Packed from = pack(id[0], start[0], c.id, c.length);
        Packed prefix = pack(id[1], start[1], c.prefix, c.prefix_length);
        SearchConfig config = settings((int)rng_below(&rng, SETTINGS));
        if (!config.sample) {
            config.beam = 1 + (int)rng_below(&rng, 6);
            config.n_best = 1 + (int)rng_below(&rng, (uint32_t)config.beam);
        }
        config.no_repeat_ngram = (int)rng_below(&rng, 4);
        config.min_length = (int)rng_below(&rng, 3) * 4;
        config.max_length_ratio = rng_below(&rng, 2) ? 3 : 0.1;
        if (rng_below(&rng, 2)) config.max_tokens = 10 + (int)rng_below(&rng, 10);
        config.copy_unknown = rng_below(&rng, 2);
        config.no_scores = rng_below(&rng, 2);
        Translations out, again;
        bool forced = rng_below(&rng, 2);
        if (forced && config.max_tokens) config.max_tokens = 20;
        search(&out, &from, forced ? &prefix : NULL, &config, FIRST, 1);
        assert_int_equal(count_wrong(&out, &from), 0);
        search(&again, &from, forced ? &prefix : NULL, &config, FIRST, THREADS);
        for (int s = 0; s < 3; s++)
            for (int i = 0; i < out.sentence[s].count; i++) {
                const Hypothesis *h = &out.sentence[s].hypothesis[i];
                assert_true(same_ids(h, &again.sentence[s].hypothesis[i]));
                if (forced)
                    assert_memory_equal(h->id, c.prefix[s],
                                        (size_t)c.prefix_length[s] * sizeof *h->id);
                more_than_max_tokens += config.max_tokens && h->length > config.max_tokens;
            }
        translations_free(&out);
        translations_free(&again);
    }
    print_message("%d longer than max-tokens\n", more_than_max_tokens);
}

/* The shortest translations that are possible: the limit is what the placeholders need. */
TEST(more_than_max_tokens)
{
    int id[] = {FIRST, FIRST, FIRST + 3, FIRST + 7, 30, ID_END};
    Packed from = {1, 6, id, (int[]){0, 6}}, prefix = {1, 2, (int[]){40, FIRST}, (int[]){0, 2}};
    for (int which = 0; which < SETTINGS; which++)
        for (int forced = 0; forced < 2; forced++) {
            SearchConfig config = settings(which);
            Translations out;
            config.max_tokens = 2;
            config.no_repeat_ngram = 1;
            search(&out, &from, forced ? &prefix : NULL, &config, FIRST, 1);
            assert_int_equal(count_wrong(&out, &from), 0);
            for (int i = 0; i < out.sentence->count; i++)
                assert_int_equal(out.sentence->hypothesis[i].length, 5 + forced);
            translations_free(&out);
        }
}

/* A source without placeholders is translated as by a vocabulary that has none, and never with
 * them. */
TEST(sources_without_placeholders)
{
    int *id = malloc((size_t)source.rows * sizeof *id);
    for (int t = 0; t < source.rows; t++)
        id[t] = is_placeholder(source.id[t]) ? source.id[t] + PLACEHOLDERS : source.id[t];
    Packed from = {S, source.rows, id, source.start};
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
        Translations with, without;
        real bias[PLACEHOLDERS];
        search(&with, &from, NULL, &config, FIRST, 2);
        assert_int_equal(count_wrong(&with, &from), 0);
        translations_free(&with);
        memcpy(bias, model.weights.logits_bias + FIRST, sizeof bias);
        for (int i = 0; i < PLACEHOLDERS; i++) model.weights.logits_bias[FIRST + i] -= 1000;
        search(&with, &from, NULL, &config, FIRST, 2);
        search(&without, &from, NULL, &config, 0, 2);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < without.sentence[s].count; i++) {
                const Hypothesis *a = &with.sentence[s].hypothesis[i];
                const Hypothesis *b = &without.sentence[s].hypothesis[i];
                assert_true(same_ids(a, b) && a->log_probability == b->log_probability);
            }
        memcpy(model.weights.logits_bias + FIRST, bias, sizeof bias);
        translations_free(&with);
        translations_free(&without);
    }
    free(id);
}

/* The scores of one row: what is allowed follows from what is left. */
TEST(against_the_definitions)
{
    enum { C = 14, ROUNDS = 4000 };
    Rng rng = rng_stream(3, RNG_TEST, 0);
    static Predictor predictor;
    Transformer small = {.config = {.vocab = C + 1}};
    Ensemble ensemble = ensemble_of(&small);
    int only = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int scratch[12], parent[13], token[13], *written = token + 1, has[PLACEHOLDERS] = {0};
        int count = (int)rng_below(&rng, 12), left = 0;
        for (int i = 0; i < count; i++) written[i] = FIRST + (int)rng_below(&rng, C - FIRST);
        for (int i = 0; i <= count; i++) parent[i] = i - 1;
        SearchTask task = {.placeholder = FIRST};
        count_each(has, written, count);
        for (int i = 0; i < PLACEHOLDERS; i++) {
            int more = rng_below(&rng, 4) == 0;
            task.each[i] = has[i] + more;
            task.placeholders += task.each[i];
            left += more;
        }
        task.limit = count + 1 + left + (int)rng_below(&rng, 3);
        if (!left) task.limit++;  // at the limit </s> is forced before
        SearchConfig config = {.no_repeat_ngram = (int)rng_below(&rng, 2)};
        real before[C], z[C];
        for (int c = 0; c < C; c++) before[c] = z[c] = (real)rng_normal(&rng);
        const SearchBatch batch = {.ensemble = &ensemble, .config = &config};
        predictor = (Predictor){.batch = &batch, .written = scratch, .rows = 1};
        predictor.cache[0] =
            (Cache){.step = count + 1, .nodes = count + 1, .parent = parent, .token = token};
        choices_forbid(&(Scores){z, C, NULL}, &predictor, 0, &task);
        bool must = left && task.limit == count + 1 + left;
        for (int c = 0; c < C; c++) {
            bool repeated = false, allowed;
            for (int i = 0; i < count && config.no_repeat_ngram; i++)
                repeated |= written[i] == c;
            if (is_placeholder(c)) allowed = task.each[c - FIRST] > has[c - FIRST];
            else if (c == ID_END) allowed = !left;
            else allowed = c != ID_UNKNOWN && !repeated && !must;
            assert_true(z[c] == (allowed ? before[c] : -INFINITY));
        }
        only += must;
    }
    assert_true(only > ROUNDS / 5);
}

TEST(refusals)
{
    int id[MOST_LENGTH], often[] = {FIRST + 4, FIRST + 4}, none[] = {FIRST};
    for (int t = 0; t < MOST_LENGTH - 1; t++) id[t] = FIRST + 4;
    id[MOST_LENGTH - 1] = ID_END;
    Packed one = {1, 2, id + MOST_LENGTH - 2, (int[]){0, 2}};
    Packed full = {1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}};
    const struct {
        Packed from, prefix;
        const char *says;
    } WRONG[] = {
        {one, {1, 2, often, (int[]){0, 2}}, "has placeholder 5 2 times, but the sentence 1"},
        {one, {1, 1, none, (int[]){0, 1}}, "has placeholder 1 1 times, but the sentence 0"},
        {full,
         {1, 1, (int[]){40}, (int[]){0, 1}},
         "has 1 tokens, and a translation may have 1"},
    };
    for (size_t w = 0; w < sizeof WRONG / sizeof *WRONG; w++) {
        TranslatorInput input = {
            .source = WRONG[w].from, .prefix = &WRONG[w].prefix, .placeholder = FIRST};
        Translations out;
        assert_false(
            translator_run(&out, &alone, &input, &search_default, workers[1], NULL, &error));
        if (!strstr(error.text, WRONG[w].says)) fail_msg("said: %s", error.text);
    }
    Translations out;  // but without a beginning they fit
    search(&out, &full, NULL, &search_default, FIRST, 1);
    assert_int_equal(count_wrong(&out, &full), 0);
    translations_free(&out);
}

TEST_MAIN("placeholders", setup, teardown)
