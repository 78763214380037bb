/* vocabulary.c -- models from elsewhere give the same tokens here; one vocabulary or two. */
#include "data/vocabulary.h"
#include "base/packed.h"
#include "tests/fixtures/learned-tokenizer.h"
#include "tests/fixtures/sentencepiece-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static Error error;

/* "▁a|b|<unk>" by a tokenizer; unknown words beside each other are one, as the library has them. */
static char *pieces_of(const Tokenizer *tokenizer, const char *text)
{
    static char joined[1 << 19], *end;
    Ids ids = encode(tokenizer, text);
    *(end = joined) = 0;
    for (size_t i = 0; i < ids.count; i++) {
        if (i && ids.id[i] == ID_UNKNOWN && ids.id[i - 1] == ID_UNKNOWN) continue;
        end = stpcpy(stpcpy(end, i ? "|" : ""), tokenizer_piece(tokenizer, ids.id[i]));
    }
    free(ids.id);
    return joined;
}

static Tokenizer *adopt(const unsigned char *model, size_t size)
{
    unsigned char *adopted = NULL;
    size_t adopted_size;
    if (!tokenizer_adopt(&adopted, &adopted_size, model, size, NULL, 0, &error))
        fail_msg("%s", error.text);
    Tokenizer *tokenizer = tokenizer_load(adopted, adopted_size, &error);
    if (!tokenizer) fail_msg("%s", error.text);
    free(adopted);
    return tokenizer;
}

/* A model of TEXT by the library, with further options. */
static unsigned char *model_of(size_t *size, const char *options)
{
    char all[600];
    snprintf(all, sizeof all, "--vocab_size=%d --hard_vocab_limit=false %s",
             strstr(options, "byte_fallback") ? 350 : 80, options);
    unsigned char *model = sentencepiece_learn(size, TEXT, TEXTS, all);
    if (!model) fail_msg("the library learns nothing with %s", all);
    return model;
}

static const char *const LAYOUT[] = {
    "",                                              // <unk> 0, <s> 1, </s> 2
    "--unk_id=2 --eos_id=1 --pad_id=0 --bos_id=-1",  // as in T5
    "--bos_id=-1 --eos_id=-1",                       // no </s>
    "--unk_id=3 --bos_id=0 --pad_id=1 --eos_id=2 --unk_piece=[UNK] --control_symbols=<2de>",
    "--user_defined_symbols=<sep>,abc",
    "--user_defined_symbols=<ph1>,<ph2>,<ph3>,<ph4>,<ph5>,<ph6>,<ph7>,<ph8>",
    "--byte_fallback=true",
    "--treat_whitespace_as_suffix=true",
    "--split_by_whitespace=false --remove_extra_whitespaces=false",
};

/* `count` copies of unit and a word; free() it. */
static char *repeated(const char *unit, int count)
{
    char *text = malloc(strlen(unit) * (size_t)count + 20), *end = text;
    for (int i = 0; i < count; i++) end = stpcpy(end, unit);
    strcpy(end, " garden");
    return text;
}

/* The places of a text's tokens increase, and a token is at its place. */
static void check_places(const Tokenizer *tokenizer, const char *text)
{
    Ids ids = {0}, begin = {0};
    assert_true(tokenizer_encode_begins(tokenizer, &ids, &begin, text, strlen(text), &error));
    assert_int_equal(begin.count, ids.count);
    for (size_t i = 0; i < ids.count; i++) {
        const char *label = tokenizer_label(tokenizer, ids.id[i]), *at = text + begin.id[i];
        assert_true(begin.id[i] >= (i ? begin.id[i - 1] : 0));
        if (*at == ' ' && tokenizer_begins_word(tokenizer, ids.id[i])) at += strspn(at, " ");
        if (ids.id[i] != ID_UNKNOWN && *label >= 'a' && *label <= 'z')
            assert_memory_equal(label, at, strlen(label));
    }
    free(ids.id), free(begin.id);
}

/* With every layout, an adopted model has the library's pieces for every text, of any length. */
TEST(models_from_elsewhere)
{
    static const char *const SHORT[] = {"",
                                        "  the   garden ",
                                        "☃ unknown 猫猫 z",
                                        "Jane <s> likes </s> <unk>",
                                        "marie<sep>paul <sep> abcabc",
                                        "①②"};
    static const struct {
        const char *unit;
        int count;
    } LONG[] = {{"the school is always open, isn't it?  ", 500},
                {"☃", 9000},
                {"猫 a  ", 3000},
                {"\xcc\x81", 9000},
                {" ", 9000}};
    enum { SHORTS = sizeof SHORT / sizeof *SHORT };
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        for (size_t layout = 0; layout < sizeof LAYOUT / sizeof *LAYOUT; layout++) {
            char options[500];
            size_t size;
            snprintf(options, sizeof options, "--model_type=%s %s", tokenizer_type_names[type],
                     LAYOUT[layout]);
            unsigned char *model = model_of(&size, options);
            Tokenizer *tokenizer = adopt(model, size);
            assert_int_equal(tokenizer_type(tokenizer), type);
            assert_string_equal(tokenizer_piece(tokenizer, ID_END), "</s>");
            for (int i = 0; i < SHORTS + TEXTS; i++) {
                const char *text = i < SHORTS ? SHORT[i] : TEXT[i - SHORTS];
                char *expected = sentencepiece_pieces(model, size, text);
                if (strcmp(pieces_of(tokenizer, text), expected))
                    fail_msg("%s: '%s' is %s, not %s", options, text,
                             pieces_of(tokenizer, text), expected);
                free(expected);
            }
            for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
                char *text = repeated(LONG[i].unit, LONG[i].count);
                char *expected = sentencepiece_pieces(model, size, text);
                if (strcmp(pieces_of(tokenizer, text), expected))
                    fail_msg("%s: %d times '%s'", options, LONG[i].count, LONG[i].unit);
                if (!strstr(LAYOUT[layout], "suffix")) check_places(tokenizer, text);
                free(expected);
                free(text);
            }
            tokenizer_free(tokenizer);
            free(model);
        }
    }
}

/* Of an unknown word of any length as much is read as takes little time. */
TEST(long_unknown_words)
{
    size_t size;
    unsigned char *model = model_of(&size, "--model_type=unigram");
    Tokenizer *tokenizer = adopt(model, size);
    char *text = repeated("\xcc\x81", 1 << 20);
    clock_t start = clock();
    Ids ids = encode(tokenizer, text), cut = {0};
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 10) fail_msg("2 MB took %.1f s", seconds);
    assert_in_range(ids.count, 2, 9);
    strcpy(text + TOKENIZER_MAX_TEXT - 9, " garden ☃ garden");
    size_t length = tokenizer_length(text, strlen(text));
    assert_int_equal(length, TOKENIZER_MAX_TEXT - 1);  // the snowman has three bytes
    ids.count = 0;
    assert_true(tokenizer_encode(tokenizer, &ids, text, strlen(text), &error));
    assert_true(tokenizer_encode(tokenizer, &cut, text, length, &error));
    assert_int_equal(ids.count, cut.count);
    assert_memory_equal(ids.id, cut.id, cut.count * sizeof *cut.id);
    free(ids.id), free(cut.id), free(text), free(model);
    tokenizer_free(tokenizer);
}

/* An adopted model decodes <unk> as all do, also if its pieces were in order before, and is the
 * same when it is adopted again. */
static void check_adopted(const char *options)
{
    size_t size, once_size, twice_size;
    unsigned char *model = model_of(&size, options), *once, *twice;
    char *text;
    assert_true(tokenizer_adopt(&once, &once_size, model, size, NULL, 0, &error));
    assert_true(tokenizer_adopt(&twice, &twice_size, once, once_size, NULL, 0, &error));
    assert_int_equal(once_size, twice_size);
    assert_memory_equal(once, twice, once_size);
    Tokenizer *a = adopt(model, size), *b = tokenizer_load(twice, twice_size, &error);
    assert_int_equal(tokenizer_vocab_size(a), tokenizer_vocab_size(b));
    for (int id = 0; id < tokenizer_vocab_size(a); id++)
        assert_string_equal(tokenizer_piece(a, id), tokenizer_piece(b, id));
    Ids ids = encode(a, "the garden ☃ is open");
    assert_true(tokenizer_decode(a, &text, ids.id, ids.count, &error));
    assert_string_equal(text, "the garden ⁇ is open");
    free(text), free(ids.id);
    tokenizer_free(a), tokenizer_free(b);
    free(model), free(once), free(twice);
}

TEST(adopted_models)
{
    check_adopted("--model_type=bpe");
    check_adopted("--model_type=bpe --eos_id=0 --unk_id=1 --bos_id=-1");
}

static bool adopts(const void *model, size_t size, Error *why)
{
    unsigned char *adopted;
    size_t adopted_size;
    if (!tokenizer_adopt(&adopted, &adopted_size, model, size, NULL, 0, why)) return false;
    free(adopted);
    return true;
}

TEST(hostile_models)
{
    size_t size;
    unsigned char *model = model_of(&size, "--normalization_rule_name=identity");
    assert_in_range(count_refused(model, size, 300, adopts), 30, 299);
    free(model);

    static SmallModel nested;  // the library's limit is 64 pieces that begin with one another
    for (int pieces = 60; pieces <= 70; pieces += 10) {
        char text[100] = "";
        small_model_begin(&nested, TOKENIZER_BPE, false);
        for (int i = 0; i < pieces; i++)
            small_model_piece(&nested, strcat(text, "a"), 0, PIECE_USER_DEFINED);
        assert_int_equal(adopts(nested.bytes, nested.size, &error), pieces <= 64);
        if (pieces > 64) assert_non_null(strstr(error.text, "user-defined"));
    }
}

/* A value that an enum of the model does not have is refused. */
TEST(unknown_values)
{
    static const BytesCase CASE[] = {
        {BYTES("\x12\2\x18\0"), "unknown type"},  // trainer_spec, model_type: 1 to 4
        {BYTES("\x12\2\x18\5"), "unknown type"},
        {BYTES("\x12\6\x18\x81\x80\x80\x80\x10"), "unknown type"},  // 2^32 + 1
        {BYTES("\x0a\5\x0a\1x\x18\0"), " is broken"},               // a piece's type: 1 to 6
        {BYTES("\x0a\5\x0a\1x\x18\7"), " is broken"},
    };
    size_t size;
    unsigned char *model = model_of(&size, "");
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        size_t length = size + CASE[i].count;
        char *changed = malloc(length);
        memcpy(mempcpy(changed, model, size), CASE[i].bytes, CASE[i].count);
        assert_false(adopts(changed, length, &error));
        assert_non_null(strstr(error.text, CASE[i].wanted));
        assert_null(tokenizer_load(changed, length, &error));
        assert_non_null(strstr(error.text, CASE[i].wanted));
        free(changed);
    }
    free(model);
}

/* Source is the English half of TEXT, target the French one. */
static void read_text(CorpusText *text)
{
    *text = (CorpusText){0};
    for (int i = 0; i < TEXTS / 2; i++) {
        const char *line[SIDES] = {TEXT[i + TEXTS / 2], TEXT[i]};
        const size_t length[SIDES] = {strlen(line[SOURCE]), strlen(line[TARGET])};
        assert_true(corpus_add(text, line, length, (CorpusLine){0}, &error));
    }
}

TEST(one_or_two)
{
    CorpusText text;
    read_text(&text);
    TokenizerSettings settings = {.type = TOKENIZER_CHAR, .vocab_size = 100};
    Vocabulary joint, separate, copy;
    if (!vocabulary_learn(&joint, &text, &settings, true, &error) ||
        !vocabulary_load(&joint, &error) ||
        !vocabulary_learn(&separate, &text, &settings, false, &error) ||
        !vocabulary_load(&separate, &error))
        fail_msg("%s", error.text);
    assert_true(vocabulary_is_joint(&joint));
    assert_ptr_equal(joint.tokenizer[SOURCE], joint.tokenizer[TARGET]);
    assert_false(vocabulary_is_joint(&separate));
    assert_string_equal(pieces_of(joint.tokenizer[SOURCE], "éa"), "▁|é|a");
    assert_string_equal(pieces_of(separate.tokenizer[SOURCE], "éa"), "▁|<unk>|a");  // English
    assert_string_equal(pieces_of(separate.tokenizer[TARGET], "wé"), "▁|<unk>|é");  // French

    size_t size[SIDES];
    const void *const model[SIDES] = {vocabulary_model(&separate, SOURCE, &size[SOURCE]),
                                      vocabulary_model(&separate, TARGET, &size[TARGET])};
    assert_true(vocabulary_copy(&copy, model, size, &error) && vocabulary_load(&copy, &error));
    assert_int_equal(tokenizer_vocab_size(copy.tokenizer[SOURCE]),
                     tokenizer_vocab_size(separate.tokenizer[SOURCE]));
    assert_ptr_equal(vocabulary_model(&joint, SOURCE, &size[0]),
                     vocabulary_model(&joint, TARGET, &size[1]));
    vocabulary_free(&joint), vocabulary_free(&separate), vocabulary_free(&copy);

    settings = (TokenizerSettings){.type = TOKENIZER_BPE, .vocab_size = 10};
    assert_false(vocabulary_learn(&separate, &text, &settings, false, &error));
    assert_non_null(strstr(error.text, "source side: a vocabulary of 10 is too small"));
    vocabulary_free(&separate);
    corpus_text_free(&text);
}

/* New pieces come after the old ones, which keep their ids, and each is a token of the text. */
TEST(extended_models)
{
    static const char *const NEW[] = {"żółw żółw naïve garden",   "żółw garden gardening",
                                      "naïve żółw and gardening", "a żółw, a żółw",
                                      "naïve naïve gardening",    "gardening gardening żółw"};
    for (int type = TOKENIZER_UNIGRAM; type <= TOKENIZER_BPE; type++)
        for (int bytes = 0; bytes < 2; bytes++) {
            size_t size;
            TokenizerSettings settings = {.type = (TokenizerType)type,
                                          .vocab_size = bytes ? 350 : 80,
                                          .byte_fallback = bytes};
            CorpusText text = text_of(sentences_of(NEW, 6));
            const Sentences lines = corpus_sentences(&text, SOURCE);
            unsigned char *model = learn_model(&size, sentences_of(TEXT, TEXTS), settings);
            Tokenizer *old = tokenizer_load(model, size, &error);
            TokenizerExtension done;
            if (!tokenizer_extend(&model, &size, &done, &lines, 1, 12, &error))
                fail_msg("%s", error.text);
            Tokenizer *extended = tokenizer_load(model, size, &error);
            int V = tokenizer_vocab_size(old), now = tokenizer_vocab_size(extended);
            assert_in_range(done.pieces, done.characters + 1, 12);
            assert_in_range(done.characters, 4, 5);  // ż ó ł ï w
            assert_int_equal(now, V + done.pieces);
            for (int id = 0; id < V - 1; id++)
                assert_string_equal(tokenizer_piece(extended, id), tokenizer_piece(old, id));
            assert_string_equal(tokenizer_piece(extended, now - 1), "<pad>");
            size_t tokens = 0, parts = 0;
            for (int i = 0; i < 6; i++) {
                Ids ids = encode(extended, NEW[i]);
                tokens += ids.count;
                for (size_t k = 0; k < ids.count; k++)
                    assert_int_not_equal(ids.id[k], ID_UNKNOWN);
                free(ids.id);
            }
            assert_int_equal(tokens, done.after);
            for (size_t k = 0; k < done.parts.count; k++) {
                assert_in_range(done.parts.id[k], 0, V - 2);
                parts += done.parts.id[k] == ID_END;
            }
            assert_int_equal(parts, done.pieces);
            tokenizer_free(old), tokenizer_free(extended);
            free(done.parts.id), free(model);
            corpus_text_free(&text);
        }
}

/* Adopted models keep their placeholders: in their order, or in another program's. */
TEST(adopted_placeholders)
{
    static const char *const PIECE[] = {"</s>",  "<unk>", "▁",     "<ph1>", "<ph2>", "<ph3>",
                                        "<ph4>", "<ph5>", "<ph6>", "<ph7>", "<ph8>", "<pad>"};
    size_t size, adopted_size;
    TokenizerSettings settings = {.vocab_size = 80, .placeholders = true};
    unsigned char *model = learn_model(&size, sentences_of(TEXT, TEXTS), settings), *adopted;
    Tokenizer *same = adopt(model, size);
    assert_int_equal(tokenizer_placeholder(same), 2);
    if (!tokenizer_adopt(&adopted, &adopted_size, model, size, PIECE, 12, &error))
        fail_msg("%s", error.text);
    Tokenizer *other = tokenizer_load(adopted, adopted_size, &error);
    assert_int_equal(tokenizer_placeholder(other), 3);
    assert_string_equal(pieces_of(other, "<ph8>"), "▁|<ph8>");
    tokenizer_free(same), tokenizer_free(other);
    free(model), free(adopted);
}

/* Two vocabularies have placeholders if both have the same. */
TEST(placeholders_of_both_sides)
{
    CorpusText text;
    read_text(&text);
    for (int joint = 0; joint < 2; joint++)
        for (int reserved = 0; reserved < 2; reserved++) {
            TokenizerSettings settings = {.vocab_size = 70, .placeholders = reserved};
            Vocabulary vocabulary;
            if (!vocabulary_learn(&vocabulary, &text, &settings, joint, &error) ||
                !vocabulary_load(&vocabulary, &error))
                fail_msg("%s", error.text);
            assert_int_equal(vocabulary_placeholder(&vocabulary), reserved ? 2 : 0);
            vocabulary_free(&vocabulary);
        }
    corpus_text_free(&text);
}

TEST_MAIN("vocabulary", NULL, NULL)
