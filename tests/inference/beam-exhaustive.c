/* Beam search against an enumeration of every sentence there is, and against the same algorithm written
 * the slow and obvious way. */
#include "tests/fixtures/batch-search.h"
#include "tests/fixtures/test.h"

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
            Packed alone = only(&source, s, (int[2]){0});
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
            Packed alone = only(&source, s, (int[2]){0});
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
    return run_all_tests("beam-exhaustive", NULL, NULL);
}
