/* resampler.c -- the cut of a sentence depends on seed, epoch, pair and side alone. */
#include "data/resampler.h"
#include "base/packed.h"
#include "base/temporary.h"
#include "data/batches.h"
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A corpus of so many pairs, the same text on both sides, and what cuts it. */
typedef struct World {
    char path[TEMPORARY_SIZE];
    CorpusText text;
    CorpusReport report;
    Corpus corpus;
    Tokenizer *tokenizer;
    Subwords *subwords;
    Resampler resampler;
} World;

enum { PAIRS = 400 };
static unsigned char *model[2];  // bpe, unigram
static size_t model_size[2];

static void write_lines(char path[TEMPORARY_SIZE], int pairs)
{
    int file = temporary_file(path, NULL);
    FILE *out = fdopen(file, "w");
    static const char *const WORD[] = {"winter",  "summer",    "children", "garden",
                                       "playing", "beautiful", "almost",   "always",
                                       "music",   "september"};
    for (int i = 0; i < pairs; i++) {
        for (int w = 0; w < 3 + i % 5; w++)
            fprintf(out, "%s%s", w ? " " : "", WORD[(i * 7 + w * (i % 3 + 1)) % 10]);
        fputc('\n', out);
    }
    fclose(out);
}

static void world_open(World *world, int pairs, int type, double amount, int max_length,
                       uint64_t seed)
{
    Error error = {""};
    write_lines(world->path, pairs);
    const char *const file[] = {world->path};
    CorpusFiles files = {.sources = 1, .targets = 1, .source = file, .target = file};
    bool good = corpus_read(&world->text, &world->report, &files, &error);
    if (good && !model[type]) {
        Sentences sentences = corpus_sentences(&world->text);
        TokenizerSettings settings = {.type = type ? TOKENIZER_UNIGRAM : TOKENIZER_BPE,
                                      .vocab_size = type ? 60 : 90};
        good = tokenizer_train(&model[type], &model_size[type], &sentences, &settings, &error);
    }
    world->tokenizer = good ? tokenizer_load(model[type], model_size[type], &error) : NULL;
    world->subwords = subwords_create(model[type], model_size[type], amount, &error);
    if (!world->tokenizer || !world->subwords) fail_msg("%s", error.text);
    const Tokenizer *const tokenizers[] = {world->tokenizer, world->tokenizer};
    Subwords *const subwords[] = {world->subwords, world->subwords};
    if (!corpus_encode(&world->corpus, &world->text, &world->report, tokenizers, NULL,
                       max_length, true, &error) ||
        !resampler_create(&world->resampler, &world->corpus, &world->text, tokenizers, subwords,
                          max_length, seed, &error))
        fail_msg("%s", error.text);
    corpus_text_free(&world->text);
    unlink(world->path);
}

static void world_close(World *world)
{
    resampler_free(&world->resampler);
    corpus_free(&world->corpus);
    subwords_free(world->subwords);
    tokenizer_free(world->tokenizer);
}

static void go_to(World *world, uint64_t epoch)
{
    Error error = {""};
    if (!resampler_epoch(&world->resampler, epoch, &error)) fail_msg("%s", error.text);
}

static bool same_sentence(const Corpus *a, int a_side, const Corpus *b, int b_side, size_t pair)
{
    const size_t *p = a->start[a_side] + pair, *q = b->start[b_side] + pair;
    return p[1] - p[0] == q[1] - q[0] &&
           !memcmp(a->id[a_side] + p[0], b->id[b_side] + q[0], (p[1] - p[0]) * sizeof(int32_t));
}

/* How many sentences of the first pairs are equal on both sides of the comparison. */
static size_t equal(const Corpus *a, const Corpus *b, size_t pairs)
{
    size_t count = 0;
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < pairs; i++) count += same_sentence(a, side, b, side, i);
    return count;
}

static const double AMOUNT[2] = {0.2, 0.03};

static void test_nothing_but_seed_epoch_pair_and_side(void **state)
{
    (void)state;
    for (int type = 0; type < 2; type++) {
        World one, other, seeded, few;
        world_open(&one, PAIRS, type, AMOUNT[type], 100, 1);
        world_open(&other, PAIRS, type, AMOUNT[type], 100, 1);
        world_open(&seeded, PAIRS, type, AMOUNT[type], 100, 2);
        world_open(&few, 30, type, AMOUNT[type], 100, 1);
        for (uint64_t epoch = 0; epoch < 5; epoch++) go_to(&one, epoch);
        go_to(&other, 4);
        assert_int_equal(equal(&one.resampler.corpus, &other.resampler.corpus, PAIRS),
                         2 * PAIRS);
        go_to(&other, 5);
        assert_in_range(equal(&one.resampler.corpus, &other.resampler.corpus, PAIRS), 1, PAIRS);
        go_to(&other, 4);
        assert_int_equal(equal(&one.resampler.corpus, &other.resampler.corpus, PAIRS),
                         2 * PAIRS);
        go_to(&seeded, 4), go_to(&few, 4);
        assert_in_range(equal(&one.resampler.corpus, &seeded.resampler.corpus, PAIRS), 1,
                        PAIRS);
        assert_int_equal(equal(&one.resampler.corpus, &few.resampler.corpus, 30), 60);
        size_t alike = 0;  // the sides have the same text, but not the same numbers
        const Corpus *corpus = &one.resampler.corpus;
        for (size_t i = 0; i < PAIRS; i++)
            alike += same_sentence(corpus, SOURCE, corpus, TARGET, i);
        assert_in_range(alike, 1, PAIRS / 2);
        world_close(&one), world_close(&other), world_close(&seeded), world_close(&few);
    }
}

static void test_a_large_epoch_has_numbers_of_its_own(void **state)
{
    (void)state;
    World one, other;
    world_open(&one, PAIRS, 0, 0.2, 100, 1);
    world_open(&other, PAIRS, 0, 0.2, 100, 1);
    go_to(&one, 0), go_to(&other, (uint64_t)1 << 30);
    assert_in_range(equal(&one.resampler.corpus, &other.resampler.corpus, PAIRS), 1, PAIRS);
    world_close(&one), world_close(&other);
}

/* What would be too long keeps its usual ids; everything ends in </s>. */
static void test_too_long(void **state)
{
    (void)state;
    for (int type = 0; type < 2; type++) {
        World world;
        world_open(&world, PAIRS, type, type ? 0.03 : 0.2, 14, 1);
        const Corpus *usual = &world.corpus, *drawn = &world.resampler.corpus;
        assert_in_range(usual->pairs, 40, PAIRS);
        go_to(&world, 0);
        size_t kept = equal(usual, drawn, usual->pairs);
        assert_in_range(kept, 40, 2 * usual->pairs - 40);
        for (int side = 0; side < SIDES; side++) {
            for (size_t i = 0; i < usual->pairs; i++) {
                size_t end = drawn->start[side][i + 1];
                assert_in_range(end - drawn->start[side][i], 2, 15);
                assert_int_equal(drawn->id[side][end - 1], ID_END);
            }
        }
        world_close(&world);
    }
}

/* Updates are made of the epoch's own lengths, and can be asked for in any order. */
static void test_batches(void **state)
{
    (void)state;
    World one, other;
    Error error = {""};
    world_open(&one, PAIRS, 0, 0.3, 100, 1);
    world_open(&other, PAIRS, 0, 0.3, 100, 1);
    Batches in_turn, jumping;
    assert_true(batches_init(&in_turn, &one.corpus, 3, 90, &error));
    assert_true(batches_init(&jumping, &other.corpus, 3, 90, &error));
    batches_resample(&in_turn, &one.resampler);
    batches_resample(&jumping, &other.resampler);
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        size_t updates, tokens = 0;
        Packed a[SIDES], b[SIDES];
        assert_true(batches_updates(&in_turn, &updates, epoch, &error));
        for (size_t u = 0; u < updates; u++) {
            assert_true(batches_update(&in_turn, &a[0], &a[1], epoch, u, &error));
            assert_in_range(a[0].rows + a[1].rows, 4, 90);
            tokens += (size_t)(a[0].rows + a[1].rows);
        }
        assert_int_equal(tokens, one.resampler.corpus.start[0][PAIRS] +
                                     one.resampler.corpus.start[1][PAIRS]);
        assert_true(tokens > one.corpus.start[0][PAIRS] + one.corpus.start[1][PAIRS]);
        if (epoch % 2 == 0) continue;
        assert_true(batches_update(&jumping, &b[0], &b[1], epoch, updates - 1, &error));
        for (int side = 0; side < SIDES; side++) {
            assert_int_equal(a[side].rows, b[side].rows);
            assert_memory_equal(a[side].id, b[side].id, (size_t)a[side].rows * sizeof(int));
        }
    }
    batches_free(&in_turn), batches_free(&jumping);
    world_close(&one), world_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_but_seed_epoch_pair_and_side),
        cmocka_unit_test(test_a_large_epoch_has_numbers_of_its_own),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_batches),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    free(model[0]), free(model[1]);
    return status;
}
