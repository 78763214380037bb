/* corpus.c -- pairs in: what is read, skipped and held out. */
#include "tests/fixtures/corpus-files.h"
#include "tests/fixtures/test.h"

static void test_reads_pairs(void **state)
{
    (void)state;
    write_file(path[0], "a\nb\n\nd\n \t\nf");
    write_file(path[1], "A\nB\nC\n\n\nF\n");
    write_file(path[2], "g\tG\th\n\n\tI\nj\t\nk k\tK K\n");
    CorpusText text;
    CorpusReport report;
    Error error;
    assert_true(read_corpus(&text, &report, 1, 1, &error));
    assert_int_equal(text.pairs, 5);
    assert_pair(&text, 0, "a", "A");
    assert_pair(&text, 1, "b", "B");
    assert_pair(&text, 2, "f", "F");
    assert_pair(&text, 3, "g", "G");
    assert_pair(&text, 4, "k k", "K K");
    assert_int_equal(text.line[2].file, 0);
    assert_int_equal(text.line[2].line, 6);
    assert_int_equal(text.line[4].file, 1);
    assert_int_equal(text.line[4].line, 5);
    assert_int_equal(report.read, 11);
    assert_int_equal(report.kept, 5);
    assert_lines(&report.skipped[EMPTY_SOURCE], 2, 3, 3);
    assert_int_equal(report.skipped[EMPTY_SOURCE].first[1].file, 1);
    assert_lines(&report.skipped[EMPTY_TARGET], 2, 4, 4);
    assert_lines(&report.skipped[EMPTY_BOTH], 2, 5, 2);
    Sentences sentences = corpus_sentences(&text, SIDES);
    size_t length;
    assert_int_equal(sentences.count, 10);
    assert_memory_equal(sentences.at(sentences.context, 4, &length), "k k", 3);
    assert_memory_equal(sentences.at(sentences.context, 9, &length), "K K", 3);
    corpus_text_free(&text);
}

static void test_what_is_no_corpus(void **state)
{
    (void)state;
    static const struct {
        const char *source, *target;  // target NULL: source is a TSV file
        const char *wanted;
    } CASE[] = {
        {"a\nb\nc\nd\n", "A\nB\n", "/a has 4 lines but "},
        {"a\nb\nc\nd\n", "A\nB\n", "/b has 2: they must match line by line"},
        {"a", "A\nB\nC", "/a has 1 lines but "},
        {"a", "A\nB\nC", "/b has 3: they must match line by line"},
        {"", "A\n", "has 0 lines but "},
        {"", "", "/a is empty: there is nothing to learn from"},
        {"\n\nc", "A\n\n\n", "/a has no pair with text on both sides"},
        {"a\tA\nb\n", NULL, "/a:2: there is no TAB: a line is source TAB target"},
        {"a\tA\n\xff\tB\n", NULL, "/a:2: not valid UTF-8 (byte 1 of the line is 0xff)"},
        {"", NULL, "/a is empty"},
        {"a\nb\xe9\n", "A\nB\n", "/a:2: not valid UTF-8 (byte 2 of the line is 0xe9)"},
        {"a\nb\n", "A\nB\nC\n\xe9\n", "/b:4: not valid UTF-8"},
    };
    CorpusText text;
    CorpusReport report;
    Error error;
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(path[0], CASE[i].source);
        if (CASE[i].target) write_file(path[1], CASE[i].target);
        assert_false(
            read_corpus(&text, &report, CASE[i].target != NULL, !CASE[i].target, &error));
        if (!strstr(error.text, CASE[i].wanted)) fail_msg("case %zu: %s", i, error.text);
    }
    assert_false(read_corpus(&text, &report, 0, 0, &error));
    CorpusFiles files = {.sources = 2, .targets = 1};
    assert_false(corpus_read(&text, &report, &files, &error));
    assert_string_equal(error.text,
                        "there are 2 source files but 1 target files: give one target "
                        "for every source");
    unlink(path[1]);
    assert_false(read_corpus(&text, &report, 1, 0, &error));
    assert_non_null(strstr(error.text, "No such file"));
}

/* Pair i is "source i" and "target i". */
static void numbered(CorpusText *text, CorpusReport *report, int pairs)
{
    FILE *source = fopen(path[0], "wb"), *target = fopen(path[1], "wb");
    for (int i = 0; i < pairs; i++) {
        fprintf(source, "source %d\n", i);
        fprintf(target, "target %d\n", i);
    }
    fclose(source), fclose(target);
    Error error;
    assert_true(read_corpus(text, report, 1, 0, &error));
}

static int number_of(const CorpusText *text, size_t pair)
{
    int number[SIDES];
    for (int side = 0; side < SIDES; side++) {
        size_t length;
        const char *got = corpus_sentence(text, side, pair, &length);
        char line[64] = "";
        memcpy(line, got, length);
        assert_int_equal(sscanf(line, side ? "target %d" : "source %d", &number[side]), 1);
    }
    assert_int_equal(number[SOURCE], number[TARGET]);
    assert_int_equal(text->line[pair].line, number[SOURCE] + 1);
    return number[SOURCE];
}

static void test_split(void **state)
{
    (void)state;
    enum { PAIRS = 1000 };
    static const size_t HELD[] = {0, 1, 10, 300, 999};
    int first_of_seed[2] = {0};
    for (size_t i = 0; i < sizeof HELD / sizeof *HELD; i++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            CorpusText text, held;
            CorpusReport report;
            Error error;
            numbered(&text, &report, PAIRS);
            assert_true(corpus_split(&held, &text, &report, HELD[i], seed, &error));
            assert_int_equal(held.pairs, HELD[i]);
            assert_int_equal(text.pairs, PAIRS - HELD[i]);
            assert_int_equal(report.kept, text.pairs);
            int seen[PAIRS] = {0}, last = -1;
            for (size_t k = 0; k < text.pairs; k++) {
                int number = number_of(&text, k);
                assert_true(number > last);
                seen[last = number]++;
            }
            last = -1;
            for (size_t k = 0; k < held.pairs; k++) {
                int number = number_of(&held, k);
                assert_true(number > last);
                seen[last = number]++;
            }
            for (int k = 0; k < PAIRS; k++) assert_int_equal(seen[k], 1);
            if (HELD[i] == 1) first_of_seed[seed - 1] = number_of(&held, 0);
            if (HELD[i] == 300) assert_in_range(number_of(&held, 150), 350, 650);
            assert_false(
                corpus_split(&(CorpusText){0}, &text, &report, text.pairs, seed, &error));
            corpus_text_free(&text);
            corpus_text_free(&held);
        }
    }
    assert_int_not_equal(first_of_seed[0], first_of_seed[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_pairs),
        cmocka_unit_test(test_what_is_no_corpus),
        cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
