/* tokenizer-hostile.c -- learning says what cannot work, and bad models are refused or work. */
#include "data/text.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/tokenizer-texts.h"

/* Settings and texts that cannot work, and a word of the sentence that says so. */
static void test_what_cannot_work(void **state)
{
    (void)state;
    static const char *const BLANK[] = {"", "   ", "\t"};
    static const char *const RESERVED[] = {"\xe2\x96\x85", "a\xe2\x96\x85"};
    char *longest = malloc(5001);
    memset(longest, 'a', 5000), longest[5000] = 0;
    const char *const LONG[] = {longest};
    const struct {
        const char *const *text;
        size_t count;
        TokenizerSettings settings;
        const char *wanted;
    } CASE[] = {
        {TEXT, TEXTS, {.vocab_size = 20}, "vocabulary size of 44 or more"},
        {TEXT,
         TEXTS,
         {.type = TOKENIZER_BPE, .vocab_size = 20},
         "vocabulary size of 44 or more"},
        {TEXT, TEXTS, {.vocab_size = 270, .byte_fallback = true}, "vocabulary size of 300 or"},
        {TEXT, TEXTS, {.vocab_size = 200, .byte_fallback = true}, "it takes 260 or more"},
        {TEXT, TEXTS, {.type = TOKENIZER_WORD, .vocab_size = 2}, "it takes 4 or more"},
        {TEXT, TEXTS, {.vocab_size = -5}, "it takes 4 or more"},
        {TEXT, TEXTS, {.vocab_size = 99, .coverage = 0.5}, "0.98 to 1, not 0.5"},
        {TEXT, TEXTS, {.vocab_size = 99, .normalization = "nfx"}, "no normalisation 'nfx'"},
        {TEXT, 0, {.vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {.vocab_size = 99}, "no text to learn"},
        {BLANK, 3, {.type = TOKENIZER_BPE, .vocab_size = 99}, ""},
        {BLANK, 3, {.type = TOKENIZER_WORD, .vocab_size = 99}, ""},
        {BLANK, 3, {.type = TOKENIZER_CHAR, .vocab_size = 99}, ""},
        {RESERVED, 2, {.vocab_size = 99}, "no text to learn"},
        {LONG, 1, {.vocab_size = 99}, "no text to learn"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Sentences sentences = sentences_of(CASE[i].text, CASE[i].count);
        unsigned char *model = NULL;
        size_t size = 0;
        Error error = {{0}};
        bool good = tokenizer_train(&model, &size, &sentences, &CASE[i].settings, &error);
        if (good && !*CASE[i].wanted) {  // the library may make a model without pieces
            assert_null(tokenizer_load(model, size, &error));
        } else {
            assert_false(good);
        }
        if (!strstr(error.text, CASE[i].wanted)) fail_msg("case %zu: %s", i, error.text);
        assert_null(strchr(error.text, '\n'));
        free(good ? model : NULL);
    }
    free(longest);
    assert_string_equal(tokenizer_type_name(TOKENIZER_CHAR), "char");
}

/* The same bytes whatever else the process holds: its heap, its descriptors. */
static void test_learning_is_deterministic(void **state)
{
    (void)state;
    Sentences sentences = sentences_of((const char *const *)many, MANY);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 200};
        unsigned char *first, *second;
        size_t first_size, second_size;
        Error error;
        assert_true(tokenizer_train(&first, &first_size, &sentences, &settings, &error));
        void *holes[2000];
        int spare = dup(0);
        for (int i = 0; i < 2000; i++) holes[i] = malloc(16 + (size_t)(i * 37 % 400));
        for (int i = 0; i < 2000; i += 2) free(holes[i]);
        assert_true(tokenizer_train(&second, &second_size, &sentences, &settings, &error));
        for (int i = 1; i < 2000; i += 2) free(holes[i]);
        close(spare);
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        free(first), free(second);
    }
}

/* Learns, then damages the model: an error or a tokenizer that works, never a crash. */
static void test_hostile_models(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, TEXTS);
    Error error;
    assert_null(tokenizer_load("", 0, &error));
    assert_null(tokenizer_load("garbage", 7, &error));
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 90};
        unsigned char *model;
        size_t size;
        assert_true(tokenizer_train(&model, &size, &sentences, &settings, &error));
        Rng rng = rng_stream(3, RNG_TEST, (uint64_t)type);
        unsigned char *copy = malloc(size);
        int refused = 0;
        for (int round = 0; round < 80; round++) {
            memcpy(copy, model, size);
            size_t count = size;
            /* Half of the blows fall on the small fields at the front, half anywhere. */
            if (round % 4 == 0) count = rng_below(&rng, (uint32_t)size);
            for (uint32_t blows = 1 + rng_below(&rng, 4); count > 0 && blows > 0; blows--) {
                uint32_t span = round % 2 && count > 2000 ? 2000 : (uint32_t)count;
                copy[rng_below(&rng, span)] = (unsigned char)rng_word(&rng);
            }
            Tokenizer *tokenizer = tokenizer_load(copy, count, &error);
            refused += !tokenizer;
            if (!tokenizer) continue;
            Ids ids = {0};
            for (int i = 0; i < TEXTS; i++) {
                tokenizer_encode(tokenizer, &ids, TEXT[i], strlen(TEXT[i]), &error);
            }
            char *text;
            if (tokenizer_decode(tokenizer, &text, ids.id, ids.count, &error)) {
                assert_true(text_is_utf8(text, strlen(text), NULL));
                free(text);
            }
            free(ids.id);
            tokenizer_free(tokenizer);
        }
        assert_in_range(refused, 20, 79);
        free(copy);
        free(model);
    }
}

/* Models made by hand around the normalisation table: bytes, and a word of the sentence. */
static bool accepts_table(const uint32_t *unit, uint32_t units, const char *strings,
                          size_t size, Error *error)
{
    static unsigned char table[1 << 15];
    static SmallModel spec, model;
    uint32_t bytes = 4 * units;
    memcpy(table, &bytes, 4);
    memcpy(table + 4, unit, bytes);
    memcpy(table + 4 + bytes, strings, size);
    spec.size = 0;
    small_model_put(&spec, 2, table, 4 + bytes + size);
    small_model_begin(&model, TOKENIZER_UNIGRAM, false);
    small_model_piece(&model, "▁a", -1, PIECE_NORMAL);
    small_model_put(&model, 3, spec.bytes, spec.size);
    Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, error);
    if (!tokenizer) return false;
    Ids ids = encode(tokenizer, "aaaa a bbbb");
    free(ids.id);
    tokenizer_free(tokenizer);
    return true;
}

static void test_hostile_tables(void **state)
{
    (void)state;
    enum { LEAF = 1 << 8, WIDE = 1 << 9 };
    Error error;
    uint32_t unit[512] = {0};
    for (uint32_t i = 0; i < 512; i++) unit[i] = 0x1ff & ~i & 0xff;  // no edge anywhere
    /* Unit 0 leads to state 256; its edge 'a' is unit 256 ^ 'a', which leads to state 1. */
    unit[0] = 256u << 10;
    unit[256 ^ 'a'] = (uint32_t)(256 ^ 'a' ^ 1) << 10 | LEAF | 'a';
    unit[1] = 0x80000000u;  // the leaf: string 0
    assert_true(accepts_table(unit, 512, "b", 2, &error));

    assert_false(accepts_table(unit, 300, "b", 2, &error));   // state 256 sticks out
    assert_false(accepts_table(unit, 512, "bc", 2, &error));  // no NUL at the end
    assert_false(accepts_table(unit, 512, "\xff", 2, &error));
    unit[1] = 0x80000000u | 1;  // inside of string 0
    assert_false(accepts_table(unit, 512, "b", 2, &error));
    unit[1] = 0x80000000u | 1000000;
    assert_false(accepts_table(unit, 512, "b", 2, &error));
    assert_non_null(strstr(error.text, "normalisation table is broken"));
    unit[1] = 0x80000000u;
    unit[0] = 4000u << 10;  // far outside
    assert_false(accepts_table(unit, 512, "b", 2, &error));
    unit[0] = 256u << 10 | WIDE;
    assert_false(accepts_table(unit, 512, "b", 2, &error));
    unit[0] = 256u << 10;
    unit[256 ^ 'a'] = 'a' << 10 | LEAF | 'a';  // back to state 256: no end of matches
    unit[256] = 0x80000000u;
    assert_false(accepts_table(unit, 512, "b", 2, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(test_what_cannot_work),
        WATCHED(test_learning_is_deterministic),
        WATCHED(test_hostile_models),
        WATCHED(test_hostile_tables),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
