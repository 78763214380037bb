/* Labels of tokens: bytes of one character share a label, other tokens have their own; and which of
 * them a word is. */
#include "explain/labels.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

enum { V = 2 + 256 + 2 + 1, WORD = 258, GOES_ON = 259 };

/* The id of a byte. */
enum { BYTE = 2 };

static const int source[] = {WORD,        GOES_ON,     BYTE + 0xE7, BYTE + 0xB1,
                             BYTE + 0xB3, BYTE + 0xC3, BYTE + 0xA9, BYTE + 'x',
                             WORD,        BYTE + 0x80, ID_END};
enum { N = sizeof source / sizeof *source };
static Vocabulary vocabulary;
static Transformer model;
static Snapshot *snapshot;
static Error error;

FIXTURE(setup)
{
    static SmallModel small;
    small_model_begin(&small, TOKENIZER_BPE, true);
    small_model_piece(&small, "\u2581word", -1, PIECE_NORMAL);
    small_model_piece(&small, "s", -2, PIECE_NORMAL);
    if (!small_model_vocabulary(&vocabulary, &small, &error)) return -1;
    model = random_model(V, N, 5);
    snapshot = snapshot_open(&model, source, N, source, N, &error);
    return snapshot && tokenizer_vocab_size(vocabulary.tokenizer[SOURCE]) == V ? 0 : -1;
}

FIXTURE(teardown)
{
    snapshot_close(snapshot);
    transformer_free(&model);
    vocabulary_free(&vocabulary);
    return 0;
}

/* The labels of the source are `text` [count], and the tokens' labels `word` [N]. */
static void assert_labels(LabelsUnit unit, int count, const char *const *text, const int *word)
{
    Labels labels[TOKEN_SIDES], *from = &labels[TOKENS_SOURCE];
    if (!labels_make(labels, snapshot, &vocabulary, unit, &error)) fail_msg("%s", error.text);
    assert_int_equal(from->count, count);
    for (int i = 0; i < count; i++) assert_string_equal(from->text[i], text[i]);
    assert_memory_equal(from->word, word, N * sizeof *word);
    for (int i = 0; i < count; i++) assert_int_equal(from->special[i], i == count - 1);
    labels_free(labels);
}

/* The probability of a word is the product of its tokens'. Only the translation has one. */
TEST(test_probabilities)
{
    double each[N];
    Labels labels[TOKEN_SIDES], *from = &labels[TOKENS_SOURCE], *to = &labels[TOKENS_TARGET];
    for (int i = 0; i < N; i++) each[i] = -0.1 * (i + 1);
    snapshot->each = each;
    assert_true(labels_make(labels, snapshot, &vocabulary, LABELS_WORDS, &error));
    double sum[N] = {0};
    for (int i = 0; i < N; i++) sum[to->word[i]] += each[i];
    assert_true(to->count > 2 && to->count < N && to->word[1] == 0);
    for (int i = 0; i < to->count; i++)
        assert_true(fabs(to->probability[i] - exp(sum[i])) < 1e-6);
    for (int i = 0; i < from->count; i++) assert_true(isnan(from->probability[i]));
    labels_free(labels);
    snapshot->each = NULL;
}

TEST(test_tokens)
{
    static const char *const text[] = {"word",   "·s", "<0xE7>", "<0xB1>", "<0xB3>", "<0xC3>",
                                       "<0xA9>", "x",  "word",   "<0x80>", "</s>"};
    static const int word[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_labels(LABELS_TOKENS, N, text, word);
}

/* A byte that continues no character is alone. */
TEST(test_characters)
{
    static const char *const text[] = {"word", "·s",   "\u7C73", "\u00E9",
                                       "x",    "word", "<0x80>", "</s>"};
    static const int word[] = {0, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7};
    assert_labels(LABELS_CHARACTERS, 8, text, word);
}

/* Bytes are part of the word of their character. */
TEST(test_words)
{
    static const char *const text[] = {"words", "\u7C73", "\u00E9x", "word\uFFFD", "</s>"};
    static const int word[] = {0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4};
    assert_labels(LABELS_WORDS, 5, text, word);
}

/* A word of several tokens is none of them, but the error names them. */
TEST(test_find)
{
    static const char *const label[] = {"Her",  "grand", "·da",   "ughter", "·x",  "met",
                                        "Jane", "jane",  "école", ".",      "</s>"};
    static const struct {
        const char *word, *why;  // NULL: it is found
        int place;
    } cases[] = {
        {"her", NULL, 0},
        {"Jane", NULL, 6},
        {"DA", NULL, 2},
        {"ÉCOLE", NULL, 8},
        {"6", NULL, 5},
        {"JANE",
         "`word` 'JANE' is there 2 times, first at position 7 and last at 8: give the "
         "position",
         6},
        {"Grandda", "`word` 'Grandda' is the tokens 2 to 3 (grand ·da): give one of them", 1},
        {"ughterx", "`word` 'ughterx' is the tokens 4 to 5 (ughter ·x): give one of them", 3},
        {"école.", "`word` 'école.' is the tokens 9 to 10 (école .): give one of them", 8},
        {"hergrand",
         "`word` 'hergrand' is neither one of the 11 tokens \"Her\" … \"</s>\" nor "
         "a position from 1 to 11",
         -1},
        {"",
         "`word` '' is neither one of the 11 tokens \"Her\" … \"</s>\" nor a position from "
         "1 to 11",
         -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int place;
        bool found = labels_find(&place, label, 11, cases[i].word, &error);
        assert_int_equal(found, !cases[i].why);
        assert_int_equal(place, cases[i].place);
        if (!found) assert_string_equal(error.text, cases[i].why);
    }
}

TEST_MAIN("labels", setup, teardown)
