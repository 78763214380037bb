/* corpus.c -- pairs in, pairs out: what is read, skipped, held out and encoded; and its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/packed.h"
#include "base/rng.h"
#include "data/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[4][96];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/qkv-corpus-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    for (int i = 0; i < 4; i++) snprintf(path[i], sizeof *path, "%s/%c", folder, 'a' + i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) unlink(path[i]);
    return rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Reads the first `pairs` two files as source and target, the next `tsvs` as TSV. */
static bool read_corpus(CorpusText *text, CorpusReport *report, int pairs, int tsvs,
                        Error *error)
{
    const char *const source[] = {path[0], path[2]}, *const target[] = {path[1], path[3]};
    const char *const tsv[] = {path[2 * pairs], path[3]};
    CorpusFiles files = {.sources = pairs,
                         .targets = pairs,
                         .tsvs = tsvs,
                         .source = source,
                         .target = target,
                         .tsv = tsv};
    return corpus_read(text, report, &files, error);
}

static void assert_pair(const CorpusText *text, size_t pair, const char *source,
                        const char *target)
{
    const char *const wanted[SIDES] = {source, target};
    for (int side = 0; side < SIDES; side++) {
        size_t length;
        const char *got = corpus_sentence(text, side, pair, &length);
        assert_int_equal(length, strlen(wanted[side]));
        assert_memory_equal(got, wanted[side], length);
    }
}

static void assert_lines(const CorpusSkipped *skipped, size_t count, size_t first,
                         size_t second)
{
    assert_int_equal(skipped->count, count);
    if (count > 0) assert_int_equal(skipped->first[0].line, first);
    if (count > 1) assert_int_equal(skipped->first[1].line, second);
}

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
    assert_int_equal(report.bytes[SOURCE], 7);
    assert_lines(&report.empty_source, 2, 3, 3);
    assert_int_equal(report.empty_source.first[1].file, 1);
    assert_lines(&report.empty_target, 2, 4, 4);
    assert_lines(&report.empty_both, 2, 5, 2);
    Sentences sentences = corpus_sentences(&text);
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

#define BOTH(tokenizer) ((const Tokenizer *const[SIDES]){tokenizer, tokenizer})

static Tokenizer *learn(const CorpusText *text, TokenizerType type, int vocab_size)
{
    Sentences sentences = corpus_sentences(text);
    TokenizerSettings settings = {.type = type, .vocab_size = vocab_size, .coverage = 1};
    unsigned char *model;
    size_t size;
    Error error;
    if (!tokenizer_train(&model, &size, &sentences, &settings, &error))
        fail_msg("%s", error.text);
    Tokenizer *tokenizer = tokenizer_load(model, size, &error);
    free(model);
    assert_non_null(tokenizer);
    return tokenizer;
}

/* Each kept sentence is its own encoding and ID_END; each side alone decides what is too long. */
static void test_encode(void **state)
{
    (void)state;
    write_file(path[0], "a b c\n\xc2\xa0\na b c d e f\nb\nc d\n\xe3\x80\x80\nd\n");
    write_file(path[1], "c b a\nb\nf f\na b c d e f\nd c\n\xc2\xa0\na b c d e\n");
    for (int keep = 0; keep < 2; keep++) {
        CorpusText text;
        CorpusReport report;
        Corpus corpus;
        Error error;
        assert_true(read_corpus(&text, &report, 1, 0, &error));
        assert_int_equal(text.pairs, 7);
        Tokenizer *tokenizer = learn(&text, TOKENIZER_WORD, 7 + 1);  // one letter too few
        assert_true(
            corpus_encode(&corpus, &text, &report, BOTH(tokenizer), NULL, 5, keep, &error));
        assert_int_equal(corpus.pairs, 3);
        assert_int_equal(corpus.vocab_size[TARGET], 8);
        assert_int_equal(report.read, 7);
        assert_int_equal(report.kept, 3);
        assert_lines(&report.too_long, 2, 3, 4);
        assert_lines(&report.empty_source, 1, 2, 0);
        assert_lines(&report.empty_both, 1, 6, 0);
        assert_lines(&report.empty_target, 0, 0, 0);
        static const char *const KEPT[][SIDES] = {
            {"a b c", "c b a"}, {"c d", "d c"}, {"d", "a b c d e"}};
        size_t unknown[SIDES] = {0, 0};
        for (size_t i = 0; i < 3; i++) {
            for (int side = 0; side < SIDES; side++) {
                Ids ids = {0};
                const char *line = KEPT[i][side];
                assert_true(tokenizer_encode(tokenizer, &ids, line, strlen(line), &error));
                size_t from = corpus.start[side][i], end = corpus.start[side][i + 1];
                assert_int_equal(end - from, ids.count + 1);
                assert_memory_equal(corpus.id[side] + from, ids.id,
                                    ids.count * sizeof(int32_t));
                assert_int_equal(corpus.id[side][end - 1], ID_END);
                for (size_t k = 0; k < ids.count; k++) unknown[side] += ids.id[k] == ID_UNKNOWN;
                free(ids.id);
            }
            if (keep) assert_pair(&text, i, KEPT[i][SOURCE], KEPT[i][TARGET]);
        }
        assert_int_equal(report.tokens[SOURCE], 3 + 2 + 1 + 3);
        assert_int_equal(report.tokens[TARGET], 3 + 2 + 5 + 3);
        assert_int_equal(report.unknown[SOURCE], unknown[SOURCE]);
        assert_int_equal(report.unknown[TARGET], unknown[TARGET]);
        assert_int_equal(report.unknown[TARGET], 1);
        static const unsigned LINES[] = {1, 5, 7};
        for (int i = 0; i < 3; i++)
            assert_int_equal(keep ? text.line[i].line : corpus.line[i].line, LINES[i]);
        if (keep) {
            assert_int_equal(text.pairs, 3);
        } else {
            assert_null(text.bytes[SOURCE]);
        }
        corpus_free(&corpus);
        corpus_text_free(&text);

        assert_true(read_corpus(&text, &report, 1, 0, &error));
        assert_false(
            corpus_encode(&corpus, &text, &report, BOTH(tokenizer), NULL, 0, keep, &error));
        assert_non_null(strstr(error.text, "no pair is left: 6 have more than 0 tokens"));
        assert_null(text.bytes[SOURCE]);
        assert_null(corpus.id[SOURCE]);
        tokenizer_free(tokenizer);
    }
}

static void test_overlap(void **state)
{
    (void)state;
    Corpus corpus[2];
    Tokenizer *tokenizer = NULL;
    Error error = {""};
    static const char *const LINES[2] = {"a b\nc\nd e\na b\nb a\n", "a b\nf\nd e\na b c\n"};
    for (int i = 0; i < 2; i++) {
        CorpusText text;
        CorpusReport report;
        write_file(path[0], LINES[i]);
        write_file(path[1], LINES[i]);
        assert_true(read_corpus(&text, &report, 1, 0, &error));
        if (!tokenizer) tokenizer = learn(&text, TOKENIZER_WORD, 20);
        assert_true(
            corpus_encode(&corpus[i], &text, &report, BOTH(tokenizer), NULL, 5, false, &error));
    }
    size_t pairs;
    assert_true(corpus_overlap(&pairs, &corpus[0], &corpus[1], &error));
    assert_int_equal(pairs, 3);  // "a b" twice, and "d e"
    assert_true(corpus_overlap(&pairs, &corpus[1], &corpus[0], &error));
    assert_int_equal(pairs, 2);
    corpus_free(&corpus[0]), corpus_free(&corpus[1]);
    tokenizer_free(tokenizer);
}

/* Several rounds of blocks: any number of threads gives the same ids. */
static void test_threads_change_nothing(void **state)
{
    (void)state;
    enum { PAIRS = 40000 };
    for (int side = 0; side < SIDES; side++) {
        FILE *file = fopen(path[side], "wb");
        for (int i = 0; i < PAIRS; i++)
            fprintf(file, "%.*s\n", 1 + (i * 7 + side) % 13, "a b c d e f g h");
        fclose(file);
    }
    Corpus corpus[3];
    Error error = {""};
    Tokenizer *tokenizer = NULL;
    for (int threads = 0; threads < 3; threads++) {
        CorpusText text;
        CorpusReport report;
        assert_true(read_corpus(&text, &report, 1, 0, &error));
        if (!tokenizer) tokenizer = learn(&text, TOKENIZER_WORD, 20);
        Workers *workers = threads ? workers_start(threads, &error) : NULL;
        assert_true(corpus_encode(&corpus[threads], &text, &report, BOTH(tokenizer), workers, 5,
                                  false, &error));
        if (workers) workers_stop(workers);
        assert_in_range(corpus[threads].pairs, PAIRS / 2, PAIRS - 1);  // some are too long
        for (int side = 0; side < SIDES; side++) {
            const Corpus *a = &corpus[0], *b = &corpus[threads];
            assert_int_equal(a->pairs, b->pairs);
            assert_memory_equal(a->start[side], b->start[side],
                                (a->pairs + 1) * sizeof(size_t));
            assert_memory_equal(a->id[side], b->id[side],
                                a->start[side][a->pairs] * sizeof(int32_t));
        }
    }
    for (int i = 0; i < 3; i++) corpus_free(&corpus[i]);
    tokenizer_free(tokenizer);
}

#if !defined(__SANITIZE_ADDRESS__)
static long peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}
#endif

/* Reading and encoding 200,000 pairs takes at most 1.5 times their text, plus the tokenizer's own
 * buffers. In a child, whose peak is its own. */
static void test_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip();  // its own memory drowns the corpus
#else
    enum { PAIRS = 200000 };
    static const char *const WORD[] = {
        "the",   "cat", "sits",   "under",   "a",      "large",   "table",  "while", "rain",
        "falls", "on",  "silent", "gardens", "beyond", "windows", "nobody", "opens", "anymore"};
    Rng rng = rng_stream(11, RNG_TEST, 0);
    for (int side = 0; side < SIDES; side++) {
        FILE *file = fopen(path[side], "wb");
        for (int i = 0; i < PAIRS; i++) {
            for (uint32_t k = 8 + rng_below(&rng, 16); k > 0; k--) {
                fprintf(file, "%s ", WORD[rng_below(&rng, sizeof WORD / sizeof *WORD)]);
            }
            fputc('\n', file);
        }
        fclose(file);
    }
    pid_t pid = fork();
    if (pid == 0) {
        CorpusText text;
        CorpusReport report;
        Corpus corpus;
        Error error;
        CorpusText words = {.pairs = 1};
        char line[512] = "";
        for (size_t i = 0; i < sizeof WORD / sizeof *WORD; i++)
            strcat(strcat(line, WORD[i]), " ");
        for (int side = 0; side < SIDES; side++) {
            words.bytes[side] = strdup(line);
            words.start[side] = calloc(2, sizeof(size_t));
            words.start[side][1] = strlen(line);
        }
        Tokenizer *tokenizer = learn(&words, TOKENIZER_WORD, 100);
        long before = peak_memory();
        if (!read_corpus(&text, &report, 1, 0, &error)) _exit(2);
        double size = (double)(report.bytes[SOURCE] + report.bytes[TARGET]);
        double read = (double)(peak_memory() - before) / size;
        if (!corpus_encode(&corpus, &text, &report, BOTH(tokenizer), NULL, 100, false, &error))
            _exit(3);
        double all = (double)(peak_memory() - before) / size;
        if (report.kept != PAIRS) _exit(4);
        fprintf(stderr, "%.1f MB of text: %.2f times that read, %.2f encoded\n", size / 1e6,
                read, all);
        _exit(read < 1.25 && all < 1.4 ? 0 : 5);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_pairs), cmocka_unit_test(test_what_is_no_corpus),
        cmocka_unit_test(test_split),       cmocka_unit_test(test_encode),
        cmocka_unit_test(test_overlap),     cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
