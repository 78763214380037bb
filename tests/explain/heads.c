/* What heads do: hand-made maps with known measures, and the sums over sentence pairs. */
#include "explain/heads.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/test.h"

enum { N = 4 };

static char *words[N] = {"a", "b", "a", "</s>"}, *read[N] = {"<pad>", "a", "b", "a"};
static bool end[N] = {false, false, false, true}, start[N] = {true};
static const Labels source = {.text = words, .special = end, .count = N};
static const Labels input = {.text = read, .special = start, .count = N};

static Map map_of(float at[N * N])
{
    return (Map){at, N, N};
}

static void is(const Head *head, HeadMeasure measure, double expected)
{
    double mean = head_mean(head, measure);
    if (!(fabs(mean - expected) < 1e-6))
        fail_msg("%s is %.9g, not %.9g", head_measures[measure], mean, expected);
}

static float equal[N * N] = {.25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f,
                             .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f};
static float causal[N * N] = {1,         0,         0,         0, .5f,  .5f,  0,    0,
                              1.f / 3.f, 1.f / 3.f, 1.f / 3.f, 0, .25f, .25f, .25f, .25f};

/* Rows "a b a" of "a b a </s>". */
TEST(encoder)
{
    float at[N * N] = {.5f, .5f, 0, 0, 1, 0, 0, 0, .25f, .25f, .25f, .25f, 0, 0, 0, 1};
    Map map = map_of(at), uniform = map_of(equal);
    Head head = {.kind = ATTENTION_ENCODER};
    head_measure(&head, &map, &uniform, &source, &source);
    is(&head, HEAD_ENTROPY, (1 + 0 + 2) / 3.0);
    is(&head, HEAD_OF_MAX, (.5 + 0 + 1) / 3.0);
    is(&head, HEAD_DIAGONAL, (.5 + 0 + .25) / 3);
    is(&head, HEAD_PREVIOUS, (1 + .25) / 2);  // the first word has none
    is(&head, HEAD_NEXT, (.5 + 0) / 2);       // the last one has </s>
    is(&head, HEAD_END, .25 / 3);
    is(&head, HEAD_SAME, (0 + .25) / 2);  // "b" is there once
}

/* Rows "a b a </s>" of "<pad> a b a": only the second and the third count. */
TEST(decoder)
{
    float at[N * N] = {1, 0, 0, 0, .25f, .75f, 0, 0, .5f, .5f, 0, 0, 0, 0, 0, 1};
    Map map = map_of(at), uniform = map_of(causal);
    Head head = {.kind = ATTENTION_DECODER};
    head_measure(&head, &map, &uniform, &source, &input);
    is(&head, HEAD_DIAGONAL, (.75 + 0) / 2);
    is(&head, HEAD_PREVIOUS, .5);
    is(&head, HEAD_END, (.25 + .5) / 2);
    is(&head, HEAD_OF_MAX, ((2 - .75 * log2(3)) + 1 / log2(3)) / 2);
    assert_true(isnan(head_mean(&head, HEAD_NEXT)));
    assert_true(isnan(head_mean(&head, HEAD_SAME)));
}

TEST(cross)
{
    float at[N * N] = {.5f, .25f, .25f, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    Map map = map_of(at), uniform = map_of(equal);
    Head head = {.kind = ATTENTION_CROSS}, flat = {.kind = ATTENTION_CROSS};
    head_measure(&head, &map, &uniform, &source, &source);
    is(&head, HEAD_SAME, (.75 + 1 + 0) / 3);
    is(&head, HEAD_DIAGONAL, (.5 + 1 + 0) / 3);
    head_measure(&flat, &uniform, &uniform, &source, &source);
    is(&flat, HEAD_ENTROPY, 2);
    is(&flat, HEAD_OF_MAX, 1);
    is(&flat, HEAD_END, .25);
}

TEST_MAIN("heads", NULL, NULL)
