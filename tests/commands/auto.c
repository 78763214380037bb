/* auto.c -- what ./train chooses by itself from the number of pairs, and from the updates that fit into --time. */
#include "commands/train/settings.h"

#include "tests/fixtures/test.h"

#include <string.h>

/* tokens: the size of the vocabulary, or NULL. */
static void read_options(Settings *settings, char *tokens)
{
    static char *argv[7] = {"train",  "--train-tsv", "pairs.tsv",
                            "--time", "7m",          "--vocab-size"};
    Error error;
    argv[6] = tokens;
    assert_true(settings_read(settings, tokens ? 7 : 5, argv, &error));
}

/* What is chosen for so many pairs. */
static void choose_for(Settings *settings, int pairs, char *tokens)
{
    static const char *const line[SIDES] = {
        "where does the number one sleep and the other one go",
        "où dort le numéro un et où vont les autres numéros"};
    const size_t length[SIDES] = {strlen(line[SOURCE]), strlen(line[TARGET])};
    CorpusText text = {0};
    Error error;
    read_options(settings, tokens);
    for (int i = 0; i < pairs; i++)
        assert_true(corpus_add(&text, line, length, (CorpusLine){0}, &error));
    assert_true(auto_choose(settings, &text, 1, &error));
    corpus_text_free(&text);
}

TEST(the_network_is_wider_from_forty_thousand_pairs_on)
{
    for (int more = 0; more < 2; more++) {
        Settings settings;
        choose_for(&settings, 40000 + more, NULL);
        assert_int_equal(settings.model.d_model, more ? 256 : 128);
        settings_free(&settings);
    }
}

TEST(bytes_get_no_tokens_of_a_small_vocabulary_that_is_given)
{
    char *const tokens[] = {"2999", NULL};
    for (int i = 0; i < 2; i++) {
        Settings settings;
        choose_for(&settings, 5000, tokens[i]);
        assert_int_equal(settings.data.learn.byte_fallback, i);
        settings_free(&settings);
    }
}

/* The weight of R-Drop after so many updates were found to fit, one number after the other. */
static double r_drop_after(const double fit[], int count, Settings *settings)
{
    static const CorpusReport train = {.kept = 29000, .tokens = {430000, 440000}},
                              valid = {.kept = 1000, .tokens = {15000, 15000}};
    Error error;
    read_options(settings, NULL);
    settings->words = 650e3, settings->pairs = (double)train.kept;
    settings->training.batch_tokens = 4096;
    settings->training.r_drop = 4;
    for (int i = 0; i < count; i++)
        assert_true(auto_lengthen(settings, &train, &valid, fit[i], &error));
    return settings->training.r_drop;
}

TEST(r_drop_stays_out_if_half_of_the_updates_fit_only_without_it)
{
    Settings settings;
    assert_true(r_drop_after((double[]){0}, 1, &settings) == 4);
    double all = settings.training.max_updates;
    settings_free(&settings);
    assert_true(r_drop_after((double[]){0, 0.6 * all}, 2, &settings) == 4);
    settings_free(&settings);
    assert_true(r_drop_after((double[]){0, 0.4 * all}, 2, &settings) == 0);
    settings_free(&settings);
    assert_true(r_drop_after((double[]){0, 0.4 * all, 0.8 * all}, 3, &settings) == 0);
    assert_true(settings.training.max_updates == (int)(0.8 * all));
    settings_free(&settings);
}

TEST_MAIN("auto", NULL, NULL)
