/* corpuscheck.c -- what looks wrong in a corpus, and where it begins. */
#include "data/corpuscheck.h"

#include "base/rng.h"
#include "tests/fixtures/test.h"

enum { PAIRS = 3000 };

static Error error;

static void add(CorpusText *text, const char *source, const char *target)
{
    const char *const line[SIDES] = {source, target};
    const size_t length[SIDES] = {strlen(source), strlen(target)};
    CorpusLine where = {0, text->pairs + 1};
    assert_true(corpus_add(text, line, length, where, &error));
}

/* Sentence number i of a side: the target is longer, and by chance a little more or less so. */
static const char *sentence(int i, CorpusSide side)
{
    static char line[SIDES][400];
    Rng both = rng_stream(1, RNG_TEST, (uint64_t)i),
        own = rng_stream(2 + side, RNG_TEST, (uint64_t)i);
    int words = 3 + (int)rng_below(&both, 20) + (int)rng_below(&own, 4) + 2 * (int)side;
    line[side][0] = 0;
    for (int w = 0; w < words; w++) strcat(line[side], side ? "mot " : "word ");
    return line[side];
}

/* Pairs whose target is `by` lines on from number `from` on. */
static CorpusText slipped(int from, int by)
{
    CorpusText text = {0};
    for (int i = 0; i < PAIRS; i++)
        add(&text, sentence(i + 10, SOURCE), sentence(i + 10 + (i >= from ? by : 0), TARGET));
    return text;
}

TEST(slips)
{
    static const struct {
        int from, by;
    } SLIP[] = {{0, 1}, {3, -1}, {700, 1}, {700, -3}, {2499, 5}, {2880, -1}};
    for (size_t s = 0; s < sizeof SLIP / sizeof *SLIP; s++) {
        CorpusText text = slipped(SLIP[s].from, SLIP[s].by);
        CorpusCheck check = corpus_check(&text, NULL);
        // the target of line i is that of source i + by: it stands with the source `by` lines on
        assert_int_equal(check.slipped, -SLIP[s].by);
        assert_in_range((int)check.from.line - SLIP[s].from + 20, 0, 40);
        corpus_text_free(&text);
    }
}

TEST(unrelated)
{
    static const int FROM[] = {0, 1000, 2300};
    for (size_t f = 0; f < sizeof FROM / sizeof *FROM; f++) {
        CorpusText text = slipped(FROM[f], 40);
        CorpusCheck check = corpus_check(&text, NULL);
        assert_int_equal(check.slipped, 0);
        assert_true(check.unrelated);
        assert_in_range((int)check.from.line - FROM[f] + 160, 0, 320);
        corpus_text_free(&text);
    }
}

TEST(often)
{
    CorpusText text = {0};
    for (int i = 0; i < 300; i++)
        add(&text, sentence(i, SOURCE),
            i % 5 < 2   ? "Non."
            : i % 5 < 4 ? "Oui."
                        : sentence(i, TARGET));
    CorpusCheck check = corpus_check(&text, NULL);
    assert_int_equal(check.often[SOURCE], 0);
    assert_int_equal(check.often[TARGET], 120);
    assert_true(!strcmp(check.sentence[TARGET], "Oui.") ||
                !strcmp(check.sentence[TARGET], "Non."));
    for (int i = 0; i < 60; i++)
        add(&text, sentence(300 + i, SOURCE), sentence(300 + i, TARGET));
    assert_int_equal(corpus_check(&text, NULL).often[TARGET],
                     0);  // a third is not more than a third
    corpus_text_free(&text);
}

/* Another file is a part of its own. */
TEST(parts)
{
    CorpusText text = {0};
    for (int i = 0; i < 200; i++) {
        add(&text, sentence(i, i < 100 ? SOURCE : TARGET),
            sentence(i, i < 100 ? TARGET : SOURCE));
        text.line[i].file = i >= 100;
    }
    CorpusText first = corpus_part(&text, 0), second = corpus_part(&text, 100);
    assert_int_equal(first.pairs, 100);
    assert_int_equal(second.pairs, 100);
    assert_int_equal(second.line->line, 101);
    assert_int_equal(corpus_swapped(&second, &first), SIDES);
    corpus_text_free(&text);
}

TEST(no_slip)
{
    CorpusText text = slipped(0, 0), few = {0}, equal = {0}, sorted = {0};
    assert_int_equal(corpus_check(&text, NULL).slipped, 0);
    assert_false(corpus_check(&text, NULL).unrelated);
    for (int i = 0; i < 60; i++) add(&few, sentence(i, SOURCE), sentence(i + 1, TARGET));
    assert_int_equal(corpus_check(&few, NULL).slipped, 0);  // too few to say
    for (int i = 0; i < PAIRS; i++) add(&equal, "word", "mot");
    assert_int_equal(corpus_check(&equal, NULL).slipped, 0);
    assert_false(corpus_check(&equal, NULL).unrelated);
    // sorted by the length of both: the longer the source, the shorter the target
    for (int length = 100; length < 140; length++)
        for (int i = 0; i < 75; i++) {
            Rng rng = rng_stream(5, RNG_TEST, (uint64_t)(length * 100 + i));
            int first = 20 + (int)rng_below(&rng, 50);
            char line[SIDES][200];
            snprintf(line[SOURCE], sizeof *line, "%*s", first, "x");
            snprintf(line[TARGET], sizeof *line, "%*s", length - first, "x");
            add(&sorted, line[SOURCE], line[TARGET]);
        }
    assert_int_equal(corpus_check(&sorted, NULL).slipped, 0);
    corpus_text_free(&text), corpus_text_free(&few), corpus_text_free(&equal);
    corpus_text_free(&sorted);
}

TEST(kinds)
{
    static const struct {
        const char *source, *target;
        int kind;  // or CHECKS: none
    } PAIR[] = {{"the same", "the same", CHECK_SAME},
                {"4711", "a cat", CHECK_NUMBERED},
                {"4711 cats", "4711 chats", CHECKS},
                {"SO-333", "a cat", CHECK_NUMBERED},
                {"a cat", "dev_12", CHECK_NUMBERED_TARGET},
                {"D1A_S0_87", "a cat", CHECK_NUMBERED},
                {"CC(=O)N-2", "COVID-", CHECKS},
                {"a", "MP3", CHECKS},
                {"https://a.org/b", "a cat", CHECK_NUMBERED},
                {"see https://a.org", "a cat", CHECKS},
                {"a cat", "#-1.234,5", CHECK_NUMBERED_TARGET},
                {"a cat", "...", CHECKS},
                {"\"a\"", "\"b\"", CHECK_QUOTED},
                {"\"a\" b", "\"b\"", CHECK_QUOTED},
                {"\"a\" b", "b \"\"", CHECKS},
                {"\"", "\"\"\"", CHECK_QUOTED},
                {"a\tb", "c", CHECK_TABLE},
                {"a", "b\tc", CHECK_TABLE_TARGET},
                {"a \",\" b", "c", CHECKS},
                {"a & b; c", "a &; b", CHECKS},
                {"a", "\"Il dit : \"\"b\"\"\"", CHECK_DOUBLED},
                {"it&apos;s", "a", CHECK_ENTITIES},
                {"a", "l&#39;eau", CHECK_ENTITIES},
                {"a &averylongname;", "b", CHECKS},
                {"<b>a</b>", "b", CHECK_TAGS},
                {"a < b > c", "a <3 b", CHECKS},
                {"▁a ▁cat", "b", CHECK_PIECES},
                {"a c@@ at", "b", CHECK_PIECES},
                {"a", "{\\an8}b", CHECK_TAGS},
                {"a {name}", "b {0}", CHECKS},
                {"a cat ￭.", "b", CHECK_PIECES},
                {"a", "chat ##on", CHECK_PIECES},
                {"a # b ## c ### d", "b", CHECKS},
                {"IĠamĠhere", "b", CHECK_PIECES},
                {"a", "Il-Ġimgħa kien il-Ġurnal tal-Ġenerali u ta' Ġorġ u ta' ħija", CHECKS},
                {"A cat sat .", "b", CHECK_TOKENISED},
                {"a", "Un chat , ici .", CHECK_TOKENISED},
                {"Really?", "Vraiment ? « Oui ! » Voici : un, deux...", CHECKS},
                {"a@b.org", "b", CHECKS}};
    for (size_t p = 0; p < sizeof PAIR / sizeof *PAIR; p++) {
        CorpusText text = {0};
        add(&text, "one", "un");
        add(&text, PAIR[p].source, PAIR[p].target);
        CorpusCheck check = corpus_check(&text, NULL);
        for (int k = 0; k < CHECKS; k++) {
            assert_int_equal(check.pairs[k],
                             k == PAIR[p].kind ||
                                 (k == CHECK_QUOTED && PAIR[p].kind == CHECK_DOUBLED));
            if (check.pairs[k]) assert_int_equal(check.first[k].line, 2);
        }
        corpus_text_free(&text);
    }
}

TEST(copies)
{
    CorpusText text = {0};
    for (int i = 0; i < 300; i++) add(&text, i % 100 ? "a cat" : "a dog", i < 200 ? "a" : "b");
    CorpusCheck check = corpus_check(&text, NULL);
    assert_int_equal(check.pairs[CHECK_COPIES], 296);
    assert_int_equal(check.first[CHECK_COPIES].line, 3);
    corpus_text_free(&text);
}

TEST(a_tag_is_no_markup)
{
    CorpusText text = {0};
    add(&text, "<2fr> a cat", "un chat");
    add(&text, "<2fr> a <b>cat</b>", "un chat");
    assert_int_equal(corpus_check(&text, NULL).pairs[CHECK_TAGS], 2);
    assert_int_equal(corpus_check(&text, "<2*>").pairs[CHECK_TAGS], 1);
    corpus_text_free(&text);
}

TEST(sides_in_the_wrong_order)
{
    CorpusText train = {0}, right = {0}, wrong = {0}, twice = {0};
    for (int i = 0; i < 200; i++) add(&train, sentence(i, SOURCE), sentence(i, TARGET));
    add(&right, "two words", "un mot et un mot");
    add(&wrong, "un mot et un mot", "two words");
    add(&twice, "two words", "three words");
    assert_false(corpus_swapped(&right, &train));
    assert_true(corpus_swapped(&wrong, &train));
    assert_true(corpus_swapped(&twice, &train));
    assert_false(corpus_swapped(&train, &train));
    corpus_text_free(&train), corpus_text_free(&right), corpus_text_free(&wrong);
    corpus_text_free(&twice);
}

TEST_MAIN("corpuscheck", NULL, NULL)
