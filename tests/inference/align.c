/* Word alignment: links from known shares, error rates by hand, norms and words by their
 * definitions. */
#include "inference/align.h"
#include "inference/idlines.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/small-model.h"

#include <unistd.h>

/* "0-0 1-2", as links_read takes them, possible ones with '?'. */
static void assert_links(const Links *links, const char *expected)
{
    char text[256] = "";
    for (int k = 0; k < links->count; k++) {
        const Link *l = &links->link[k];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%d%c%d", k ? " " : "", l->source,
                 l->possible ? '?' : '-', l->target);
    }
    assert_string_equal(text, expected);
}

TEST(both_ways)
{
    /* source words A (two tokens), B, C; target words x, y (two tokens); the last column is
     * </s>. */
    static const float share[3][5] = {
        {.1f, .6f, .1f, .1f, .1f}, {.1f, .0f, .1f, .0f, .8f}, {.0f, .1f, .7f, .2f, .0f}};
    static const int source_word[] = {0, 0, 1, 2, 3}, target_word[] = {0, 1, 1, 2};
    Links links = {0};
    Error error;
    /* x: A; y's first token, of what is no </s>, A (the first of equals); its second B. C is
     * left
     * over: y has most of it. */
    assert_true(align_links(&links, share[0], 3, 4, target_word, source_word, &error));
    assert_links(&links, "0-0 0-1 1-1 2-1");
    assert_true(align_links(&links, share[0], 0, 4, target_word, source_word, &error));
    assert_links(&links, "");
    links_free(&links);
}

/* Och and Ney's AER on an example: A = 4 links, S = 3, P = S and 2 more. */
TEST(error_rate)
{
    Links links = {0}, gold = {0};
    AlignError counts = {0};
    Error error;
    assert_true(isnan(align_error(&counts)));
    assert_true(links_read(&links, "0-0 1-2 3-3 2-0", "here", 4, 4, &error));
    assert_links(&links, "0-0 1-2 2-0 3-3");
    assert_true(links_read(&gold, " 0-0 2-2  1-2 3?3 0p1\t0-0 ", "here", 4, 4, &error));
    assert_links(&gold, "0-0 0?1 1-2 2-2 3?3");
    align_compare(&counts, &links, &gold);
    assert_int_equal(counts.links, 4);
    assert_int_equal(counts.sure, 3);
    assert_int_equal(counts.links_sure, 2);
    assert_int_equal(counts.links_possible, 3);
    assert_true(fabs(align_error(&counts) - (1 - 5.0 / 7)) < 1e-12);
    assert_true(fabs(align_precision(&counts) - 0.75) < 1e-12);
    assert_true(fabs(align_recall(&counts) - 2.0 / 3) < 1e-12);
    align_compare(&counts, &gold, &gold);  // adds up; what is possible counts as found
    assert_int_equal(counts.links, 9);
    assert_int_equal(counts.links_possible, 8);
    links_free(&links);
    links_free(&gold);
}

TEST(wrong_links)
{
    static const char no_word[] =
        "there is no %s between 4 words and 3; words are counted from 0",
                      no_link[] = "'%s' is not a link like 0-0, or 0?0 if it is possible";
    static const struct {
        const char *text, *wrong, *says;
    } cases[] = {{"0-0 4-1", "4-1", no_word},
                 {"0-3", "0-3", no_word},
                 {"0-", "0-", no_link},
                 {"-1-0", "-1-0", no_link},
                 {"0-1x", "0-1x", no_link},
                 {"x", "x", no_link},
                 {"99999999999-0", "99999999999-0", no_link}};
    Links links = {0};
    Error error;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char expected[128] = "here: ";
        snprintf(expected + 6, sizeof expected - 6, cases[c].says, cases[c].wrong);
        assert_false(links_read(&links, cases[c].text, "here", 4, 3, &error));
        assert_string_equal(error.text, expected);
    }
    assert_true(links_read(&links, "", "here", 0, 0, &error));
    links_free(&links);
}

enum { V = 40, N = 9, M = 12 };

/* ‖Σ_h P_ij V_j W_O‖ over heads first .. last-1, term by term. */
static double norm(const Transformer *model, const Snapshot *snapshot, int layer, int i, int j)
{
    const real *W = model->weights.decoder[layer].cross.out.W.at;
    int D = model->config.d_model, dh = D / model->config.heads;
    double square = 0;
    for (int o = 0; o < D; o++) {
        double sum = 0;
        for (int h = 0; h < model->config.heads; h++) {
            SnapshotRows map = snapshot_map(snapshot, ATTENTION_CROSS, layer, h);
            SnapshotRows v = snapshot_vectors(snapshot, ATTENTION_CROSS, layer, h).V;
            double u = 0;
            for (int k = 0; k < dh; k++)
                u += (double)W[o * D + h * dh + k] * (double)v.at[j * v.stride + k];
            sum += (double)map.at[i * map.stride + j] * u;
        }
        square += sum * sum;
    }
    return sqrt(square);
}

/* share [M,N], which it frees, must be the rows of weight, divided by their sums. */
static void check_shares(float *share, const float *weight)
{
    assert_non_null(share);
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += (double)weight[i * N + j];
        for (int j = 0; j < N; j++)
            assert_true(fabs((double)weight[i * N + j] / sum - (double)share[i * N + j]) <
                        1e-5);
    }
    free(share);
}

TEST(norms_and_shares)
{
    Error error;
    int source[N] = {3, 4, 5, 6, 7, 8, 9, 10, 0},
        target[M] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0};
    Transformer model = random_model(V, 30, 7);
    Snapshot *snapshot = snapshot_open(&model, source, N, target, M, &error);
    assert_non_null(snapshot);
    static float all[M * N], mean[M * N], sum[M * N];
    for (int layer = 0; layer < 3; layer++) {
        assert_true(snapshot_norms(all, snapshot, layer, &error));
        snapshot_weights(mean, snapshot, ATTENTION_CROSS, layer, -1);
        for (int at = 0; at < M * N; at++) {
            int i = at / N, j = at % N;
            assert_true(fabs(norm(&model, snapshot, layer, i, j) - (double)all[at]) < 1e-5);
            sum[at] += all[at];
        }
        check_shares(align_shares(snapshot, layer, ALIGN_NORM, &error), all);
        check_shares(align_shares(snapshot, layer, ALIGN_MEAN, &error), mean);
    }
    check_shares(align_shares(snapshot, ALIGN_LAYERS, ALIGN_NORM, &error), sum);
    snapshot_close(snapshot);
    transformer_free(&model);
}

/* A tokenizer of pieces: "▁a", "b", "▁b", "c", … */
static Tokenizer *pieces(TokenizerType type)
{
    static SmallModel model;
    Error error;
    small_model_begin(&model, type, false);
    static const char *const piece[] = {"\xe2\x96\x81",
                                        "a",
                                        "b",
                                        "c",
                                        "?",
                                        "\xe2\x96\x81"
                                        "a",
                                        "ab",
                                        "\xe2\x96\x81"
                                        "ab",
                                        "bc"};
    for (int i = 0; i < 9; i++) small_model_piece(&model, piece[i], -(float)i, PIECE_NORMAL);
    Tokenizer *tokenizer = tokenizer_load(model.bytes, model.size, &error);
    assert_non_null(tokenizer);
    return tokenizer;
}

TEST(words_between_spaces)
{
    static const char text[] = "  abc   ab? b xyz a ";
    Tokenizer *tokenizer = pieces(TOKENIZER_BPE);
    IdLines lines = {.find_words = true};
    Ids ids = {0}, begin = {0};
    Error error;
    int words, other[32], *word;
    assert_true(tokenizer_encode_begins(tokenizer, &ids, &begin, text, strlen(text), &error));
    assert_int_equal(ids.count, begin.count);
    assert_true(idlines_add(&lines, tokenizer, 32, text, strlen(text), NULL, &error));
    assert_int_equal(lines.words, 5);
    word = lines.word;
    /* Every token's letters stand in the text at its word. */
    static const char *const expected[] = {"abc", "ab?", "b", "xyz", "a"};
    for (size_t i = 0; i < ids.count; i++) {
        const char *label = tokenizer_label(tokenizer, ids.id[i]);
        assert_in_range(word[i], 0, 4);
        assert_true(i == 0 || word[i] >= word[i - 1]);
        if (ids.id[i] != ID_UNKNOWN && label[0] != '\xe2')
            assert_non_null(strstr(expected[word[i]], label));
        else if (ids.id[i] == ID_UNKNOWN) assert_int_equal(word[i], 3);
    }
    assert_int_equal(word[0], 0);
    assert_int_equal(word[ids.count - 1], 4);
    /* And so it is for the text that the tokens make. */
    assert_true(
        words_of_ids(other, &words, tokenizer, ids.id, (int)ids.count, NULL, false, &error));
    assert_int_equal(other[0], 0);
    assert_int_equal(other[ids.count - 1], words - 1);
    assert_true(idlines_add(&lines, tokenizer, 32, "", 0, NULL, &error));
    assert_int_equal(lines.words, 0);
    idlines_free(&lines);
    free(ids.id);
    free(begin.id);
    tokenizer_free(tokenizer);
}

TEST(a_space_that_is_a_token_belongs_to_the_next_word)
{
    static const int expected[] = {0, 1, 1, 1, 2, 2};  // "▁ab" "▁" "c" "?" "▁" "b"
    Tokenizer *tokenizer = pieces(TOKENIZER_BPE);
    Ids ids = {0};
    Error error;
    int words, word[8];
    assert_true(tokenizer_encode(tokenizer, &ids, "ab c? b", 7, &error));
    assert_int_equal(ids.count, 6);
    assert_true(words_of_ids(word, &words, tokenizer, ids.id, 6, NULL, false, &error));
    assert_int_equal(words, 3);
    for (int i = 0; i < 6; i++) assert_int_equal(word[i], expected[i]);
    /* ... of which several may be one token: "+49 30" */
    const char *const span[] = {NULL, NULL, "+49 30", NULL, NULL, NULL};
    assert_true(words_of_ids(word, &words, tokenizer, ids.id, 6, span, false, &error));
    assert_int_equal(words, 4);
    for (int i = 0; i < 6; i++) assert_int_equal(word[i], expected[i] + (i > 0));
    free(ids.id);
    tokenizer_free(tokenizer);
}

TEST(tokens_of_several_words_are_linked_word_by_word)
{
    static const float share[2][3] = {{.2f, .8f, .0f}, {.9f, .1f, .0f}};
    static const int source_word[] = {0, 1, 4}, target_word[] = {0, 3, 4};  // "a" "b c d"
    Links links = {0};
    Error error;
    assert_true(align_links(&links, share[0], 2, 2, target_word, source_word, &error));
    assert_links(&links, "0-3 1-0 2-1 3-2");
    links_free(&links);
}

TEST(links_of_characters)
{
    static const int source[] = {0, 2, 2, 3}, target[] = {0, 1, 3};  // tokens of 2, 0, 1; 1, 2
    static const char *const wanted[] = {"0-0", "0-1", "0-2", "1-0",
                                         "1-1", "1-2", "2-1", "2-2"};
    char link[24];
    Error error;
    Links links = {0};
    assert_true(links_read(&links, "0-0 0-1 1-0 2-1", "it", 3, 2, &error));
    assert_true(links_spread(&links, source, target, &error));
    assert_int_equal(links.count, 8);
    for (int k = 0; k < links.count; k++) {
        snprintf(link, sizeof link, "%d-%d", links.link[k].source, links.link[k].target);
        assert_string_equal(link, wanted[k]);
    }
    links_free(&links);
}

TEST(a_line_of_many_links_takes_linear_time)
{
    static char text[4000000 + 1];
    Error error;
    Links links = {0};
    for (size_t i = 0; i < sizeof text - 1; i += 4)
        memcpy(text + i, i % 8 ? "1-0 " : "0?1 ", 4);
    alarm(60);
    assert_true(links_read(&links, text, "it", 2, 2, &error));
    alarm(0);
    assert_int_equal(links.count, 2);
    links_free(&links);
}

TEST_MAIN("align", NULL, NULL)
