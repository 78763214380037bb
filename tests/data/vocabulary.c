/* vocabulary.c -- models from elsewhere cut text here as they did there; one vocabulary or two. */
#include "data/vocabulary.h"
#include "base/file.h"
#include "base/packed.h"
#include "base/rng.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/temporary.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/usual-model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const LINE[] = {
    "jane visite l'école.",
    "jane aime-t-elle la musique ?",
    "paul n'aime pas l'hiver, mais marie l'aime beaucoup.",
    "l'été, les enfants jouent dans le jardin !",
    "does jane like music?",
    "the school is (almost) always open, isn't it?",
    "paul doesn't like winter, but marie likes it a lot.",
    "in summer the children play in the garden!",
};
enum { LINES = sizeof LINE / sizeof *LINE };

static const char *const TEXT[] = {
    "jane visite l'école.",
    "",
    "  the   garden ",
    "☃ unknown 猫猫 z",
    "Jane <s> likes </s> <unk>",
    "marie<sep>paul <sep> abcabc",
    "①②",
};
enum { TEXTS = sizeof TEXT / sizeof *TEXT };

/* "▁a|b|<unk>" by our tokenizer. */
static char *our_pieces(const Tokenizer *tokenizer, const char *text)
{
    Ids ids = {0};
    Error error;
    static char joined[1000];
    *joined = 0;
    assert_true(tokenizer_encode(tokenizer, &ids, text, strlen(text), &error));
    for (size_t i = 0; i < ids.count; i++)
        strcat(strcat(joined, i ? "|" : ""), tokenizer_piece(tokenizer, ids.id[i]));
    free(ids.id);
    return joined;
}

static Tokenizer *adopt(const unsigned char *model, size_t size)
{
    unsigned char *adopted = NULL;
    size_t adopted_size;
    Error error = {""};
    if (!tokenizer_adopt(&adopted, &adopted_size, model, size, &error))
        fail_msg("%s", error.text);
    Tokenizer *tokenizer = tokenizer_load(adopted, adopted_size, &error);
    if (!tokenizer) fail_msg("%s", error.text);
    free(adopted);
    return tokenizer;
}

static const char *const TYPES[] = {"unigram", "bpe", "word", "char"};

/* Whatever the layout elsewhere, ours cuts every text into the same pieces. */
static void test_models_from_elsewhere(void **state)
{
    (void)state;
    static const char *const LAYOUT[] = {
        "",                                              // <unk> 0, <s> 1, </s> 2
        "--unk_id=2 --eos_id=1 --pad_id=0 --bos_id=-1",  // T5's
        "--bos_id=-1 --eos_id=-1",                       // no </s>
        "--unk_id=3 --bos_id=0 --pad_id=1 --eos_id=2 --unk_piece=[UNK] --control_symbols=<2de>",
        "--user_defined_symbols=<sep>,abc",
        "--byte_fallback=true",
        "--treat_whitespace_as_suffix=true",
        "--split_by_whitespace=false --remove_extra_whitespaces=false",
    };
    enum { LAYOUTS = sizeof LAYOUT / sizeof *LAYOUT };
    for (int type = 0; type < 4; type++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            char options[500];
            snprintf(options, sizeof options,
                     "--model_type=%s --vocab_size=%d --hard_vocab_limit=false %s", TYPES[type],
                     layout == 5 ? 350 : 80, LAYOUT[layout]);
            size_t size;
            unsigned char *model = usual_model_learn(&size, LINE, LINES, options);
            if (!model) fail_msg("the library learns nothing with %s", options);
            Tokenizer *tokenizer = adopt(model, size);
            assert_string_equal(tokenizer_type_name(tokenizer_type(tokenizer)), TYPES[type]);
            assert_string_equal(tokenizer_piece(tokenizer, ID_END), "</s>");
            for (int i = 0; i < TEXTS + LINES; i++) {
                const char *text = i < TEXTS ? TEXT[i] : LINE[i - TEXTS];
                char *expected = usual_model_pieces(model, size, text);
                if (strcmp(our_pieces(tokenizer, text), expected))
                    fail_msg("%s: '%s' is %s, not %s", options, text,
                             our_pieces(tokenizer, text), expected);
                free(expected);
            }
            tokenizer_free(tokenizer);
            free(model);
        }
    }
}

/* Decoding gives text back, and <unk> looks as everywhere. */
static void test_adopted_models_decode(void **state)
{
    (void)state;
    size_t size;
    unsigned char *model =
        usual_model_learn(&size, LINE, LINES, "--vocab_size=80 --hard_vocab_limit=false");
    Tokenizer *tokenizer = adopt(model, size);
    Ids ids = {0};
    Error error;
    char *text;
    assert_true(tokenizer_encode(tokenizer, &ids, "the garden ☃ is open", 22, &error));
    assert_true(tokenizer_decode(tokenizer, &text, ids.id, ids.count, &error));
    assert_string_equal(text, "the garden ⁇ is open");
    free(text);
    free(ids.id);
    tokenizer_free(tokenizer);
    free(model);
}

/* Our own models are adopted as they are, but for the order, which is the same. */
static void test_adopting_twice(void **state)
{
    (void)state;
    size_t size, first_size, second_size;
    unsigned char *model = usual_model_learn(&size, LINE, LINES,
                                             "--vocab_size=80 --model_type=bpe "
                                             "--hard_vocab_limit=false"),
                  *first, *second;
    Error error;
    assert_true(tokenizer_adopt(&first, &first_size, model, size, &error));
    assert_true(tokenizer_adopt(&second, &second_size, first, first_size, &error));
    Tokenizer *a = tokenizer_load(first, first_size, &error);
    Tokenizer *b = tokenizer_load(second, second_size, &error);
    assert_int_equal(tokenizer_vocab_size(a), tokenizer_vocab_size(b));
    for (int id = 0; id < tokenizer_vocab_size(a); id++)
        assert_string_equal(tokenizer_piece(a, id), tokenizer_piece(b, id));
    tokenizer_free(a), tokenizer_free(b);
    free(model), free(first), free(second);
}

/* Damaged in any way, a model is refused or works. */
static void test_hostile_models(void **state)
{
    (void)state;
    size_t size, adopted_size;
    unsigned char *adopted, *copy;
    unsigned char *model = usual_model_learn(
        &size, LINE, LINES,
        "--vocab_size=80 --hard_vocab_limit=false --normalization_rule_name=identity");
    Error error = {""};
    copy = malloc(size);
    int refused = 0;
    for (int round = 0; round < 300; round++) {
        Rng rng = rng_stream(31, RNG_TEST, (uint64_t)round);
        size_t count = round % 3 ? size : rng_below(&rng, (uint32_t)size);
        memcpy(copy, model, size);
        for (uint32_t blows = 1 + rng_below(&rng, 4); count && blows > 0; blows--)
            copy[rng_below(&rng, (uint32_t)count)] = (unsigned char)rng_word(&rng);
        if (!tokenizer_adopt(&adopted, &adopted_size, copy, count, &error)) {
            assert_true(*error.text && !strchr(error.text, '\n'));
            refused++;
            continue;
        }
        free(adopted);
    }
    assert_in_range(refused, 30, 299);
    free(copy);
    free(model);

    static SmallModel
        many;  // more user-defined pieces inside one another than the library bears
    for (int nested = 60; nested <= 70; nested += 10) {
        char text[100] = "";
        small_model_begin(&many, TOKENIZER_BPE, false);
        for (int i = 0; i < nested; i++)
            small_model_piece(&many, strcat(text, "a"), 0, PIECE_USER_DEFINED);
        bool good = tokenizer_adopt(&adopted, &adopted_size, many.bytes, many.size, &error);
        assert_int_equal(good, nested <= 64);
        if (good) free(adopted);
        else assert_non_null(strstr(error.text, "user-defined"));
    }
}

static void write_corpus(CorpusText *text, char path[2][TEMPORARY_SIZE])
{
    Error error = {""};
    for (int side = 0; side < SIDES; side++) {
        FILE *out = fdopen(temporary_file(path[side], &error), "w");
        for (int i = 0; i < LINES / 2; i++)
            fprintf(out, "%s\n", LINE[side == SOURCE ? i + LINES / 2 : i]);
        fclose(out);
    }
    const char *const source[] = {path[0]}, *const target[] = {path[1]};
    CorpusFiles files = {.sources = 1, .targets = 1, .source = source, .target = target};
    CorpusReport report;
    if (!corpus_read(text, &report, &files, &error)) fail_msg("%s", error.text);
    for (int side = 0; side < SIDES; side++) unlink(path[side]);
}

static void test_one_or_two(void **state)
{
    (void)state;
    CorpusText text;
    char path[2][TEMPORARY_SIZE];
    Error error = {""};
    write_corpus(&text, path);
    TokenizerSettings source = {.type = TOKENIZER_CHAR, .vocab_size = 100},
                      target = {.type = TOKENIZER_BPE, .vocab_size = 60};
    const TokenizerSettings *const two[SIDES] = {&source, &target};
    const TokenizerSettings *const one[SIDES] = {NULL, &source};
    Vocabulary joint, separate, copy;
    assert_true(vocabulary_learn(&joint, &text, one, &error) &&
                vocabulary_load(&joint, &error));
    if (!vocabulary_learn(&separate, &text, two, &error)) fail_msg("%s", error.text);
    assert_true(vocabulary_load(&separate, &error));
    assert_true(vocabulary_is_joint(&joint));
    assert_ptr_equal(joint.tokenizer[SOURCE], joint.tokenizer[TARGET]);
    assert_false(vocabulary_is_joint(&separate));
    assert_int_equal(tokenizer_type(separate.tokenizer[SOURCE]), TOKENIZER_CHAR);
    assert_int_equal(tokenizer_type(separate.tokenizer[TARGET]), TOKENIZER_BPE);
    assert_string_equal(our_pieces(joint.tokenizer[SOURCE], "éa"), "▁|é|a");
    assert_string_equal(our_pieces(separate.tokenizer[SOURCE], "éa"), "▁|<unk>|a");  // English
    assert_string_equal(our_pieces(separate.tokenizer[TARGET], "wé"), "▁|<unk>|é");  // French

    size_t size[SIDES];
    const void *const model[SIDES] = {vocabulary_model(&separate, SOURCE, &size[SOURCE]),
                                      vocabulary_model(&separate, TARGET, &size[TARGET])};
    assert_true(vocabulary_copy(&copy, model, size, &error) && vocabulary_load(&copy, &error));
    assert_int_equal(tokenizer_vocab_size(copy.tokenizer[SOURCE]),
                     tokenizer_vocab_size(separate.tokenizer[SOURCE]));
    assert_ptr_equal(vocabulary_model(&joint, SOURCE, &size[0]),
                     vocabulary_model(&joint, TARGET, &size[1]));
    vocabulary_free(&joint), vocabulary_free(&separate), vocabulary_free(&copy);

    target.vocab_size = 10;
    assert_false(vocabulary_learn(&separate, &text, two, &error));
    assert_non_null(strstr(error.text, "target side: a vocabulary of 10 is too small"));
    corpus_text_free(&text);
}

static void test_files(void **state)
{
    (void)state;
    size_t size;
    unsigned char *model =
        usual_model_learn(&size, LINE, LINES, "--vocab_size=80 --hard_vocab_limit=false");
    Error error = {""};
    char good[TEMPORARY_SIZE], bad[TEMPORARY_SIZE];
    close(temporary_file(good, &error)), close(temporary_file(bad, &error));
    assert_true(file_replace(good, model, size, &error));
    assert_true(file_replace(bad, "this is text\n", 13, &error));
    Vocabulary v;
    assert_true(vocabulary_read(&v, (const char *const[SIDES]){NULL, good}, &error) &&
                vocabulary_load(&v, &error));
    assert_true(vocabulary_is_joint(&v));
    vocabulary_free(&v);
    assert_true(vocabulary_read(&v, (const char *const[SIDES]){good, good}, &error) &&
                vocabulary_load(&v, &error));
    assert_false(vocabulary_is_joint(&v));
    vocabulary_free(&v);
    assert_false(vocabulary_read(&v, (const char *const[SIDES]){good, bad}, &error));
    assert_non_null(strstr(error.text, bad));
    assert_non_null(strstr(error.text, "is no SentencePiece model that can be used"));
    unlink(bad);
    assert_false(vocabulary_read(&v, (const char *const[SIDES]){NULL, bad}, &error));
    assert_non_null(strstr(error.text, bad));
    unlink(good);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_from_elsewhere),
        cmocka_unit_test(test_adopted_models_decode),
        cmocka_unit_test(test_adopting_twice),
        cmocka_unit_test(test_hostile_models),
        cmocka_unit_test(test_one_or_two),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
