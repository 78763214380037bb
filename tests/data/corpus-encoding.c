/* corpus-encoding.c -- text to ids: what is kept, the same by all threads, in little memory. */
#include "base/packed.h"
#include "base/rng.h"
#include "tests/fixtures/corpus-files.h"
#include "tests/fixtures/test.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define BOTH(tokenizer) ((const Tokenizer *const[SIDES]){tokenizer, tokenizer})

static Tokenizer *learn(const CorpusText *text, TokenizerType type, int vocab_size)
{
    Sentences sentences = corpus_sentences(text, SIDES);
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
        assert_lines(&report.skipped[TOO_LONG], 2, 3, 4);
        assert_lines(&report.skipped[EMPTY_SOURCE], 1, 2, 0);
        assert_lines(&report.skipped[EMPTY_BOTH], 1, 6, 0);
        assert_lines(&report.skipped[EMPTY_TARGET], 0, 0, 0);
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
        for (int i = 0; i < 3; i++) assert_int_equal(corpus.line[i].line, LINES[i]);
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
        double size = (double)(text.start[SOURCE][text.pairs] + text.start[TARGET][text.pairs]);
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
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
