/* batches.c -- every pair once an epoch, updates as full as possible, the same in any order. */
#include "data/batches.h"
#include "base/rng.h"
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

static Error error;
static int count;  // of the pairs of the last batch

/* A side of pair i has 1 to longest tokens 2 i + 2 + side, and ID_END. */
static Corpus corpus_of(size_t pairs, uint32_t longest)
{
    Corpus corpus = {.pairs = pairs, .vocab_size = {1 << 30, 1 << 30}};
    Rng rng = rng_stream(9, RNG_TEST, pairs);
    for (int side = 0; side < SIDES; side++) {
        corpus.start[side] = calloc(pairs + 1, sizeof(size_t));
        corpus.id[side] = malloc(pairs * (longest + 1) * sizeof(int32_t));
        size_t at = 0;
        for (size_t i = 0; i < pairs; i++) {
            corpus.start[side][i] = at;
            for (uint32_t k = 1 + rng_below(&rng, longest); k > 0; k--)
                corpus.id[side][at++] = (int32_t)(2 * i + 2) + side;
            corpus.id[side][at++] = ID_END;
        }
        corpus.start[side][pairs] = at;
    }
    return corpus;
}

/* Checks that a pair of the last batch is that pair of the corpus. */
static void check_pair(const Corpus *corpus, const PairIds *pair)
{
    assert_true(pair->number < corpus->pairs);
    for (int side = 0; side < SIDES; side++) {
        const size_t *start = corpus->start[side] + pair->number;
        assert_ptr_equal(pair->id[side], corpus->id[side] + start[0]);
        assert_int_equal(pair->length[side], start[1] - start[0]);
        assert_int_equal(pair->id[side][0], 2 * pair->number + 2 + (size_t)side);
        assert_int_equal(pair->id[side][pair->length[side] - 1], ID_END);
    }
}

static Batches batches_of(const Corpus *corpus, uint64_t seed, int batch_tokens)
{
    Batches batches;
    assert_true(batches_init(&batches, corpus, seed, batch_tokens, &error));
    return batches;
}

static size_t tokens_of(const PairIds *pair)
{
    return (size_t)(pair->length[SOURCE] + pair->length[TARGET]);
}

/* Returns the tokens of the update. */
static size_t update(Batches *batches, uint64_t epoch, size_t u)
{
    size_t tokens = 0;
    assert_true(batches_update(batches, &count, epoch, u, &error));
    for (int i = 0; i < count; i++) {
        check_pair(batches->corpus, &batches->pair[i]);
        tokens += tokens_of(&batches->pair[i]);
    }
    return tokens;
}

TEST(an_epoch_is_every_pair_once)
{
    static const struct {
        size_t pairs;
        uint32_t longest;
        int batch_tokens;
    } CASE[] = {{1, 1, 1},       {1, 30, 1000}, {7, 5, 1},     {100, 20, 64},
                {1000, 30, 500}, {1000, 1, 4},  {333, 60, 40}, {50, 9, 1 << 30}};
    for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
        Corpus corpus = corpus_of(CASE[c].pairs, CASE[c].longest);
        Batches batches = batches_of(&corpus, 5, CASE[c].batch_tokens);
        size_t most = (size_t)CASE[c].batch_tokens;
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            size_t updates = batches_updates(&batches, epoch), last = 0;
            int *seen = calloc(corpus.pairs, sizeof *seen);
            for (size_t u = 0; u < updates; u++) {
                size_t tokens = update(&batches, epoch, u);
                assert_true(tokens <= most || count == 1);
                if (u > 0) assert_true(last + tokens_of(batches.pair) > most);  // did not fit
                last = tokens;
                for (int i = 0; i < count; i++) seen[batches.pair[i].number]++;
            }
            for (size_t i = 0; i < corpus.pairs; i++) assert_int_equal(seen[i], 1);
            free(seen);
        }
        batches_free(&batches);
        corpus_free(&corpus);
    }
}

/* Any (epoch, update) is the same when all are read in order and when they are not. */
TEST(random_access)
{
    Corpus corpus = corpus_of(500, 20);
    Batches in_turn = batches_of(&corpus, 42, 200), jumping = batches_of(&corpus, 42, 200);
    Rng rng = rng_stream(2, RNG_TEST, 0);
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        size_t updates = batches_updates(&in_turn, epoch);
        for (size_t u = 0; u < updates; u++) {
            update(&in_turn, epoch, u);
            int first = count;
            if (rng_below(&rng, 2)) update(&jumping, rng_below(&rng, 9), 3);
            update(&jumping, epoch, u);
            assert_int_equal(first, count);
            assert_memory_equal(in_turn.pair, jumping.pair, (size_t)count * sizeof(PairIds));
        }
    }
    batches_free(&in_turn);
    batches_free(&jumping);
    corpus_free(&corpus);
}

/* The order is a permutation that differs by seed and epoch, and puts each pair anywhere. */
TEST(order)
{
    enum { PAIRS = 5, EPOCHS = 6000 };
    Corpus corpus = corpus_of(PAIRS, 3);
    Batches one = batches_of(&corpus, 1, 10), two = batches_of(&corpus, 2, 10);
    int place[PAIRS][PAIRS] = {{0}}, same = 0;
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        batches_updates(&one, epoch), batches_updates(&two, epoch);
        for (int i = 0; i < PAIRS; i++) place[i][one.order[i]]++;
        same += memcmp(one.order, two.order, sizeof(uint32_t) * PAIRS) == 0;
    }
    /* Each of the 25 counts is 1200 ± 31; the two orders agree in 6000/120 = 50 ± 7 epochs. */
    for (int i = 0; i < PAIRS * PAIRS; i++)
        assert_in_range(place[i / PAIRS][i % PAIRS], 1200 - 155, 1200 + 155);
    assert_in_range(same, 15, 85);
    batches_free(&one);
    batches_free(&two);
    corpus_free(&corpus);
}

TEST(the_order_of_the_corpus)
{
    Corpus corpus = corpus_of(200, 15);
    Batches batches = batches_of(&corpus, 1, 100);
    Packed packed[SIDES];
    size_t u = 0;
    batches.in_order = true;
    size_t updates = batches_updates(&batches, 3);
    for (size_t first = 0, end; first < corpus.pairs; first = end, u++) {
        end = batches.first[u + 1];
        assert_true(end > first && end <= corpus.pairs);
        size_t tokens = 0;
        assert_true(batches_update(&batches, &count, 3, u, &error));
        assert_int_equal(count, end - first);
        assert_true(
            batches_packed(&batches, &packed[SOURCE], &packed[TARGET], first, end, &error));
        for (int i = 0; i < count; i++) {
            const PairIds *pair = &batches.pair[i];
            check_pair(&corpus, pair);
            assert_int_equal(pair->number, first + (size_t)i);
            tokens += tokens_of(pair);
            for (int side = 0; side < SIDES; side++) {
                assert_int_equal(packed_length(&packed[side], i), pair->length[side]);
                assert_ptr_equal(packed[side].id + packed[side].start[i], pair->id[side]);
            }
        }
        assert_true(tokens <= 100 || end == first + 1);
        assert_int_equal(packed[SOURCE].rows + packed[TARGET].rows, tokens);
    }
    assert_true(u > 10);
    assert_int_equal(updates, u);
    batches_free(&batches);
    corpus_free(&corpus);
}

TEST_MAIN("batches", NULL, NULL)
