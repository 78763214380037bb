/* Beam search against greedy search; its limits, and what it does where there is nothing to choose. */
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
        Packed alone = only(&source, s, (int[2]){0});
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

int main(void)
{
    return run_all_tests("beam", NULL, NULL);
}
