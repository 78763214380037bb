/* Beam search against greedy search, against an enumeration of all sentences, and against a
 * simple implementation; the limit, ties, <unk> and scores that are not finite. */
#include "tests/fixtures/batch-search.h"
#include "tests/fixtures/test.h"

/* The best hypotheses of both must be equal, bit for bit. */
static void same_best(int s)
{
    assert_true(same_ids(one.hypothesis[s], two.hypothesis[s]));
    assert_true(one.hypothesis[s]->score == two.hypothesis[s]->score);
}

TEST(beam_of_one_is_greedy)
{
    enum { V = 40, S = 50 };
    SearchConfig config = search_default;
    config.beam = 1;
    for (int v = 0; v < VARIANTS; v++) {
        int ended = 0;
        Transformer model = random_variant(&variants[v], V, MOST_LENGTH, 11);
        model.weights.logits_bias[ID_END] += 1;
        Packed source = random_sentences(S, 20, V, 12);
        assert_true(search(&one, &model, &source, &config, true));
        assert_true(search(&two, &model, &source, &config, false));
        for (int s = 0; s < S; s++) {
            assert_int_equal(one.sentence[s].count, 1);
            assert_int_equal(two.sentence[s].count, 1);
            same_best(s);
            int limit = search_limit(&config, &model.config, packed_length(&source, s), 0);
            ended += one.hypothesis[s]->length < limit;
        }
        if (v == 0) assert_in_range(ended, 10, S);
        free_sentences(source);
        transformer_free(&model);
    }
}

/* Early stopping keeps the best: with n_best = beam, the search cannot stop before all have
 * ended. */
TEST(stopping_early_keeps_the_best)
{
    enum { V = 40, S = 40 };
    static const double PENALTIES[] = {0, 1, 2};
    Transformer model = random_model(V, MOST_LENGTH, 41);
    model.weights.logits_bias[ID_END] += 1.5f;
    Packed source = random_sentences(S, 16, V, 42);
    for (int s = 0; s < S; s++) {
        Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
        SearchConfig config = {.beam = 2 + s % 5,
                               .n_best = 1,
                               .length_penalty = PENALTIES[s % 3],
                               .length_penalty_form = s / 3 % 2,
                               .max_length_ratio = 1};
        assert_true(search(&one, &model, &alone, &config, false));
        config.n_best = config.beam;
        assert_true(search(&two, &model, &alone, &config, false));
        same_best(0);
        assert_int_equal(two.sentence[0].count, config.beam);
        for (int i = 1; i < config.beam; i++) {
            assert_true(two.hypothesis[0][i].score <= two.hypothesis[0][i - 1].score);
            for (int j = 0; j < i; j++)
                assert_false(same_ids(&two.hypothesis[0][i], &two.hypothesis[0][j]));
        }
    }
    free_sentences(source);
    transformer_free(&model);
}

/* A model that hardly ever ends: the limit cuts its hypotheses, which are whole sentences
 * still. */
TEST(limit)
{
    enum { V = 12, S = 4 };
    static const struct {
        int beam, max_tokens;
        bool greedy;
    } cases[] = {{1, 0, false}, {1, 0, true},  {1, 7, false},
                 {1, 7, true},  {4, 0, false}, {4, 7, false}};
    Transformer model = random_model(V, 30, 51);
    model.weights.logits_bias[ID_END] = -50;
    Packed source = random_sentences(S, 6, V, 52);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int beam = cases[c].beam;
        SearchConfig config = {.beam = beam,
                               .n_best = beam,
                               .length_penalty = 1,
                               .max_length_ratio = 1,
                               .max_tokens = cases[c].max_tokens};
        assert_true(search(&one, &model, &source, &config, cases[c].greedy));
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
    assert_true(search(&one, &model, &source, &config, false));
    assert_int_equal(one.hypothesis[0]->length, 1);
    assert_true(fabs(one.hypothesis[0]->log_probability + log(V - 1)) < 1e-4);

    model.weights.logits_bias[ID_END] = -9;
    for (int greedy = 0; greedy < 2; greedy++) {
        config.beam = config.n_best = greedy ? 1 : 3;
        for (int unknown = 0; unknown < 2; unknown++) {
            config.unknown = unknown;
            assert_true(search(&one, &model, &source, &config, greedy));
            for (int t = 0; t < 9; t++)
                assert_int_equal(one.hypothesis[0]->id[t], unknown ? ID_UNKNOWN : 2);
            assert_int_equal(one.hypothesis[0]->id[9], ID_END);
        }
    }
    model.weights.logits_bias[7] = NAN;
    assert_false(search(&one, &model, &source, &config, true));
    assert_false(search(&one, &model, &source, &config, false));
    transformer_free(&model);
}

/* ---- enumeration of all sentences of at most 4 tokens over 3 pieces: 1 + 3 + 9 + 27 ---- */

enum { ALL = 40, ALL_V = 6, ALL_LENGTH = 4 };

static int enumerate(int id[ALL][ALL_LENGTH], int length[ALL])
{
    int count = 0;
    for (int n = 1; n <= ALL_LENGTH; n++) {
        int ways = n == 1 ? 1 : n == 2 ? 3 : n == 3 ? 9 : 27;
        for (int way = 0; way < ways; way++, count++) {
            length[count] = n;
            for (int t = 0, left = way; t < n - 1; t++, left /= 3) id[count][t] = 2 + left % 3;
            id[count][n - 1] = ID_END;
        }
    }
    return count;
}

/* log_probability [count] (=) of the targets, all for one source. */
static void log_probabilities(double *log_probability, const Transformer *model,
                              const Packed *source, const Packed *target)
{
    int S = target->sentences, n = source->rows, V = model->config.vocab;
    int D = model->config.d_model;
    int *id = malloc(sizeof *id * (size_t)(S * n)),
        *start = malloc(sizeof *start * ((size_t)S + 1));
    for (int i = 0; i < S * n; i++) id[i] = source->id[i % n];
    for (int s = 0; s <= S; s++) start[s] = s * n;
    Arena arena;
    Packed sources = {S, S * n, id, start};
    const real *output = forced_pass(&arena, model, &sources, target);
    real *z = malloc(sizeof *z * (size_t)V);
    for (int s = 0; s < S; s++) {
        log_probability[s] = 0;
        for (int row = target->start[s]; row < target->start[s + 1]; row++) {
            double sum = 0;
            logits_forward(z, output + row * D, &model->weights, 1, V, D);
            for (int c = 0; c < V - 1; c++) sum += exp(z[c]);
            log_probability[s] += z[target->id[row]] - log(sum);
        }
    }
    free(z), free(id), free(start);
    arena_free(&arena);
}

/* All hypotheses of `one` against the sentences id [ALL], length [ALL] with their
 * log-probabilities. */
static void check_all(int id[ALL][ALL_LENGTH], const int *length, const double *log_probability,
                      const SearchConfig *config)
{
    bool seen[ALL] = {false}, wu = config->length_penalty_form == LENGTH_PENALTY_WU;
    double best = -INFINITY;
    for (int i = 0; i < ALL; i++) {
        const Hypothesis *hypothesis = &one.hypothesis[0][i];
        int which = 0;
        while (which < ALL &&
               !same_ids(hypothesis, &(Hypothesis){id[which], length[which], 0, 0}))
            which++;
        assert_true(which < ALL && !seen[which]);
        seen[which] = true;
        double score =
            log_probability[which] /
            pow(wu ? (5.0 + length[which]) / 6 : length[which], config->length_penalty);
        assert_true(fabs(hypothesis->log_probability - log_probability[which]) < 1e-4);
        assert_true(fabs(hypothesis->score - score) < 1e-4);
        if (i > 0) assert_true(hypothesis->score <= hypothesis[-1].score);
        best = fmax(best, score);
    }
    assert_true(fabs(one.hypothesis[0]->score - best) < 1e-4);
}

TEST(exhaustive)
{
    static const double PENALTIES[] = {0, 0.6, 1, 2};
    int id[ALL][ALL_LENGTH], length[ALL], packed[ALL * ALL_LENGTH], start[ALL + 1];
    assert_int_equal(enumerate(id, length), ALL);
    Packed target = {ALL, 0, packed, start};
    for (int s = 0; s < ALL; s++) {
        start[s] = target.rows;
        for (int t = 0; t < length[s]; t++) packed[target.rows++] = id[s][t];
    }
    start[ALL] = target.rows;

    for (uint64_t seed = 0; seed < VARIANTS; seed++) {
        Transformer model = random_variant(&variants[seed], ALL_V, ALL_LENGTH, 100 + seed);
        Packed source = random_sentences(2, ALL_LENGTH, ALL_V, 200 + seed);
        for (int s = 0; s < 2; s++) {
            Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
            double log_probability[ALL];
            log_probabilities(log_probability, &model, &alone, &target);
            for (int p = 0; p < 8; p++) {
                SearchConfig config = {.beam = MAX_BEAM,
                                       .n_best = ALL,
                                       .length_penalty = PENALTIES[p % 4],
                                       .length_penalty_form =
                                           p < 4 ? LENGTH_PENALTY_POWER : LENGTH_PENALTY_WU,
                                       .max_length_ratio = 3};
                assert_true(search(&one, &model, &alone, &config, false));
                config.n_best = 1;  // stops early
                assert_true(search(&two, &model, &alone, &config, false));
                assert_int_equal(one.sentence[0].count, ALL);
                assert_int_equal(two.sentence[0].count, 1);
                same_best(0);
                check_all(id, length, log_probability, &config);
            }
        }
        free_sentences(source);
        transformer_free(&model);
    }
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
            logits_forward(z, X, &model->weights, 1, V, D);
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
        int places = config->beam - count;
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

TEST(same_as_simple_search)
{
    enum { V = 150, S = 5 };  // V: more than one block of logits
    Transformer model = random_model(V, 12, 31);
    model.weights.logits_bias[ID_END] += 2;
    Packed source = random_sentences(S, 10, V, 32);
    for (int beam = 1; beam <= 5; beam++) {
        SearchConfig config = {
            .beam = beam, .n_best = beam, .length_penalty = 0.8, .max_length_ratio = 2};
        assert_true(search(&one, &model, &source, &config, false));
        for (int s = 0; s < S; s++) {
            Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
            SimpleHypothesis expected[MAX_BEAM];
            assert_int_equal(simple_search(expected, &model, &alone, &config),
                             one.sentence[s].count);
            assert_int_equal(one.sentence[s].count, beam);
            for (int i = 0; i < beam; i++) {
                Hypothesis same = {expected[i].id, expected[i].length, 0, 0};
                assert_true(same_ids(&one.hypothesis[s][i], &same));
                assert_true(fabs(one.hypothesis[s][i].score - expected[i].score) < 1e-4);
            }
        }
    }
    free_sentences(source);
    transformer_free(&model);
}

int main(void)
{
    return run_all_tests("beam", NULL, NULL);
}
