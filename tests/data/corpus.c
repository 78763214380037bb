/* corpus.c -- the pairs that are read, left out, held out and encoded, by any number of threads
 * and in little memory. */
#include "base/packed.h"
#include "base/rng.h"
#include "data/corpusreader.h"
#include "data/text.h"
#include "tests/fixtures/learned-tokenizer.h"
#include "tests/fixtures/temporary.h"
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[TEMPORARY_SIZE], path[3][TEMPORARY_SIZE + 8];

static CorpusText text;
static CorpusReport report;
static Error error;

FIXTURE(setup)
{
    if (!temporary_folder(folder, NULL)) return -1;
    for (int i = 0; i < 3; i++) snprintf(path[i], sizeof *path, "%s/%c", folder, 'a' + i);
    return 0;
}

FIXTURE(teardown)
{
    for (int i = 0; i < 3; i++) unlink(path[i]);
    return rmdir(folder);
}

static void write_file(const char *name, const char *bytes)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(bytes, file);
    fclose(file);
}

/* Reads path[0] and path[1] as source and target, and the next path as TSV. */
static bool read_corpus(bool pairs, bool tsvs)
{
    CorpusFile file[] = {{.source = path[0], .target = path[1]},
                         {.source = path[pairs ? 2 : 0], .column = {1, 2}}};
    CorpusFiles files = {.file = file + !pairs, .count = pairs + tsvs};
    return corpus_read(&text, &report, &files, &error);
}

static void assert_pair(const CorpusText *of, size_t pair, const char *source,
                        const char *target)
{
    const char *const wanted[SIDES] = {source, target};
    for (int side = 0; side < SIDES; side++) {
        CorpusSentence got = corpus_sentence(of, side, pair);
        assert_int_equal(got.length, strlen(wanted[side]));
        assert_memory_equal(got.text, wanted[side], got.length);
    }
}

static void assert_lines(const CorpusSkipped *skipped, size_t count, size_t first,
                         size_t second)
{
    assert_int_equal(skipped->count, count);
    if (count > 0) assert_int_equal(skipped->first[0].line, first);
    if (count > 1) assert_int_equal(skipped->first[1].line, second);
}

/* ---- text ---- */

TEST(reads_pairs)
{
    write_file(path[0], "a\nb\n\nd\n \t\nf");
    write_file(path[1], "A\nB\nC\n\n\nF\n");
    write_file(path[2], "g\tG\th\n\n\tI\nj\t\nk k\tK K\n");
    assert_true(read_corpus(1, 1));
    assert_int_equal(text.pairs, 5);
    static const char *const PAIR[][SIDES] = {
        {"a", "A"}, {"b", "B"}, {"f", "F"}, {"g", "G"}, {"k k", "K K"}};
    for (size_t i = 0; i < 5; i++) assert_pair(&text, i, PAIR[i][SOURCE], PAIR[i][TARGET]);
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
    corpus_text_free(&text);
}

/* A blank line of a file says nothing about the lines of another. */
TEST(one_blank_line)
{
    write_file(path[0], "a\nb\n");
    write_file(path[1], "A\nB\u2028B\n");
    write_file(path[2], "\n");
    assert_true(read_corpus(1, 1));
    assert_int_equal(text.pairs, 2);
    corpus_text_free(&text);
}

/* A unit of a TMX without a language has a reason of its own, and the report says which were read. */
TEST(units_of_a_tmx)
{
#define UNIT(s, t)                                                                             \
    "<tu><tuv xml:lang='" s "'><seg>a</seg></tuv><tuv xml:lang='" t                            \
    "'><seg>b</seg></tuv></tu>\n"
    write_file(path[0], "<tmx><body>" UNIT("en", "fr") UNIT("en", "de") "</body></tmx>");
    assert_true(read_corpus(0, 1));
    assert_int_equal(text.pairs, 1);
    assert_lines(&report.skipped[LACKS_LANGUAGE], 1, 2, 0);
    assert_string_equal(report.columns, "source en, target fr, of en, fr, de");
    corpus_text_free(&text);
    CorpusFile file = {.source = path[0], .column = {1, 2}, .languages = "de,fr"};
    CorpusFiles files = {.file = &file, .count = 1};
    assert_false(corpus_read(&text, &report, &files, &error));
    assert_non_null(strstr(
        error.text, "/a has no pair with text on both sides: source de, target fr, of "));
    write_file(path[0], "a\tb\n");
    assert_false(corpus_read(&text, &report, &files, &error));
    assert_non_null(strstr(error.text, "names languages, but"));
}

/* Copies come after all pairs, in their order. */
TEST(repeated)
{
    write_file(path[0], "a\nb\n");
    write_file(path[1], "A\nB\n");
    write_file(path[2], "c\tC\n");
    assert_true(read_corpus(1, 1));
    CorpusFile file[] = {{.times = 1}, {.times = 3}};
    assert_true(
        corpus_repeat(&text, &report, &(CorpusFiles){.file = file, .count = 2}, &error));
    assert_int_equal(text.pairs, 5);
    assert_int_equal(report.kept, 5);
    assert_int_equal(report.repeated, 2);
    for (size_t i = 2; i < 5; i++) assert_pair(&text, i, "c", "C");
    file[0].times = 2;
    file[1].times = 1;
    assert_true(
        corpus_repeat(&text, &report, &(CorpusFiles){.file = file, .count = 2}, &error));
    assert_int_equal(text.pairs, 7);
    assert_pair(&text, 5, "a", "A");
    assert_pair(&text, 6, "b", "B");
    assert_int_equal(text.line[6].line, 2);
    corpus_text_free(&text);
}

TEST(bad_files)
{
    static const struct {
        const char *source, *target;  // target NULL: source is a TSV file
        const char *wanted;
    } CASE[] = {
        {"a\nb\nc\nd\n", "A\nB\n", "/a has 4 lines but "},
        {"a\nb\nc\nd\n", "A\nB\n", "/b has 2: they must match line by line"},
        {"", "A\n", "has 0 lines but "},
        {"", "", "/a is empty: there is nothing to learn from"},
        {"\n\nc", "A\n\n\n", "/a has no pair with text on both sides"},
        {"\tA\ta\n\tB\tb\n", NULL,
         "both sides: source 1, target 2, of 3 (`columns` names others)"},
        {"a\tA\nb\n", NULL, "/a:2: there is no TAB: a line is source TAB target"},
        {"<?xml version=\"1.0\"?>\n", "A\n", "/a is XML: of a TMX"},
        {"a\rb\rc\n", "A\n", "/a:1: the line has a carriage return inside"},
        {"a\nb\n", "A\nB\rC\n", "/b:2: the line has a carriage return inside: give <(tr "},
        {"a\tA\nb\tB\rc\tC\r", NULL, "/a:2: the line has a carriage return inside"},
        {"a\tA\u2028b\tB\u2028", NULL,
         "/a has one line: the lines seem to end in U+2028: give"},
        {"x\xc2\x85y\n", "X\xc2\x85Y\n",
         "/a has one line: the lines seem to end in U+0085: give"},
        {"a\tA\n\xff\tB\n", NULL, "/a:2: not valid UTF-8 (byte 1 of the line is 0xff)"},
        {"a\nb\xe9\n", "A\nB\n", "/a:2: not valid UTF-8 (byte 2 of the line is 0xe9)"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(path[0], CASE[i].source);
        if (CASE[i].target) write_file(path[1], CASE[i].target);
        assert_false(read_corpus(CASE[i].target != NULL, !CASE[i].target));
        if (!strstr(error.text, CASE[i].wanted)) fail_msg("case %zu: %s", i, error.text);
    }
    unlink(path[1]);
    assert_false(read_corpus(1, 0));
    assert_non_null(strstr(error.text, "No such file"));
}

/* Pair i is "source i" and "target i". */
static void numbered(int pairs)
{
    FILE *source = fopen(path[0], "wb"), *target = fopen(path[1], "wb");
    for (int i = 0; i < pairs; i++) {
        fprintf(source, "source %d\n", i);
        fprintf(target, "target %d\n", i);
    }
    fclose(source), fclose(target);
    assert_true(read_corpus(1, 0));
}

/* The number of a pair, which is also that of its line. */
static int number_of(const CorpusText *of, size_t pair)
{
    int number = (int)of->line[pair].line - 1;
    char source[32], target[32];
    snprintf(source, sizeof source, "source %d", number);
    snprintf(target, sizeof target, "target %d", number);
    assert_pair(of, pair, source, target);
    return number;
}

TEST(split)
{
    enum { PAIRS = 1000 };
    static const size_t HELD[] = {0, 1, 10, 300, 999};
    int first_of_seed[2] = {0};
    for (size_t i = 0; i < sizeof HELD / sizeof *HELD; i++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            CorpusText held;
            numbered(PAIRS);
            assert_true(corpus_split(&held, &text, &report, HELD[i], seed, &error));
            assert_int_equal(held.pairs, HELD[i]);
            assert_int_equal(text.pairs, PAIRS - HELD[i]);
            assert_int_equal(report.kept, text.pairs);
            /* Both are in order; together they are all pairs. */
            for (size_t k = 0, t = 0, h = 0; k < PAIRS; k++) {
                if (t < text.pairs && number_of(&text, t) == (int)k) t++;
                else assert_int_equal(number_of(&held, h++), k);
            }
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

/* The other pairs of a held-out source leave the text, unless they are more than a tenth of it. */
TEST(held_out_sentences)
{
    for (int copies = 2; copies < 40; copies += 30) {
        FILE *source = fopen(path[0], "wb"), *target = fopen(path[1], "wb");
        for (int i = 0; i < 1000; i++)
            fprintf(source, i % 3 ? "%d\n" : " %d \n", i < 900 ? i : i / copies * copies);
        for (int i = 0; i < 1000; i++) fprintf(target, "%d\n", i);
        fclose(source), fclose(target);
        assert_true(read_corpus(1, 0));
        CorpusText held;
        assert_true(corpus_split(&held, &text, &report, 500, 1, &error));
        int common = 0;
        for (size_t i = 0; i < text.pairs; i++)
            for (size_t k = 0; k < held.pairs; k++) {
                CorpusSentence a = corpus_sentence(&text, SOURCE, i),
                               b = corpus_sentence(&held, SOURCE, k);
                common += corpus_hash(0, a) == corpus_hash(0, b);
            }
        assert_int_equal(held.pairs, 500);
        assert_int_equal(text.pairs, 500 - report.common);
        if (copies == 2) assert_int_equal(common, 0);
        assert_int_equal(!report.common, copies > 2 && common);
        corpus_text_free(&text), corpus_text_free(&held);
    }
}

/* A sentence that is there often stays in the text, which needs it. */
TEST(held_out_are_rare)
{
    FILE *source = fopen(path[0], "wb"), *target = fopen(path[1], "wb");
    for (int i = 0; i < 1000; i++) fprintf(source, "%d\n", i % 3 ? i : 0);
    for (int i = 0; i < 1000; i++) fprintf(target, "%d\n", i);
    fclose(source), fclose(target);
    assert_true(read_corpus(1, 0));
    CorpusText held;
    assert_true(corpus_split(&held, &text, &report, 300, 1, &error));
    for (size_t i = 0; i < held.pairs; i++)
        assert_int_not_equal(*corpus_sentence(&held, SOURCE, i).text, '0');
    assert_int_equal(held.pairs, 300);
    assert_int_equal(report.common, 0);
    assert_int_equal(text.pairs, 700);
    corpus_text_free(&text), corpus_text_free(&held);
}

/* ---- ids ---- */

/* Learns the words of the text. */
static Tokenizer *learn_words(int vocab_size, int normalization)
{
    TokenizerSettings settings = {
        .type = TOKENIZER_WORD, .vocab_size = vocab_size, .normalization = normalization};
    unsigned char *model;
    size_t size;
    Sentences sides[] = {corpus_sentences(&text, SOURCE), corpus_sentences(&text, TARGET)};
    assert_true(tokenizer_train(&model, &size, sides, SIDES, &settings, &error));
    Tokenizer *tokenizer = tokenizer_load(model, size, &error);
    assert_non_null(tokenizer);
    free(model);
    return tokenizer;
}

/* Reads the corpus in path[0] and path[1]. Learns words from it, unless it has a tokenizer, and
 * encodes it with at most 5 tokens a sentence. */
static Corpus encoded(Tokenizer **tokenizer, Workers *workers)
{
    Corpus corpus;
    assert_true(read_corpus(1, 0));
    if (!*tokenizer) *tokenizer = learn_words(20, NORMALIZATION_IDENTITY);
    const Tokenizer *const both[] = {*tokenizer, *tokenizer};
    if (!corpus_encode(&corpus, &text, &report, both, workers, 5, false, &error))
        fail_msg("%s", error.text);
    return corpus;
}

/* Each kept sentence is its own encoding and ID_END; each side alone decides what is too
 * long. */
TEST(encoded_sentences)
{
    write_file(path[0], "a b c\n\xc2\xa0\na b c d e f\nb\nc d\n\xe3\x80\x80\nd\n");
    write_file(path[1], "c b a\nb\nf f\na b c d e f\nd c\n\xc2\xa0\na b c d e\n");
    assert_true(read_corpus(1, 0));
    Tokenizer *tokenizer = learn_words(7 + 1, 0);  // one letter too few
    const Tokenizer *const both[] = {tokenizer, tokenizer};
    corpus_text_free(&text);
    for (int keep = 0; keep < 2; keep++) {
        Corpus corpus;
        assert_true(read_corpus(1, 0));
        assert_int_equal(text.pairs, 7);
        assert_true(corpus_encode(&corpus, &text, &report, both, NULL, 5, keep, &error));
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
                Ids ids = encode(tokenizer, KEPT[i][side]);
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
        if (keep) assert_int_equal(text.pairs, 3);
        else assert_null(text.bytes[SOURCE]);
        corpus_free(&corpus);
        corpus_text_free(&text);

        assert_true(read_corpus(1, 0));
        assert_false(corpus_encode(&corpus, &text, &report, both, NULL, 0, keep, &error));
        assert_non_null(strstr(error.text, "no pair is left: 6 have more than 0 tokens"));
        assert_null(text.bytes[SOURCE]);
        assert_null(corpus.id[SOURCE]);
    }
    tokenizer_free(tokenizer);
}

TEST(overlap)
{
    Corpus corpus[2];
    Tokenizer *tokenizer = NULL;
    static const char *const LINES[2] = {"a b\nc\nd e\na b\nb a\n", "a b\nf\nd e\na b c\n"};
    for (int i = 0; i < 2; i++) {
        write_file(path[0], LINES[i]);
        write_file(path[1], LINES[i]);
        corpus[i] = encoded(&tokenizer, NULL);
    }
    size_t pairs;
    assert_true(corpus_overlap(&pairs, &corpus[0], &corpus[1], &error));
    assert_int_equal(pairs, 3);  // "a b" twice, and "d e"
    assert_true(corpus_overlap(&pairs, &corpus[1], &corpus[0], &error));
    assert_int_equal(pairs, 2);
    assert_true(corpus_overlap(&pairs, &corpus[1], &corpus[1], &error));
    assert_int_equal(pairs, 3);  // not "f", which is unknown
    corpus_free(&corpus[0]), corpus_free(&corpus[1]);
    tokenizer_free(tokenizer);
}

/* Any number of threads gives the same ids, for more pairs than the threads encode at a
 * time. */
TEST(threads_change_nothing)
{
    enum { PAIRS = 20000 };
    for (int side = 0; side < SIDES; side++) {
        FILE *file = fopen(path[side], "wb");
        for (int i = 0; i < PAIRS; i++)
            fprintf(file, "%.*s\n", 1 + (i * 7 + side) % 13, "a b c d e f g h");
        fclose(file);
    }
    Tokenizer *tokenizer = NULL;
    Corpus alone = encoded(&tokenizer, NULL);
    assert_in_range(alone.pairs, PAIRS / 2, PAIRS - 1);  // some are too long
    for (int threads = 1; threads < 3; threads++) {
        Workers *workers = workers_start(threads, NULL);
        Corpus corpus = encoded(&tokenizer, workers);
        workers_stop(workers);
        assert_int_equal(alone.pairs, corpus.pairs);
        for (int side = 0; side < SIDES; side++) {
            assert_memory_equal(alone.start[side], corpus.start[side],
                                (alone.pairs + 1) * sizeof(size_t));
            assert_memory_equal(alone.id[side], corpus.id[side],
                                alone.start[side][alone.pairs] * sizeof(int32_t));
        }
        corpus_free(&corpus);
    }
    corpus_free(&alone);
    tokenizer_free(tokenizer);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static double peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* The exit status of the child: 0, or what is wrong. */
static int measure_memory(const Tokenizer *tokenizer, size_t pairs)
{
    Corpus corpus;
    const Tokenizer *const both[] = {tokenizer, tokenizer};
    double before = peak_memory();
    if (!read_corpus(1, 0)) return 2;
    double size = (double)(text.start[SOURCE][pairs] + text.start[TARGET][pairs]);
    double read = (peak_memory() - before) / size;
    if (!corpus_encode(&corpus, &text, &report, both, NULL, 100, false, &error)) return 3;
    double all = (peak_memory() - before) / size;
    fprintf(stderr, "%.1f MB of text: %.2f times that read, %.2f encoded\n", size / 1e6, read,
            all);
    return report.kept == pairs && read < 1.25 && all < 1.4 ? 0 : 4;
}
#endif

/* Reading 200,000 pairs takes at most 1.25 times their text, and encoding them 1.4 times. In a
 * child process, which has a peak of its own. */
TEST(memory)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();  // the sanitizer's own memory is larger than the corpus
#else
    enum { PAIRS = 200000, WORDS = 18 };
    static const char *const WORD[WORDS] = {
        "the",   "cat", "sits",   "under",   "a",      "large",   "table",  "while", "rain",
        "falls", "on",  "silent", "gardens", "beyond", "windows", "nobody", "opens", "anymore"};
    Rng rng = rng_stream(11, RNG_TEST, 0);
    for (int side = 0; side < SIDES; side++) {
        FILE *file = fopen(path[side], "wb");
        for (int i = 0; i < PAIRS; i++) {
            for (uint32_t k = 8 + rng_below(&rng, 16); k > 0; k--)
                fprintf(file, "%s ", WORD[rng_below(&rng, WORDS)]);
            fputc('\n', file);
        }
        fclose(file);
    }
    TokenizerSettings settings = {
        .type = TOKENIZER_WORD, .vocab_size = 100, .normalization = NORMALIZATION_IDENTITY};
    Tokenizer *tokenizer = learn(sentences_of(WORD, WORDS), settings);
    pid_t pid = fork();
    if (pid == 0) _exit(measure_memory(tokenizer, PAIRS));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    tokenizer_free(tokenizer);
#endif
}

TEST_MAIN("corpus", setup, teardown)
