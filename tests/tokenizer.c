/* tokenizer.c -- every type learns, gives text back, and survives bad models and bad settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/packed.h"
#include "base/rng.h"
#include "data/text.h"
#include "data/tokenizer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const TEXT[] = {
    "jane visite l'école.",
    "jane aime-t-elle la musique ?",
    "paul n'aime pas l'hiver, mais marie l'aime beaucoup.",
    "l'été, les enfants jouent dans le jardin !",
    "aujourd'hui il fait 3.5 degrés à 10:30.",
    "does jane like music?",
    "the school is (almost) always open, isn't it?",
    "paul doesn't like winter, but marie likes it a lot.",
    "in summer the children play in the garden!",
    "see www.example.org for more: it is free.",
};
enum { TEXTS = sizeof TEXT / sizeof *TEXT };

static const char *text_at(const void *context, size_t i, size_t *length)
{
    const char *const *text = context;
    *length = strlen(text[i]);
    return text[i];
}

static Sentences sentences_of(const char *const *text, size_t count)
{
    return (Sentences){count, text_at, text};
}

/* A larger corpus of the same words in seeded random order. */
enum { MANY = 1500 };
static char *many[MANY];

static int setup(void **state)
{
    (void)state;
    Rng rng = rng_stream(7, RNG_TEST, 0);
    for (int i = 0; i < MANY; i++) {
        char line[512] = "";
        for (uint32_t w = 3 + rng_below(&rng, 6); w > 0; w--) {
            char copy[128];
            strcpy(copy, TEXT[rng_below(&rng, TEXTS)]);
            char *saved, *word = strtok_r(copy, " ", &saved);
            for (uint32_t k = rng_below(&rng, 12); k > 0 && saved && *saved; k--) {
                word = strtok_r(NULL, " ", &saved);
            }
            strcat(strcat(line, *line ? " " : ""), word);
        }
        many[i] = strdup(line);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < MANY; i++) free(many[i]);
    return 0;
}

/* Around a test: the library prints nothing. What is printed instead is shown afterwards. */
static int kept_stdout, kept_stderr, watched;

static int watch_begin(void **state)
{
    (void)state;
    fflush(NULL);
    watched = memfd_create("watched", 0);
    kept_stdout = dup(1), kept_stderr = dup(2);
    dup2(watched, 1), dup2(watched, 2);
    return 0;
}

static int watch_end(void **state)
{
    (void)state;
    fflush(NULL);
    dup2(kept_stdout, 1), dup2(kept_stderr, 2);
    close(kept_stdout), close(kept_stderr);
    char text[4096];
    ssize_t printed = pread(watched, text, sizeof text, 0);
    close(watched);
    if (printed > 0) fprintf(stderr, "printed:\n%.*s\n", (int)printed, text);
    return printed == 0 ? 0 : -1;
}

static Tokenizer *learn(const Sentences *sentences, const TokenizerSettings *settings)
{
    unsigned char *model;
    size_t size;
    Error error = {{0}};
    if (!tokenizer_train(&model, &size, sentences, settings, &error))
        fail_msg("%s", error.text);
    Tokenizer *tokenizer = tokenizer_load(model, size, &error);
    if (!tokenizer) fail_msg("%s", error.text);
    free(model);
    return tokenizer;
}

static Ids encode(const Tokenizer *tokenizer, const char *text)
{
    Ids ids = {0};
    Error error;
    assert_true(tokenizer_encode(tokenizer, &ids, text, strlen(text), &error));
    return ids;
}

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
    TokenizerType type;
    Error error;
    assert_true(tokenizer_type_parse(&type, "bpe", &error));
    assert_int_equal(type, TOKENIZER_BPE);
    assert_false(tokenizer_type_parse(&type, "wordpiece", &error));
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
static size_t put(unsigned char *to, int field, const void *bytes, size_t count)
{
    size_t n = 0;
    to[n++] = (unsigned char)(field << 3 | 2);
    for (size_t left = count; n == 1 || left > 0; left >>= 7) {
        to[n++] = (unsigned char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    }
    memcpy(to + n, bytes, count);
    return n + count;
}

static bool accepts_table(const uint32_t *unit, uint32_t units, const char *strings,
                          size_t size, Error *error)
{
    static unsigned char table[1 << 16], spec[1 << 16], model[1 << 16];
    uint32_t bytes = 4 * units;
    memcpy(table, &bytes, 4);
    memcpy(table + 4, unit, bytes);
    memcpy(table + 4 + bytes, strings, size);
    size_t n = put(spec, 2, table, 4 + bytes + size), m = 0;
    m += put(model + m, 1, "\x0a\x04</s>\x18\x03", 8);
    m += put(model + m, 1, "\x0a\x05<unk>\x18\x02", 9);
    m += put(model + m, 1, "\x0a\x04\xe2\x96\x81\x61\x15\0\0\x80\xbf", 11);
    m += put(model + m, 3, spec, n);
    Tokenizer *tokenizer = tokenizer_load(model, m, error);
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

#define WATCHED(test) cmocka_unit_test_setup_teardown(test, watch_begin, watch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(test_every_type_gives_text_back),
        WATCHED(test_words),
        WATCHED(test_lowercase),
        WATCHED(test_a_vocabulary_too_large_is_cut),
        WATCHED(test_what_cannot_work),
        WATCHED(test_learning_is_deterministic),
        WATCHED(test_hostile_models),
        WATCHED(test_hostile_tables),
        WATCHED(test_threads),
        WATCHED(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
