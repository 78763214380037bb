/* subwords.c -- text cut at random: with no dropout exactly as SentencePiece cuts it, whatever the
 * model; with some, as often each way as the definitions say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/packed.h"
#include "data/subwords.h"
#include "data/text.h"
#include "tests/small-model.h"

#include <math.h>
#include <stdlib.h>

/* A model, as the library has it and as it is cut at random. */
typedef struct Pair {
    Tokenizer *tokenizer;
    Subwords *subwords;
} Pair;

static Pair open_model(const void *model, size_t size, double amount)
{
    Error error = {""};
    Pair pair = {tokenizer_load(model, size, &error), NULL};
    if (pair.tokenizer) pair.subwords = subwords_create(model, size, amount, &error);
    if (!pair.subwords) fail_msg("%s", error.text);
    return pair;
}

static void close_model(Pair *pair)
{
    subwords_free(pair->subwords);
    tokenizer_free(pair->tokenizer);
}

static Units units_of(const Pair *pair, const char *text, size_t length)
{
    Error error = {""};
    Units units = {0};
    char *normalized;
    size_t size;
    if (!tokenizer_normalize(pair->tokenizer, &normalized, &size, text, length, &error) ||
        !subwords_add(pair->subwords, &units, normalized, size, &error))
        fail_msg("%s", error.text);
    free(normalized);
    return units;
}

static Ids draw(const Pair *pair, const Units *units, uint64_t index)
{
    Error error = {""};
    Ids ids = {0};
    Rng rng = rng_stream(11, RNG_TEST, index);
    if (!subwords_draw(pair->subwords, &ids, units->unit, units->count, &rng, &error))
        fail_msg("%s", error.text);
    return ids;
}

/* "a|b|c" of ids */
static void pieces_text(const Tokenizer *tokenizer, const Ids *ids, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < ids->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "",
                                 tokenizer_piece(tokenizer, ids->id[i]));
}

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

static void test_no_dropout_is_the_usual_cut(void **state)
{
    (void)state;
    for (int bytes = 0; bytes < 2; bytes++) {
        size_t size;
        unsigned char *model = learn(&size, TOKENIZER_BPE, 700, bytes);
        Pair pair = open_model(model, size, 0);
        for (int i = 0; i < 2 * LINES; i++)
            assert_usual(&pair, line[i], strlen(line[i]), false);
        for (int i = 0; i < HARDS; i++) assert_usual(&pair, HARD[i], strlen(HARD[i]), false);
        close_model(&pair);
        free(model);
    }
}

/* A large alpha leaves nothing but the best cut. */
static void test_a_large_alpha_is_the_usual_cut(void **state)
{
    (void)state;
    for (int bytes = 0; bytes < 2; bytes++) {
        size_t size;
        unsigned char *model = learn(&size, TOKENIZER_UNIGRAM, 500, bytes);
        Pair pair = open_model(model, size, 1e6);
        for (int i = 0; i < 2 * LINES; i++)
            assert_usual(&pair, line[i], strlen(line[i]), false);
        for (int i = 0; i < HARDS; i++) assert_usual(&pair, HARD[i], strlen(HARD[i]), false);
        close_model(&pair);
        free(model);
    }
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

/* A user-defined piece is one token however the rest is cut. */
static void test_user_defined_pieces_stay_whole(void **state)
{
    (void)state;
    static SmallModel model;
    for (int kind = PIECES_UNIGRAM; kind <= PIECES_BPE; kind++) {
        small_model_begin(&model, (PiecesKind)kind, false);
        small_model_piece(&model, "abc", 0, PIECE_USER_DEFINED);
        for (int i = 0; i < LETTERS; i++)
            small_model_piece(&model, LETTER[i], -1, PIECE_NORMAL);
        small_model_piece(&model, "ca", -0.5f, PIECE_NORMAL);
        small_model_piece(&model, "ab", -0.1f, PIECE_NORMAL);
        Pair pair = open_model(model.bytes, model.size, kind == PIECES_BPE ? 0.5 : 0.1);
        Units units = units_of(&pair, "ababcab abc", 11);
        int different = 0;
        for (int i = 0; i < 100; i++) {
            char text[200];
            Ids ids = draw(&pair, &units, (uint64_t)i);
            pieces_text(pair.tokenizer, &ids, text, sizeof text);
            const char *first = strstr(text, "|abc|");
            assert_non_null(first);
            assert_non_null(strstr(first + 1, "|abc"));
            different += !strstr(text, "|ab|abc|");
            free(ids.id);
        }
        assert_in_range(different, 10, 90);
        free(units.unit);
        close_model(&pair);
    }
}

/* ---- how often each cut comes ---- */

typedef struct Cut {
    char text[64];  // "a|b|c"
    double chance;
    int count;
} Cut;

typedef struct Cuts {
    Cut cut[64];
    int count;
} Cuts;

static Cut *cut_named(Cuts *cuts, const char *text)
{
    for (int i = 0; i < cuts->count; i++)
        if (!strcmp(cuts->cut[i].text, text)) return &cuts->cut[i];
    assert_in_range(cuts->count, 0, 63);
    Cut *cut = &cuts->cut[cuts->count++];
    *cut = (Cut){.chance = 0};
    strcpy(cut->text, text);
    return cut;
}

/* Pieces of the models below, the better ones first. */
static const struct {
    const char *text;
    float score;
} PIECE[] = {{"ab", -1},  {"cd", -2}, {"bc", -3}, {"abcd", -4}, {"abc", -5},
             {"bcd", -6}, {"a", -7},  {"b", -8},  {"c", -9},    {"d", -10}};
enum { PIECES = sizeof PIECE / sizeof *PIECE };

static int piece_named(const char *text, size_t length)
{
    for (int i = 0; i < PIECES; i++)
        if (strlen(PIECE[i].text) == length && !memcmp(PIECE[i].text, text, length)) return i;
    return -1;
}

/* The paper's algorithm in its own words: every set of merges that are left out at this step has
 * its probability; from each, the best of those that are left is done. */
static void expect_merges(Cuts *cuts, const char *text, double chance, double dropout)
{
    int at[8], best[8], count = 0;  // the merges: place of the bar, piece
    for (int i = 0; text[i]; i++) {
        if (text[i] != '|') continue;
        int from = i, to = i + 1;
        while (from > 0 && text[from - 1] != '|') from--;
        while (text[to] && text[to] != '|') to++;
        char joined[64];
        int length = snprintf(joined, sizeof joined, "%.*s%.*s", i - from, text + from,
                              to - i - 1, text + i + 1);
        int piece = piece_named(joined, (size_t)length);
        if (piece >= 0) at[count] = i, best[count++] = piece;
    }
    for (int set = 0; set < 1 << count; set++) {  // a bit: this merge is left out
        double p = chance;
        int chosen = -1;
        for (int i = 0; i < count; i++) {
            p *= set >> i & 1 ? dropout : 1 - dropout;
            if (!(set >> i & 1) && (chosen < 0 || best[i] < best[chosen])) chosen = i;
        }
        if (chosen < 0) {
            cut_named(cuts, text)->chance += p;
            continue;
        }
        char next[64];
        snprintf(next, sizeof next, "%.*s%s", at[chosen], text, text + at[chosen] + 1);
        expect_merges(cuts, next, p, dropout);
    }
}

/* Every way to spell "abcd" in pieces, by p^alpha. */
static void expect_spellings(Cuts *cuts, const char *done, const char *rest, double log_p)
{
    if (!*rest) cut_named(cuts, done)->chance = exp(log_p);
    for (size_t n = 1; n <= strlen(rest); n++) {
        int piece = piece_named(rest, n);
        if (piece < 0) continue;
        char next[64];
        snprintf(next, sizeof next, "%s%s%.*s", done, *done ? "|" : "", (int)n, rest);
        expect_spellings(cuts, next, rest + n, log_p + 0.3 * PIECE[piece].score);
    }
}

static void assert_chances(Cuts *cuts, PiecesKind kind, double amount)
{
    enum { DRAWS = 40000 };
    static SmallModel model;
    small_model_begin(&model, kind, false);
    small_model_piece(&model, "▁", -20, PIECE_NORMAL);
    for (int i = 0; i < PIECES; i++)
        small_model_piece(&model, PIECE[i].text, PIECE[i].score, PIECE_NORMAL);
    Pair pair = open_model(model.bytes, model.size, amount);
    Units units = units_of(&pair, "abcd", 4);
    double all = 0;
    for (int i = 0; i < cuts->count; i++) all += cuts->cut[i].chance;
    int expected = cuts->count;
    for (int i = 0; i < DRAWS; i++) {
        char text[64];
        Ids ids = draw(&pair, &units, (uint64_t)i);
        pieces_text(pair.tokenizer, &ids, text, sizeof text);
        cut_named(cuts, text + strlen("▁|"))->count++;
        free(ids.id);
    }
    assert_int_equal(cuts->count, expected);  // nothing else comes out
    for (int i = 0; i < cuts->count; i++) {
        double p = cuts->cut[i].chance / all, spread = sqrt(DRAWS * p * (1 - p));
        if (fabs(cuts->cut[i].count - DRAWS * p) > 4.5 * spread + 1)
            fail_msg("%s came %d times of %d, not %.1f", cuts->cut[i].text, cuts->cut[i].count,
                     DRAWS, DRAWS * p);
    }
    free(units.unit);
    close_model(&pair);
}

static void test_chances_of_merges(void **state)
{
    (void)state;
    static const double DROPOUT[] = {0.1, 0.4, 0.8};
    for (int i = 0; i < 3; i++) {
        static Cuts cuts;
        cuts.count = 0;
        expect_merges(&cuts, "a|b|c|d", 1, DROPOUT[i]);
        assert_int_equal(cuts.count, 8);
        assert_chances(&cuts, PIECES_BPE, DROPOUT[i]);
    }
}

static void test_chances_of_spellings(void **state)
{
    (void)state;
    static Cuts cuts;
    cuts.count = 0;
    expect_spellings(&cuts, "", "abcd", 0);
    assert_int_equal(cuts.count, 8);
    assert_chances(&cuts, PIECES_UNIGRAM, 0.3);
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
        cmocka_unit_test(test_user_defined_pieces_stay_whole),
        cmocka_unit_test(test_chances_of_merges),
        cmocka_unit_test(test_chances_of_spellings),
        cmocka_unit_test(test_only_subwords),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
