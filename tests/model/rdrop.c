/* rdrop.c -- updates with R-Drop: reproducible bit for bit, and what the second copy
 * changes. */
#include "tests/fixtures/small-training.h"
#include "tests/fixtures/test.h"

/* The same bits with any number of threads and after resuming; another cut into micro-batches
 * changes rounding only. */
TEST(test_r_drop_changes_no_bit)
{
    TrainingConfig c = config();
    Result one, many, first, fine, coarse;
    c.r_drop = 5;
    train(&one, &c, 1, 1, UPDATES, NULL);
    train(&many, &c, 3, 1, UPDATES, NULL);
    assert_same_bits(&one, &many);
    free_result(&many);
    train(&first, &c, 2, 1, 2, NULL);
    train(&many, &c, 2, 3, UPDATES, &first);
    assert_same_bits(&one, &many);
    train(&fine, &c, 1, 1, 1, NULL);
    c.micro_tokens = 100000;
    train(&coarse, &c, 1, 1, 1, NULL);
    assert_near(fine.last.loss.objective, coarse.last.loss.objective, 1e-5);
    assert_near(fine.last.gradient_norm, coarse.last.gradient_norm, 1e-5);
    Result *all[] = {&one, &many, &first, &fine, &coarse};
    for (int i = 0; i < 5; i++) free_result(all[i]);
}

/* Without dropout both copies are the same, so an update equals one without R-Drop. With
 * dropout the divergence adds to the objective but not to nll. */
TEST(test_r_drop_without_dropout)
{
    TrainingConfig c = config(), still = config();
    Result plain, twice, apart, weightless;
    still.dropout = still.attention_dropout = still.activation_dropout = 0;
    train(&plain, &still, 1, 1, 1, NULL);
    still.r_drop = 5;
    train(&twice, &still, 1, 1, 1, NULL);
    assert_near(plain.last.loss.nll, twice.last.loss.nll, 1e-5);
    assert_near(plain.last.loss.objective, twice.last.loss.objective, 1e-5);
    assert_near(plain.last.gradient_norm, twice.last.gradient_norm, 1e-4);
    assert_int_equal(plain.last.loss.tokens, twice.last.loss.tokens);
    assert_int_equal(plain.last.tokens, twice.last.tokens);
    assert_true(2 * plain.last.flops == twice.last.flops);
    c.r_drop = 1e-9;
    train(&weightless, &c, 1, 1, 1, NULL);
    c.r_drop = 5;
    train(&apart, &c, 1, 1, 1, NULL);
    assert_true(apart.last.loss.nll == weightless.last.loss.nll);
    assert_true(apart.last.loss.objective > weightless.last.loss.objective + 0.1);
    Result *all[] = {&plain, &twice, &apart, &weightless};
    for (int i = 0; i < 4; i++) free_result(all[i]);
}

TEST_MAIN("rdrop", NULL, NULL)
