/* tokenizer.c -- every type learns, gives text back, whatever the text and the threads. */
#include "base/packed.h"
#include "data/text.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/tokenizer-texts.h"

#include <pthread.h>

static void assert_decodes(const Tokenizer *tokenizer, const char *text, const char *wanted)
{
    Ids ids = encode(tokenizer, text);
    char *back;
    Error error;
    assert_true(tokenizer_decode(tokenizer, &back, ids.id, ids.count, &error));
    assert_string_equal(back, wanted);
    free(back);
    free(ids.id);
}

/* The labels of a text's tokens, with "·" between them. */
static void assert_labels(const Tokenizer *tokenizer, const char *text, const char *wanted)
{
    Ids ids = encode(tokenizer, text);
    char labels[1024] = "";
    for (size_t i = 0; i < ids.count; i++) {
        strcat(strcat(labels, i ? "·" : ""), tokenizer_label(tokenizer, ids.id[i]));
    }
    assert_string_equal(labels, wanted);
    free(ids.id);
}

static void assert_layout(const Tokenizer *tokenizer, bool words_only)
{
    int V = tokenizer_vocab_size(tokenizer);
    assert_string_equal(tokenizer_piece(tokenizer, ID_END), "</s>");
    assert_string_equal(tokenizer_piece(tokenizer, ID_UNKNOWN), "<unk>");
    assert_string_equal(tokenizer_piece(tokenizer, V - 1), "<pad>");
    for (int id = 2; id < V - 1 && words_only; id++) {
        assert_true(tokenizer_begins_word(tokenizer, id));
        assert_true(tokenizer_label(tokenizer, id) == tokenizer_piece(tokenizer, id) + 3);
    }
    const int32_t silent[] = {ID_END, V - 1, ID_END}, outside[] = {V}, negative[] = {-1};
    char *text;
    Error error;
    assert_true(tokenizer_decode(tokenizer, &text, silent, 3, &error));
    assert_string_equal(text, "");
    free(text);
    assert_false(tokenizer_decode(tokenizer, &text, outside, 1, &error));
    assert_false(tokenizer_decode(tokenizer, &text, negative, 1, &error));
}

static void test_every_type_gives_text_back(void **state)
{
    (void)state;
    Sentences sentences = sentences_of((const char *const *)many, MANY);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        if (type == TOKENIZER_WORD) continue;
        for (int bytes = 0; bytes < 2; bytes++) {
            TokenizerSettings settings = {.type = (TokenizerType)type,
                                          .byte_fallback = bytes,
                                          .vocab_size = bytes ? 420 : 160,
                                          .coverage = 1};
            Tokenizer *tokenizer = learn(&sentences, &settings);
            assert_true(tokenizer_vocab_size(tokenizer) <= settings.vocab_size);
            assert_layout(tokenizer, false);
            for (int i = 0; i < TEXTS; i++) assert_decodes(tokenizer, TEXT[i], TEXT[i]);
            assert_decodes(tokenizer, "  jane   aime\tla musique ? ", "jane aime la musique ?");
            assert_decodes(tokenizer, "", "");
            const char *unseen = "jane ☃☃ 猫 paul";
            assert_decodes(tokenizer, unseen, bytes ? unseen : "jane ⁇ ⁇ paul");
            tokenizer_free(tokenizer);
        }
    }
}

static void test_words(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, TEXTS);
    TokenizerSettings settings = {.type = TOKENIZER_WORD, .vocab_size = 1000};
    Tokenizer *tokenizer = learn(&sentences, &settings);
    assert_layout(tokenizer, true);
    assert_labels(tokenizer, "jane visite l'école.", "jane·visite·l'·école·.");
    assert_labels(tokenizer, "jane visite l’école .", "jane·visite·l'·école·.");
    assert_labels(tokenizer, "paul n'aime pas la musique ?", "paul·n'·aime·pas·la·musique·?");
    assert_labels(tokenizer, "does jane like music?", "does·jane·like·music·?");
    assert_labels(tokenizer, "it is 3.5, (or 10:30)!", "it·is·3.5·,·(·<unk>·10:30·)·!");
    assert_labels(tokenizer, "www.example.org: more!", "www.example.org·:·more·!");
    assert_labels(tokenizer, "jane\xc2\xa0?", "jane·?");
    /* French comes back as it was; English but for the space before ? and !. */
    for (int i = 0; i < 4; i++) assert_decodes(tokenizer, TEXT[i], TEXT[i]);
    assert_decodes(tokenizer, TEXT[4], TEXT[4]);
    assert_decodes(tokenizer, TEXT[7], TEXT[7]);
    assert_decodes(tokenizer, "l’école", "l'école");
    assert_decodes(tokenizer, "does jane like music?", "does jane like music ?");
    assert_decodes(tokenizer, "the school is (almost) open...",
                   "the school is (almost) open...");
    assert_decodes(tokenizer, "e\xcc\x81t\xc3\xa9 l'\xc3\xa9te\xcc\x81", "été l'été");
    assert_decodes(tokenizer, "zebra visite jane", "⁇ visite jane");
    assert_decodes(tokenizer, "jane visite zebra l'école", "jane visite ⁇ l'école");

    /* All words are there: nothing of the text is unknown, and no more than its words. */
    for (int i = 0; i < TEXTS; i++) {
        Ids ids = encode(tokenizer, TEXT[i]);
        for (size_t k = 0; k < ids.count; k++) assert_int_not_equal(ids.id[k], ID_UNKNOWN);
        free(ids.id);
    }
    assert_int_equal(tokenizer_vocab_size(tokenizer), 65 + 3);
    tokenizer_free(tokenizer);

    settings.normalization = "identity";
    tokenizer = learn(&sentences, &settings);
    assert_decodes(tokenizer, "jane visite l'école.", "jane visite l'école.");
    tokenizer_free(tokenizer);
}

static void test_lowercase(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, TEXTS);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {
            .type = (TokenizerType)type, .vocab_size = 90, .lowercase = true};
        Tokenizer *tokenizer = learn(&sentences, &settings);
        assert_decodes(tokenizer, "Jane visite L'ÉCOLE.", "jane visite l'école.");
        tokenizer_free(tokenizer);
    }
}

static void test_a_vocabulary_too_large_is_cut(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, 2);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type, .vocab_size = 30000};
        Tokenizer *tokenizer = learn(&sentences, &settings);
        assert_in_range(tokenizer_vocab_size(tokenizer), 10, 250);
        assert_decodes(tokenizer, TEXT[1], TEXT[1]);
        tokenizer_free(tokenizer);
    }
}

static void *many_encodings(void *context)
{
    const Tokenizer *tokenizer = context;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < TEXTS; i++) assert_decodes(tokenizer, TEXT[i], TEXT[i]);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, TEXTS);
    TokenizerSettings settings = {.type = TOKENIZER_UNIGRAM, .vocab_size = 90};
    Tokenizer *tokenizer = learn(&sentences, &settings);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, many_encodings, tokenizer);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    tokenizer_free(tokenizer);
}

/* Any bytes can be encoded, and what comes back is text. */
static void test_any_bytes(void **state)
{
    (void)state;
    Sentences sentences = sentences_of(TEXT, TEXTS);
    Rng rng = rng_stream(5, RNG_TEST, 0);
    for (int type = 0; type < TOKENIZER_TYPES; type++) {
        TokenizerSettings settings = {.type = (TokenizerType)type,
                                      .vocab_size = 340,
                                      .byte_fallback = type < TOKENIZER_WORD};
        Tokenizer *tokenizer = learn(&sentences, &settings);
        for (int round = 0; round < 300; round++) {
            char bytes[64];
            size_t length = rng_below(&rng, sizeof bytes);
            for (size_t i = 0; i < length; i++) bytes[i] = (char)rng_word(&rng);
            Ids ids = {0};
            Error error;
            assert_true(tokenizer_encode(tokenizer, &ids, bytes, length, &error));
            for (size_t i = 0; i < ids.count; i += 3) {  // and any ids
                ids.id[i] = (int32_t)rng_below(&rng, (uint32_t)tokenizer_vocab_size(tokenizer));
            }
            char *text;
            assert_true(tokenizer_decode(tokenizer, &text, ids.id, ids.count, &error));
            assert_true(text_is_utf8(text, strlen(text), NULL));
            assert_null(strpbrk(text, "\n\r"));
            free(text);
            free(ids.id);
        }
        Error error;
        Ids ids = {0};
        assert_false(tokenizer_encode(tokenizer, &ids, "", TOKENIZER_MAX_TEXT + 1u, &error));
        tokenizer_free(tokenizer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(test_every_type_gives_text_back),
        WATCHED(test_words),
        WATCHED(test_lowercase),
        WATCHED(test_a_vocabulary_too_large_is_cut),
        WATCHED(test_threads),
        WATCHED(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
