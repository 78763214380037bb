/* config.c -- the shape of a network as options: what does not fit, what a configuration of an
 * older run means, and that a run goes on only with the network that it has. */
#include "commands/train/settings.h"
#include "tests/fixtures/variants.h"

static Error error;
static const ModelConfig good = {NETWORK(20, 8, 2, 8, 1, 1, 8)};

TEST(what_does_not_fit)
{
    static const struct {
        int heads, vocab, source_vocab, tying;
        const char *error;  // NULL: it fits
    } cases[] = {
        {2, 20, 0, TYING_ALL, NULL},
        {3, 20, 0, TYING_ALL, "`heads` 3 does not divide `d-model` 8"},
        {2, 3, 0, TYING_ALL, "a vocabulary of 3 tokens cannot be used"},
        {2, 20, 3, TYING_ALL, "a vocabulary of 3 tokens cannot be used"},
        {2, 20, 20, TYING_ALL, NULL},
        {2, 20, 30, TYING_ALL,
         "`tying` all needs one vocabulary for both languages, and these have 30 source and 20 "
         "target tokens: give `tying` decoder or none"},
        {2, 20, 30, TYING_DECODER, NULL},
        {2, 20, 30, TYING_NONE, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ModelConfig c = good;
        error.text[0] = '\0';
        c.heads = cases[i].heads, c.vocab = cases[i].vocab, c.tying = cases[i].tying;
        c.source_vocab = cases[i].source_vocab;
        assert_int_equal(config_source_vocab(&c), c.source_vocab ? c.source_vocab : c.vocab);
        assert_int_equal(config_check(&c, &error), !cases[i].error);
        if (cases[i].error && !strstr(error.text, cases[i].error)) fail_msg("%s", error.text);
    }
}

/* A configuration from before there were these options is that of the network there was. */
static const char older[] =
    "{\"data\":{},\"model\":{\"d_model\":128,\"heads\":4,\"ffn\":256,\"encoder_layers\":4,"
    "\"decoder_layers\":4,\"max_length\":256,\"score\":\"scaled-dot\",\"output_bias\":true},"
    "\"training\":{}}";

TEST(older_configurations)
{
    ModelConfig config = {0};
    const OptionGroup group = {"The model", "model", model_options, model_option_count,
                               &config};
    if (!options_from_json(&group, 1, older, "older", true, &error)) fail_msg("%s", error.text);
    assert_int_equal(config.attention_score, SCORE_SCALED_DOT);
    assert_int_equal(config.projections, PROJECTIONS_SEPARATE);
    assert_int_equal(config.activation, ACTIVATION_RELU);
    assert_int_equal(config.norm, NORM_POST);
    assert_int_equal(config.positions, POSITIONS_SINUSOIDAL);
    assert_int_equal(config.tying, TYING_ALL);
}

/* What is no option is not compared with what MarianMT has (inference/marian.c). */
TEST(fields_are_options)
{
    unsigned char known[sizeof(ModelConfig)] = {0};
    const size_t others[] = {offsetof(ModelConfig, vocab), offsetof(ModelConfig, source_vocab),
                             offsetof(ModelConfig, precision)};
    for (int i = 0; i < 3; i++) known[others[i]] = 1;
    for (int i = 0; i < model_option_count; i++)
        if (!(model_options[i].flags & OPTION_REMOVED)) known[model_options[i].offset] = 1;
    for (size_t i = 0; i < sizeof known; i += sizeof(int)) assert_true(known[i]);
}

/* Such a run goes on, and not with another network. */
TEST(another_network)
{
    static const struct {
        const char *option, *value;
    } others[] = {{"activation", "gelu"},      {"norm", "pre"},
                  {"positions", "learned"},    {"positions", "none"},
                  {"tying", "decoder"},        {"tying", "none"},
                  {"activation", "swish"},     {"attention-score", "cosine"},
                  {"projections", "qk-shared"}};
    static Settings settings;
    for (size_t i = 0; i <= sizeof others / sizeof *others; i++) {
        char expected[128];
        settings_defaults(&settings);
        bool same = i == sizeof others / sizeof *others;
        if (!same)
            assert_true(options_set(settings.groups, SETTINGS_GROUPS, others[i].option,
                                    others[i].value, &error));
        assert_int_equal(settings_agree(&settings, older, "older", &error), same);
        if (!same) {
            snprintf(expected, sizeof expected, "started with another --%s", others[i].option);
            assert_non_null(strstr(error.text, expected));
        }
        settings_free(&settings);
    }
}

TEST(presets_set_options)
{
    static Settings settings;
    for (int p = 0; p < PRESETS; p++) {
        settings_defaults(&settings);
        if (!preset_apply(&settings, p, &error))
            fail_msg("%s: %s", preset_names[p], error.text);
        settings_free(&settings);
    }
    settings_documented(&settings);
    assert_true(settings.training.learning_rate == 0.005 && settings.training.patience == 10);
    settings_free(&settings);
}

TEST_MAIN("config", NULL, NULL)
