/* subwords-chances.c -- text cut at random: as often each way as the definitions say. */
#include "tests/fixtures/opened-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>

static const char *const LETTER[] = {"a", "b", "c", "▁", "é"};
enum { LETTERS = sizeof LETTER / sizeof *LETTER };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_defined_pieces_stay_whole),
        cmocka_unit_test(test_chances_of_merges),
        cmocka_unit_test(test_chances_of_spellings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
