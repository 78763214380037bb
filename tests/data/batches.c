/* batches.c -- every pair once an epoch, updates as full as possible, the same in any order. */
#include "data/batches.h"
#include "base/rng.h"
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

static Error error;
static Packed source, target;  // the last batch

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

/* The pair that a sentence is, having checked that it is that pair's whole sentence. */
static size_t pair_of(const Corpus *corpus, const Packed *packed, int sentence, int side)
{
    int from = packed->start[sentence], end = packed->start[sentence + 1];
    size_t pair = (size_t)(packed->id[from] - 2) / 2;
    const size_t *start = corpus->start[side];
    assert_true(pair < corpus->pairs);
    assert_int_equal(end - from, start[pair + 1] - start[pair]);
    assert_memory_equal(packed->id + from, corpus->id[side] + start[pair],
                        (size_t)(end - from) * sizeof(int));
    assert_int_equal(packed->id[end - 1], ID_END);
    return pair;
}

static Batches batches_of(const Corpus *corpus, uint64_t seed, int batch_tokens)
{
    Batches batches;
    assert_true(batches_init(&batches, corpus, seed, batch_tokens, &error));
    return batches;
}

static size_t updates_of(Batches *batches, uint64_t epoch)
{
    size_t updates;
    assert_true(batches_updates(batches, &updates, epoch, &error));
    return updates;
}

static void check_packed(const Corpus *corpus)
{
    assert_int_equal(source.sentences, target.sentences);
    assert_true(source.start[0] == 0 && target.start[0] == 0);
    assert_int_equal(source.start[source.sentences], source.rows);
    assert_int_equal(target.start[target.sentences], target.rows);
    for (int i = 0; i < source.sentences; i++)
        assert_int_equal(pair_of(corpus, &source, i, SOURCE),
                         pair_of(corpus, &target, i, TARGET));
}

static size_t update(Batches *batches, uint64_t epoch, size_t u)
{
    assert_true(batches_update(batches, &source, &target, epoch, u, &error));
    check_packed(batches->corpus);
    return (size_t)(source.rows + target.rows);
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
        const int *const held[] = {batches.id[SOURCE], batches.id[TARGET],
                                   batches.start[SOURCE]};
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            size_t updates = updates_of(&batches, epoch), last = 0;
            int *seen = calloc(corpus.pairs, sizeof *seen);
            for (size_t u = 0; u < updates; u++) {
                size_t tokens = update(&batches, epoch, u);
                assert_true(tokens <= most || source.sentences == 1);
                size_t first = (size_t)(source.start[1] + target.start[1]);
                if (u > 0) assert_true(last + first > most);  // it did not fit there
                last = tokens;
                for (int i = 0; i < source.sentences; i++)
                    seen[pair_of(&corpus, &source, i, SOURCE)]++;
            }
            for (size_t i = 0; i < corpus.pairs; i++) assert_int_equal(seen[i], 1);
            free(seen);
        }
        /* The first buffers were large enough for all of them. */
        assert_ptr_equal(batches.id[SOURCE], held[0]);
        assert_ptr_equal(batches.id[TARGET], held[1]);
        assert_ptr_equal(batches.start[SOURCE], held[2]);
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
        size_t updates = updates_of(&in_turn, epoch);
        for (size_t u = 0; u < updates; u++) {
            update(&in_turn, epoch, u);
            Packed first = source;
            if (rng_below(&rng, 2)) update(&jumping, rng_below(&rng, 9), 3);
            update(&jumping, epoch, u);
            assert_int_equal(first.rows, source.rows);
            assert_memory_equal(first.id, source.id, (size_t)first.rows * sizeof(int));
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
        updates_of(&one, epoch), updates_of(&two, epoch);
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

TEST(ranges)
{
    Corpus corpus = corpus_of(200, 15);
    Batches batches = batches_of(&corpus, 1, 100);
    size_t ranges = 0;
    for (size_t first = 0, end; first < corpus.pairs; first = end, ranges++) {
        end = batches_fit(&batches, first);
        assert_true(end > first && end <= corpus.pairs);
        assert_true(batches_range(&batches, &source, &target, first, end, &error));
        check_packed(&corpus);
        assert_int_equal(source.sentences, end - first);
        assert_true(source.rows + target.rows <= 100 || end == first + 1);
        for (int i = 0; i < source.sentences; i++)
            assert_int_equal(pair_of(&corpus, &source, i, SOURCE), first + (size_t)i);
    }
    assert_true(ranges > 10);
    assert_int_equal(batches_fit(&batches, corpus.pairs), corpus.pairs);
    assert_true(
        batches_range(&batches, &source, &target, 0, corpus.pairs, &error));  // no limit
    check_packed(&corpus);
    assert_int_equal(source.rows, corpus.start[SOURCE][corpus.pairs]);

    assert_in_range(update(&batches, 0, 0), 50, 100);
    batches_free(&batches);
    corpus_free(&corpus);
}

TEST_MAIN("batches", NULL, NULL)
