/* Beam search against greedy search, against an enumeration of all sentences, and against a simple
 * implementation; the limit, ties, <unk> and scores that are not finite. */
#include "tests/fixtures/batch-search.h"
#include "tests/fixtures/test.h"

/* Returns how many hypotheses end below the limit. */
static int check_beam_of_one(const Variant *variant)
{
    enum { V = 40, S = 50 };
    SearchConfig config = search_default;
    config.beam = 1;
    Transformer model = random_variant(variant, V, MOST_LENGTH, 11);
    model.weights.logits_bias[ID_END] += 1;
    Packed source = random_sentences(S, 20, V, 12);
    assert_true(search(&one, &model, &source, &config, true));
    assert_true(search(&two, &model, &source, &config, false));
    int tokens = 0, ended = 0;
    for (int s = 0; s < S; s++) {
        assert_int_equal(one.sentence[s].count, 1);
        assert_int_equal(two.sentence[s].count, 1);
        assert_true(same_ids(one.hypothesis[s], two.hypothesis[s]));
        assert_true(one.hypothesis[s]->score == two.hypothesis[s]->score);
        int n = packed_length(&source, s), length = one.hypothesis[s]->length;
        ended += length < search_limit(&config, &model.config, n, 0);
        tokens += length;
    }
    print_message("%s: %d sentences, %d tokens, %d below the limit\n", variant->name, S, tokens,
                  ended);
    free_sentences(source);
    transformer_free(&model);
    return ended;
}

TEST(beam_of_one_is_greedy)
{
    assert_in_range(check_beam_of_one(&variants[0]), 10, 50);
    for (int i = 1; i < VARIANTS; i++) check_beam_of_one(&variants[i]);
}

/* Stopping early must not change the best one: alone in its batch a sentence goes through the same
 * steps with n_best = beam, which has to wait for all. */
TEST(stopping_early_keeps_the_best)
{
    enum { V = 40, S = 40 };
    static const double PENALTIES[] = {0, 1, 2};
    Transformer model = random_model(V, MOST_LENGTH, 41);
    model.weights.logits_bias[ID_END] += 1.5f;
    Packed source = random_sentences(S, 16, V, 42);
    for (int s = 0; s < S; s++) {
        Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
        SearchConfig config = {
            .beam = 2 + s % 5, .length_penalty = PENALTIES[s % 3], .max_length_ratio = 1};
        config.length_penalty_form = s / 3 % 2;
        config.n_best = 1;
        assert_true(search(&one, &model, &alone, &config, false));
        config.n_best = config.beam;
        assert_true(search(&two, &model, &alone, &config, false));
        assert_true(same_ids(one.hypothesis[0], two.hypothesis[0]));
        assert_true(one.hypothesis[0]->score == two.hypothesis[0]->score);
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

/* A model that all but never ends is cut at the limit, and gives whole sentences still. */
TEST(limit)
{
    enum { V = 12, S = 4 };
    Transformer model = random_model(V, 30, 51);
    model.weights.logits_bias[ID_END] = -50;
    Packed source = random_sentences(S, 6, V, 52);
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = {
            .beam = beam, .n_best = beam, .length_penalty = 1, .max_length_ratio = 1};
        for (int variant = 0; variant < 4; variant++) {
            int greedy = variant % 2;
            config.max_tokens = variant < 2 ? 0 : 7;
            if (greedy && beam > 1) continue;
            assert_true(search(&one, &model, &source, &config, greedy));
            for (int s = 0; s < S; s++) {
                int n = packed_length(&source, s);
                int most = variant >= 2 ? 7 : n + 20 < 30 ? n + 20 : 30;
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

/* ---- every sentence of at most 4 tokens over 3 pieces: 1 + 3 + 9 + 27 ---- */

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

TEST(exhaustive)
{
    static const double PENALTIES[] = {0, 0.6, 1, 2};
    int id[ALL][ALL_LENGTH], length[ALL], packed[ALL * ALL_LENGTH], start[ALL + 1],
        compared = 0;
    int count = enumerate(id, length);
    assert_int_equal(count, ALL);
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
            double log_probability[ALL], score[ALL];
            log_probabilities(log_probability, &model, &alone, &target);
            for (int p = 0; p < 8; p++) {
                double alpha = PENALTIES[p % 4];
                bool wu = p >= 4;
                SearchConfig config = {.beam = MAX_BEAM,
                                       .n_best = ALL,
                                       .length_penalty = alpha,
                                       .length_penalty_form =
                                           wu ? LENGTH_PENALTY_WU : LENGTH_PENALTY_POWER,
                                       .max_length_ratio = 3};
                assert_true(search(&one, &model, &alone, &config, false));
                config.n_best = 1;  // stops early
                assert_true(search(&two, &model, &alone, &config, false));
                assert_int_equal(one.sentence[0].count, ALL);
                assert_int_equal(two.sentence[0].count, 1);
                assert_true(same_ids(one.hypothesis[0], two.hypothesis[0]));

                bool seen[ALL] = {false};
                double best = -INFINITY;
                for (int i = 0; i < ALL; i++) {
                    score[i] =
                        log_probability[i] / pow(wu ? (5.0 + length[i]) / 6 : length[i], alpha);
                    if (score[i] > best) best = score[i];
                }
                for (int i = 0; i < ALL; i++) {
                    const Hypothesis *hypothesis = &one.hypothesis[0][i];
                    int which = 0;
                    while (which < ALL &&
                           !same_ids(hypothesis, &(Hypothesis){id[which], length[which], 0, 0}))
                        which++;
                    assert_true(which < ALL && !seen[which]);
                    seen[which] = true;
                    assert_true(fabs(hypothesis->log_probability - log_probability[which]) <
                                1e-4);
                    assert_true(fabs(hypothesis->score - score[which]) < 1e-4);
                    if (i > 0) assert_true(hypothesis->score <= hypothesis[-1].score);
                    compared++;
                }
                assert_true(fabs(one.hypothesis[0]->score - best) < 1e-4);
            }
        }
        free_sentences(source);
        transformer_free(&model);
    }
    print_message("%d hypotheses\n", compared);
}

/* ---- the slow and obvious way: every prefix through the whole network, and a full sort ---- */

typedef struct Slow {
    int id[MOST_LENGTH], length;
    double log_probability, score;
} Slow;

static int by_probability(const void *a, const void *b)
{
    const Slow *x = a, *y = b;
    return (x->log_probability < y->log_probability) -
           (x->log_probability > y->log_probability);
}

static int by_score(const void *a, const void *b)
{
    const Slow *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

static int slow_search(Slow *ended, const Transformer *model, const Packed *source,
                       const SearchConfig *config)
{
    int V = model->config.vocab, D = model->config.d_model, live = 1, count = 0;
    int limit = search_limit(config, &model->config, source->rows, 0);
    Slow prefix[MAX_BEAM] = {{.length = 0}}, *candidate = malloc(sizeof(Slow) * MAX_BEAM * 64);
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
                Slow *next = &candidate[candidates++];
                *next = prefix[i];
                next->id[step - 1] = c;
                next->length = step;
                next->log_probability += z[c] - log(sum);
                next->score = next->log_probability / pow(step, config->length_penalty);
            }
        }
        qsort(candidate, (size_t)candidates, sizeof *candidate, by_probability);
        int room = config->beam - count;
        live = 0;
        for (int i = 0; i < candidates && i < room; i++) {
            if (candidate[i].id[step - 1] == ID_END) ended[count++] = candidate[i];
            else prefix[live++] = candidate[i];
        }
    }
    qsort(ended, (size_t)count, sizeof *ended, by_score);
    free(candidate), free(z);
    return count;
}

TEST(same_as_slow_search)
{
    enum { V = 150, S = 5 };  // V: more than one block of logits
    int compared = 0;
    Transformer model = random_model(V, 12, 31);
    model.weights.logits_bias[ID_END] += 2;
    Packed source = random_sentences(S, 10, V, 32);
    for (int beam = 1; beam <= 5; beam++) {
        SearchConfig config = {
            .beam = beam, .n_best = beam, .length_penalty = 0.8, .max_length_ratio = 2};
        assert_true(search(&one, &model, &source, &config, false));
        for (int s = 0; s < S; s++) {
            Packed alone = packed_slice((int[2]){0}, &source, s, s + 1);
            Slow expected[MAX_BEAM];
            assert_int_equal(slow_search(expected, &model, &alone, &config),
                             one.sentence[s].count);
            assert_int_equal(one.sentence[s].count, beam);
            for (int i = 0; i < beam; i++, compared++) {
                Hypothesis same = {expected[i].id, expected[i].length, 0, 0};
                assert_true(same_ids(&one.hypothesis[s][i], &same));
                assert_true(fabs(one.hypothesis[s][i].score - expected[i].score) < 1e-4);
            }
        }
    }
    print_message("%d hypotheses\n", compared);
    free_sentences(source);
    transformer_free(&model);
}

int main(void)
{
    return run_all_tests("beam", NULL, NULL);
}
