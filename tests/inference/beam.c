/* Beam search against a simple implementation, also with a beam for all sentences; the limit, ties
 * and <unk>. */
#include "tests/fixtures/hypotheses.h"
#include "tests/fixtures/random-model.h"

enum { MOST_LENGTH = 64 };

/* The results of one batch. */
typedef struct Found {
    Translation sentence[64];
    Hypothesis hypothesis[64][MAX_BEAM];
    int id[64][MAX_BEAM][MOST_LENGTH];
    double each[64][MAX_BEAM][MOST_LENGTH];
} Found;

static bool search(Found *found, const Transformer *model, const Packed *source,
                   const SearchConfig *config)
{
    for (int s = 0; s < source->sentences; s++) {
        found->sentence[s] = (Translation){.hypothesis = found->hypothesis[s]};
        for (int i = 0; i < MAX_BEAM; i++)
            found->hypothesis[s][i] =
                (Hypothesis){.id = found->id[s][i], .each = found->each[s][i]};
    }
    Arena arena = {0};
    Ensemble alone = ensemble_of(model);
    SearchTask task[64];
    for (int s = 0; s < source->sentences; s++)
        task[s] = (SearchTask){
            .limit = search_limit(config, &model->config, packed_length(source, s), 0),
            .found = &found->sentence[s]};
    const SearchBatch batch = {&alone, config, *source, task};
    bool fine = beam_search(&batch, &arena, NULL);
    arena_free(&arena);
    return fine;
}

static Found one, two;

/* The best hypotheses of both must be equal, bit for bit. */
static void same_best(int s)
{
    assert_true(same_ids(one.hypothesis[s], two.hypothesis[s]));
    assert_true(one.hypothesis[s]->score == two.hypothesis[s]->score);
}

/* A model that hardly ever ends: the limit cuts its hypotheses, which are whole sentences
 * still. */
TEST(limit)
{
    enum { V = 12, S = 4 };
    Transformer model = random_model(V, 30, 51);
    model.weights.logits_bias[ID_END] = -50;
    Packed source = random_sentences(S, 6, V, 52);
    for (int c = 0; c < 4; c++) {
        int beam = c < 2 ? 1 : 4;
        SearchConfig config = {.beam = beam,
                               .n_best = beam,
                               .length_penalty = 1,
                               .max_length_ratio = 1,
                               .max_tokens = c % 2 ? 7 : 0};
        assert_true(search(&one, &model, &source, &config));
        for (int s = 0; s < S; s++) {
            int n = packed_length(&source, s), most = n + 20 < 30 ? n + 20 : 30;
            if (config.max_tokens) most = config.max_tokens;
            assert_int_equal(search_limit(&config, &model.config, n, 0), most);
            assert_int_equal(one.sentence[s].count, beam);
            for (int i = 0; i < beam; i++) {
                const Hypothesis *hypothesis = &one.hypothesis[s][i];
                assert_int_equal(hypothesis->length, most);
                assert_int_equal(hypothesis->id[most - 1], ID_END);
                assert_true(hypothesis->log_probability < -40);
                for (int t = 0; t < most - 1; t++)
                    assert_in_range(hypothesis->id[t], ID_UNKNOWN + 1, V - 2);
            }
        }
    }
    free_sentences(source);
    transformer_free(&model);
}

/* All tokens equally probable: the lowest id that may be produced is taken. */
TEST(ties_and_unknown)
{
    enum { V = 200 };
    Transformer model = random_model(V, 10, 61);
    memset(model.block, 0, model.params.size * sizeof *model.block);
    Packed source = {1, 1, (int[]){ID_END}, (int[]){0, 1}};
    SearchConfig config = search_default;
    config.n_best = 4;
    assert_true(search(&one, &model, &source, &config));
    assert_int_equal(one.hypothesis[0]->length, 1);
    assert_true(fabs(one.hypothesis[0]->log_probability + log(V - 1)) < 1e-4);

    model.weights.logits_bias[ID_END] = -9;
    for (int beam = 1; beam <= 3; beam += 2) {
        config.beam = config.n_best = beam;
        for (int unknown = 0; unknown < 2; unknown++) {
            config.unknown = unknown;
            assert_true(search(&one, &model, &source, &config));
            for (int t = 0; t < 9; t++)
                assert_int_equal(one.hypothesis[0]->id[t], unknown ? ID_UNKNOWN : 2);
            assert_int_equal(one.hypothesis[0]->id[9], ID_END);
        }
    }
    transformer_free(&model);
}

/* ---- a simple implementation: each prefix through the whole network, and a full sort ---- */

typedef struct SimpleHypothesis {
    int id[MOST_LENGTH], length;
    double log_probability, score;
} SimpleHypothesis;

static int by_probability(const void *a, const void *b)
{
    const SimpleHypothesis *x = a, *y = b;
    return (x->log_probability < y->log_probability) -
           (x->log_probability > y->log_probability);
}

static int by_score(const void *a, const void *b)
{
    const SimpleHypothesis *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

static int simple_search(SimpleHypothesis *finished, const Transformer *model,
                         const Packed *source, const SearchConfig *config)
{
    int V = model->config.vocab, D = model->config.d_model, live = 1, count = 0;
    int limit = search_limit(config, &model->config, source->rows, 0);
    SimpleHypothesis prefix[MAX_BEAM] = {{.length = 0}},
                     *candidate = malloc(sizeof(SimpleHypothesis) * MAX_BEAM * 64);
    real *z = malloc(sizeof *z * (size_t)V);
    for (int step = 1; live && step <= limit; step++) {
        int candidates = 0;
        for (int i = 0; i < live; i++) {
            prefix[i].id[step - 1] = ID_END;
            Packed target = {1, step, prefix[i].id, (int[]){0, step}};
            Arena arena;
            const real *X = forced_pass(&arena, model, source, &target) + (step - 1) * D;
            matrix_multiply(z, X, &model->weights.output, model->weights.logits_bias, 1, V - 1,
                            D);
            arena_free(&arena);
            double sum = 0;
            for (int c = 0; c < V - 1; c++) sum += exp(z[c]);
            for (int c = 0; c < V - 1; c++) {
                if (c == ID_UNKNOWN || (step == limit && c != ID_END)) continue;
                SimpleHypothesis *next = &candidate[candidates++];
                *next = prefix[i];
                next->id[step - 1] = c;
                next->length = step;
                next->log_probability += z[c] - log(sum);
                next->score = next->log_probability / pow(step, config->length_penalty);
            }
        }
        qsort(candidate, (size_t)candidates, sizeof *candidate, by_probability);
        int places = at_most(config->beam + (config->beam > 1) - count, config->beam);
        live = 0;
        for (int i = 0; i < candidates && i < places; i++) {
            if (candidate[i].id[step - 1] == ID_END) finished[count++] = candidate[i];
            else prefix[live++] = candidate[i];
        }
    }
    qsort(finished, (size_t)count, sizeof *finished, by_score);
    free(candidate), free(z);
    return count;
}

/* All hypotheses of `one`, of one sentence, against the simple search. Returns their number. */
static int check_simple(const Transformer *model, const Packed *source,
                        const SearchConfig *config)
{
    static SimpleHypothesis expected[MAX_BEAM + 1];
    assert_true(search(&one, model, source, config));
    int count = simple_search(expected, model, source, config);
    assert_int_equal(one.sentence[0].count, count < config->n_best ? count : config->n_best);
    for (int i = 0; i < one.sentence[0].count; i++) {
        const Hypothesis *hypothesis = &one.hypothesis[0][i];
        assert_true(same_ids(
            hypothesis, &(Hypothesis){.id = expected[i].id, .length = expected[i].length}));
        assert_true(fabs(hypothesis->score - expected[i].score) < 1e-4);
        assert_true(fabs(hypothesis->log_probability - expected[i].log_probability) < 1e-4);
    }
    return one.sentence[0].count;
}

TEST(same_as_simple_search)
{
    enum { V = 150, S = 5 };  // V: more than one block of logits
    Transformer model = random_model(V, 12, 31);
    model.weights.logits_bias[ID_END] += 2;
    Packed source = random_sentences(S, 10, V, 32);
    for (int beam = 1; beam <= 5; beam++)
        for (int s = 0; s < S; s++) {
            Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
            SearchConfig config = {
                .beam = beam, .n_best = beam, .length_penalty = 0.8, .max_length_ratio = 2};
            assert_int_equal(check_simple(&model, &alone, &config), beam);
            config.n_best = 1;  // then the search stops early
            assert_true(search(&two, &model, &alone, &config));
            same_best(0);
        }
    free_sentences(source);
    transformer_free(&model);
}

/* With a beam for all 1 + 3 + 9 + 27 sentences of at most 4 tokens over 3 pieces, both find all
 * of them; and the search that stops early finds the best of them. */
TEST(exhaustive)
{
    enum { V = 6, LENGTH = 4, ALL = 40 };
    static const double PENALTIES[] = {0, 0.6, 1, 2};
    for (uint64_t seed = 0; seed < VARIANTS; seed++) {
        Transformer model = random_variant(&variants[seed], V, LENGTH, 100 + seed);
        Packed source = random_sentences(2, LENGTH, V, 200 + seed);
        for (int test = 0; test < 8; test++) {
            int s = test / 4;
            Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
            SearchConfig config = {.beam = MAX_BEAM,
                                   .n_best = ALL,
                                   .length_penalty = PENALTIES[test % 4],
                                   .max_length_ratio = 3};
            assert_int_equal(check_simple(&model, &alone, &config), ALL);
            config.n_best = 1;
            assert_true(search(&two, &model, &alone, &config));
            assert_int_equal(two.sentence[0].count, 1);
            same_best(0);
        }
        free_sentences(source);
        transformer_free(&model);
    }
}

TEST_MAIN("beam", NULL, NULL)
