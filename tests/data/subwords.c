/* subwords.c -- text cut at random: with no dropout exactly as SentencePiece cuts it, whatever the
 * model and the text. */
#include "base/packed.h"
#include "data/text.h"
#include "tests/fixtures/opened-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts ids, <unk> left out. */
static void sort_known(Ids *ids)
{
    size_t kept = 0;
    for (size_t i = 0; i < ids->count; i++)
        if (ids->id[i] != ID_UNKNOWN) ids->id[kept++] = ids->id[i];
    ids->count = kept;
    if (kept) qsort(ids->id, kept, sizeof *ids->id, by_id);
}

/* Cut without dropout, a text has the library's ids; or, if any order will do ("b|bb" is as
 * probable as "bb|b"), the same ones but for <unk>, as runs of it are one. */
static void assert_usual(const Pair *pair, const char *text, size_t length, bool any_order)
{
    Error error = {""};
    Ids usual = {0};
    if (!tokenizer_encode(pair->tokenizer, &usual, text, length, &error))
        fail_msg("%s", error.text);
    Units units = units_of(pair, text, length);
    Ids ids = draw(pair, &units, 0);
    if (any_order) sort_known(&ids), sort_known(&usual);
    if (ids.count != usual.count ||
        (ids.count && memcmp(ids.id, usual.id, ids.count * sizeof *ids.id))) {
        char a[1000], b[1000];
        pieces_text(pair->tokenizer, &ids, a, sizeof a);
        pieces_text(pair->tokenizer, &usual, b, sizeof b);
        fail_msg("'%.*s' is cut %s, not %s", (int)length, text, a, b);
    }
    free(usual.id);
    free(ids.id);
    free(units.unit);
}

/* ---- models that were learned ---- */

static const char *const HARD[] = {
    "",
    " ",
    "   \t  ",
    "a",
    "  jane   aime\tla musique ? ",
    "☃",
    "☃☃☃ jane ☃☃",
    "ja☃ne 猫猫猫 paul☃",
    "猫 猫 猫",
    "▁ ▁▁ a▁b",
    "</s> <unk> <pad> <0x41>",
    "ﬁne ①②③ ｆｕｌｌ ½ …",
    "e\xcc\x81t\xc3\xa9",
    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80 smile",
    "مرحبا بالعالم",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "www.example.org/a-b_c?d=e&f#g",
    "\xff\xfe broken \xc3 bytes",
};
enum { HARDS = sizeof HARD / sizeof *HARD, LINES = 3000 };

static char *line[2 * LINES];

static int setup(void **state)
{
    (void)state;
    Error error;
    for (int side = 0; side < 2; side++) {
        TextReader reader;
        const char *text;
        size_t length;
        if (!text_open(&reader, side ? "data/toy/train.fr.gz" : "data/toy/train.en.gz", &error))
            return -1;
        for (int i = 0; i < LINES; i++) {
            if (text_next(&reader, &text, &length, &error) != TEXT_LINE) return -1;
            line[2 * i + side] = strdup(text);
        }
        text_close(&reader);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * LINES; i++) free(line[i]);
    return 0;
}

static const char *line_at(const void *context, size_t i, size_t *length)
{
    (void)context;
    *length = strlen(line[i]);
    return line[i];
}

static unsigned char *learn(size_t *size, TokenizerType type, int vocab, bool bytes)
{
    Sentences sentences = {2 * LINES, line_at, NULL};
    TokenizerSettings settings = {
        .type = type, .vocab_size = vocab, .byte_fallback = bytes, .coverage = 0.995};
    unsigned char *model;
    Error error = {""};
    if (!tokenizer_train(&model, size, &sentences, &settings, &error))
        fail_msg("%s", error.text);
    return model;
}

static void check_usual(TokenizerType type, int vocab, double amount)
{
    for (int bytes = 0; bytes < 2; bytes++) {
        size_t size;
        unsigned char *model = learn(&size, type, vocab, bytes);
        Pair pair = open_model(model, size, amount);
        for (int i = 0; i < 2 * LINES; i++)
            assert_usual(&pair, line[i], strlen(line[i]), false);
        for (int i = 0; i < HARDS; i++) assert_usual(&pair, HARD[i], strlen(HARD[i]), false);
        close_model(&pair);
        free(model);
    }
}

static void test_no_dropout_is_the_usual_cut(void **state)
{
    (void)state;
    check_usual(TOKENIZER_BPE, 700, 0);
}

/* A large alpha leaves nothing but the best cut. */
static void test_a_large_alpha_is_the_usual_cut(void **state)
{
    (void)state;
    check_usual(TOKENIZER_UNIGRAM, 500, 1e6);
}

/* Whatever is drawn spells the text. */
static void test_a_cut_spells_the_text(void **state)
{
    (void)state;
    static const double AMOUNTS[2][3] = {{0.1, 0.5, 1}, {0.05, 0.5, 2}};
    for (int type = 0; type < 2; type++) {
        size_t size;
        unsigned char *model =
            learn(&size, type ? TOKENIZER_UNIGRAM : TOKENIZER_BPE, type ? 800 : 700, true);
        for (int a = 0; a < 3; a++) {
            Pair pair = open_model(model, size, AMOUNTS[type][a]);
            int different = 0;
            for (int i = 0; i < 600; i++) {
                const char *text = i < HARDS ? HARD[i] : line[i];
                Error error;
                Ids usual = {0};
                char *expected, *got;
                assert_true(
                    tokenizer_encode(pair.tokenizer, &usual, text, strlen(text), &error));
                Units units = units_of(&pair, text, strlen(text));
                Ids ids = draw(&pair, &units, (uint64_t)i),
                    again = draw(&pair, &units, (uint64_t)i);
                assert_int_equal(ids.count, again.count);
                assert_memory_equal(ids.id ? ids.id : (void *)"",
                                    again.id ? again.id : (void *)"",
                                    ids.count * sizeof *ids.id);
                different += ids.count != usual.count;
                assert_true(
                    tokenizer_decode(pair.tokenizer, &expected, usual.id, usual.count, &error));
                assert_true(tokenizer_decode(pair.tokenizer, &got, ids.id, ids.count, &error));
                assert_string_equal(got, expected);
                free(expected), free(got);
                free(usual.id), free(ids.id), free(again.id), free(units.unit);
            }
            assert_true(different > (a == 2 ? 1 : 60));
            close_model(&pair);
        }
        free(model);
    }
}

/* ---- models made by hand, with everything that models can have ---- */

static const char *const LETTER[] = {"a", "b", "c", "▁", "é"};
enum { LETTERS = sizeof LETTER / sizeof *LETTER };

/* A model of random pieces over five letters; some letters are no pieces, some scores are equal,
 * some pieces are user-defined or unused as asked. */
static void random_model(SmallModel *model, PiecesKind kind, bool bytes, bool user_defined,
                         bool unused, Rng *rng)
{
    char seen[64][32];
    int count = 0;
    small_model_begin(model, kind, bytes);
    for (int i = 0; i < 40; i++) {
        char text[32] = "";
        for (uint32_t n = i < LETTERS ? 1 : 2 + rng_below(rng, 4); n > 0; n--)
            strcat(text, LETTER[i < LETTERS ? (uint32_t)i : rng_below(rng, LETTERS)]);
        bool known = i < LETTERS && rng_below(rng, 6) == 0;  // left out
        for (int k = 0; k < count; k++) known = known || !strcmp(seen[k], text);
        if (known) continue;
        strcpy(seen[count++], text);
        uint32_t kinds = rng_below(rng, 8);
        PieceType type = user_defined && kinds == 0 ? PIECE_USER_DEFINED
                         : unused && kinds < 3      ? PIECE_UNUSED
                                                    : PIECE_NORMAL;
        float score = kind == PIECES_BPE ? -(float)rng_below(rng, 12)
                                         : -(float)(1 + 9 * rng_uniform(rng));
        small_model_piece(model, text, score, type);
    }
}

static size_t random_text(char *text, Rng *rng)
{
    static const char *const MORE[] = {"a", "b", "c", " ", "é", "a", "b", "z", "☃", "▁"};
    *text = 0;
    for (uint32_t n = rng_below(rng, 24); n > 0; n--) strcat(text, MORE[rng_below(rng, 10)]);
    return strlen(text);
}

static void compare_random(PiecesKind kind, double amount, bool user_defined)
{
    static SmallModel model;
    for (int round = 0; round < 200; round++) {
        Rng rng = rng_stream(23, RNG_TEST, (uint64_t)round);
        bool bytes = round % 2, unused = round % 3 == 0;
        random_model(&model, kind, bytes, user_defined && round % 5 < 3, unused, &rng);
        Pair pair = open_model(model.bytes, model.size, amount);
        for (int i = 0; i < 40; i++) {
            char text[200];
            size_t length = random_text(text, &rng);
            assert_usual(&pair, text, length, kind == PIECES_UNIGRAM);
        }
        close_model(&pair);
    }
}

static void test_bpe_of_any_model(void **state)
{
    (void)state;
    compare_random(PIECES_BPE, 0, true);
}

static void test_unigram_of_any_model(void **state)
{
    (void)state;
    compare_random(PIECES_UNIGRAM, 1e6, false);
}

static void test_only_subwords(void **state)
{
    (void)state;
    static SmallModel model;
    Error error;
    for (int kind = PIECES_WORD; kind <= PIECES_CHAR; kind++) {
        small_model_begin(&model, (PiecesKind)kind, false);
        small_model_piece(&model, "a", -1, PIECE_NORMAL);
        assert_null(subwords_create(model.bytes, model.size, 0.1, &error));
        assert_non_null(strstr(error.text, "only subwords"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_dropout_is_the_usual_cut),
        cmocka_unit_test(test_a_large_alpha_is_the_usual_cut),
        cmocka_unit_test(test_a_cut_spells_the_text),
        cmocka_unit_test(test_bpe_of_any_model),
        cmocka_unit_test(test_unigram_of_any_model),
        cmocka_unit_test(test_only_subwords),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
