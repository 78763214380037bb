/* The page of attention without a browser: its data is JSON with the numbers that the network
 * computed, for any words, and nothing in it is markup or an address. */
#include "explain/page.h"
#include "base/file.h"
#include "base/json.h"
#include "explain/maps.h"
#include "tests/fixtures/markup-model.h"
#include "tests/fixtures/test.h"

static Error error;

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) count++;
    return count;
}

/* The text between the data's tags; cuts the page off behind it. */
static char *cut_data(char *page)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    char *at = strstr(page, begin);
    assert_non_null(at);
    assert_int_equal(count_of(page, begin), 1);
    at += strlen(begin);
    char *end = strstr(at, "</script>");
    assert_non_null(end);
    *end = 0;
    return at;
}

static char *read_page(void)
{
    char *page = file_read(path, 1 << 26, NULL, &error);
    if (!page) fail_msg("%s", error.text);
    return page;
}

/* The data of a page that is drawn. */
static json_t *drawn(const Choice *choice)
{
    const PictureInput input = hostile_input(choice);
    if (!page_save(path, &input, &error)) fail_msg("%s", error.text);
    char *page = read_page(), *data = cut_data(page);
    json_t *json = json_parse(data, strlen(data), "page", &error);
    if (!json) fail_msg("%s", error.text);
    free(page);
    return json;
}

/* No text of the data ends its element, and nothing of it becomes part of the page. */
TEST(test_hostile_words)
{
    PictureInput input = hostile_input(&choice_default);
    input.model_name = "</script><b>model";
    assert_true(page_save(path, &input, &error));
    char *page = read_page();
    assert_int_equal(count_of(page, "</script>"), 2);
    assert_int_equal(count_of(page, "<script"), 2);
    char *data = cut_data(page);
    assert_null(strpbrk(data, "<>&"));
    assert_null(strstr(data, "\u2028"));
    json_t *json = json_parse(data, strlen(data), "page", &error);
    if (!json) fail_msg("%s", error.text);
    assert_string_equal(json_string_value(json_object_get(json, "model")), "</script><b>model");
    const json_t *text =
        json_object_get(json_object_get(json_object_get(json, "sides"), "source"), "text");
    assert_int_equal(json_array_size(text), N);
    for (int i = 0; i < N; i++)
        assert_string_equal(json_string_value(json_array_get(text, i)),
                            tokenizer_shown(vocabulary.tokenizer[SOURCE], source[i]));
    json_decref(json);
    free(page);
}

/* The only address in the page is the name of the SVG namespace, which no browser fetches. */
TEST(test_no_address)
{
    const PictureInput input = hostile_input(&choice_default);
    assert_true(page_save(path, &input, &error));
    char *page = read_page(), *data = cut_data(page);
    size_t length = strlen(data);
    memset(data, ' ', length), data[length] = '<';  // the data may have any text
    assert_int_equal(count_of(page, "://"), count_of(page, "http://www.w3.org/2000/svg"));
    static const char *const absent[] = {"src=", "@import", "fetch(",   "innerHTML",
                                         "url(", "@style@", "@script@", "@data@"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_null(strstr(page, absent[i]));
    assert_non_null(strstr(page, "default-src 'none'"));
    free(page);
}

static double item(const json_t *rows, int i, int j)
{
    return json_number_value(json_array_get(json_array_get(rows, i), j));
}

static void is_matrix(const json_t *head, const char *key, SnapshotRows want)
{
    const json_t *rows = json_object_get(head, key);
    assert_int_equal(json_array_size(rows), want.rows);
    assert_int_equal(json_array_size(json_array_get(rows, 0)), want.columns);
    for (int i = 0; i < want.rows; i++)
        for (int j = 0; j < want.columns; j++)
            assert_true(fabs(item(rows, i, j) - (double)want.at[i * want.stride + j]) <
                        6e-5 + 1e-4 * fabs(item(rows, i, j)));
}

static void check_head(const json_t *head, AttentionKind kind, int layer, int h)
{
    HeadVectors x = snapshot_vectors(snapshot, kind, layer, h);
    SnapshotRows map = snapshot_map(snapshot, kind, layer, h);
    assert_true(fabs(json_number_value(json_object_get(head, "scale")) - 0.25) < 1e-12);
    is_matrix(head, "weights", (SnapshotRows){map.at, map.rows, map.columns, map.stride});
    is_matrix(head, "q", x.Q);
    is_matrix(head, "k", x.K);
    is_matrix(head, "v", x.V);
}

TEST(test_numbers)
{
    json_t *json = drawn(&choice_default);
    assert_int_equal(json_integer_value(json_object_get(json, "size")), 16);
    assert_string_equal(json_string_value(json_object_get(json, "score")), "q·k/√d_k");
    assert_true(json_is_true(json_object_get(json, "vectors")));
    assert_true(json_is_false(json_object_get(json, "backward")));
    const json_t *kinds = json_object_get(json, "kinds");
    static const AttentionKind order[] = {ATTENTION_CROSS, ATTENTION_ENCODER,
                                          ATTENTION_DECODER};
    static const int layers[] = {3, 2, 3};
    assert_int_equal(json_array_size(kinds), 3);
    for (int k = 0; k < 3; k++) {
        const json_t *kind = json_array_get(kinds, k), *list = json_object_get(kind, "layers");
        assert_int_equal(json_array_size(list), layers[k]);
        for (int l = 0; l < layers[k]; l++) {
            assert_int_equal(json_array_size(json_array_get(list, l)), 3);
            for (int h = 0; h < 3; h++)
                check_head(json_array_get(json_array_get(list, l), h), order[k], l, h);
        }
    }
    json_decref(json);
}

/* Pieces that follow each other without a space are one word: "</script>" "<script>…" have one
 * before them, "<!--" has none. */
TEST(test_words)
{
    json_t *json = drawn(&choice_default);
    assert_true(json_is_true(json_object_get(json, "pieces")));
    const json_t *side = json_object_get(json_object_get(json, "sides"), "target");
    static const int word[M] = {0, 1, 1, 1, 1, 2, 3};
    for (int i = 0; i < M; i++)
        assert_int_equal(json_integer_value(json_array_get(json_object_get(side, "word"), i)),
                         word[i]);
    assert_string_equal(json_string_value(json_array_get(json_object_get(side, "joined"), 1)),
                        "<script>alert(1)</script>s]]>@data@");
    for (int i = 0; i < M; i++)
        assert_int_equal(json_is_true(json_array_get(json_object_get(side, "special"), i)),
                         i == M - 1);
    const json_t *read = json_object_get(json_object_get(json, "sides"), "read");
    assert_true(json_is_true(json_array_get(json_object_get(read, "special"), 0)));
    assert_false(json_is_true(json_array_get(json_object_get(read, "special"), M - 1)));
    json_decref(json);
}

static bool is_true(const json_t *side, const char *key, int i)
{
    return json_is_true(json_array_get(json_object_get(side, key), (size_t)i));
}

/* An <unk> is shown as typed, and marked, alone and in the word that it is part of. */
TEST(test_unknown)
{
    enum { ROW = 9 };
    const char *typed[N] = {[ROW] = "Africa"};
    assert_int_equal(source[ROW], ID_UNKNOWN);
    snapshot->unknown[SOURCE] = typed;
    json_t *json = drawn(&choice_default);
    snapshot->unknown[SOURCE] = NULL;
    const json_t *side = json_object_get(json_object_get(json, "sides"), "source"),
                 *text = json_object_get(side, "text"),
                 *joined = json_object_get(side, "joined");
    assert_string_equal(json_string_value(json_array_get(text, ROW)), "Africa");
    assert_non_null(strstr(json_string_value(json_object_get(json, "source")), "Africa"));
    size_t words = json_array_size(joined);
    assert_non_null(strstr(json_string_value(json_array_get(joined, words - 2)), "Africa"));
    for (int i = 0; i < N; i++) assert_int_equal(is_true(side, "unknown", i), i == ROW);
    const json_t *target_side = json_object_get(json_object_get(json, "sides"), "target");
    for (int i = 0; i < M; i++) assert_false(is_true(target_side, "unknown", i));
    json_decref(json);
}

/* How far the largest weight of a row is from 0.6. */
static double distance(const json_t *weights, int row)
{
    double most = 0;
    for (int j = 0; j < M; j++) most = fmax(most, item(weights, row, j));
    return fabs(most - 0.6);
}

/* The page starts with what was chosen, and follows the word whose largest weight is nearest to
 * 0.6, but for the last word, </s>. */
TEST(test_start)
{
    Choice choice = choice_default;
    choice.kind = ATTENTION_DECODER, choice.layer = 2, choice.head = 1;
    json_t *json = drawn(&choice);
    const json_t *begin = json_object_get(json, "start"),
                 *heads = json_object_get(begin, "heads");
    assert_string_equal(json_string_value(json_object_get(begin, "kind")), "decoder");
    assert_int_equal(json_integer_value(json_object_get(begin, "layer")), 2);
    assert_int_equal(json_array_size(heads), 1);
    assert_int_equal(json_integer_value(json_array_get(heads, 0)), 1);
    assert_int_equal(json_integer_value(json_object_get(begin, "head")), 1);
    const json_t *decoder = json_array_get(json_object_get(json, "kinds"), 2),
                 *layer = json_array_get(json_object_get(decoder, "layers"), 2),
                 *weights = json_object_get(json_array_get(layer, 1), "weights");
    int query = (int)json_integer_value(json_object_get(begin, "query"));
    assert_in_range(query, 0, M - 2);
    for (int i = 0; i < M - 1; i++)
        assert_true(distance(weights, query) <= distance(weights, i) + 1e-4);
    assert_false(json_is_true(json_object_get(begin, "words")));
    json_decref(json);
}

/* The best head of self-attention is the one with the lowest entropy, whatever aligns words best. */
TEST(test_best)
{
    Choice choice = choice_default;
    choice.kind = ATTENTION_ENCODER, choice.head = CHOICE_BEST;
    choice.known_layer = 2, choice.known_head = 1;
    json_t *json = drawn(&choice);
    const json_t *begin = json_object_get(json, "start"), *best = json_object_get(json, "best");
    int layer = (int)json_integer_value(json_object_get(begin, "layer")),
        head = (int)json_integer_value(json_object_get(begin, "head"));
    double entropy[2][3], least = INFINITY;
    for (int k = 0; k < 6; k++) {
        Map map;
        assert_true(map_head(&map, snapshot, ATTENTION_ENCODER, k / 3, k % 3, &error));
        least = fmin(least, entropy[k / 3][k % 3] = map_entropy(&map));
        map_free(&map);
    }
    assert_in_range(layer, 0, 1);
    assert_in_range(head, 0, 2);
    assert_true(entropy[layer][head] == least);
    assert_int_equal(json_integer_value(json_object_get(best, "layer")), 2);
    assert_int_equal(json_integer_value(json_object_get(best, "head")), 1);
    json_decref(json);
}

TEST(test_refuses)
{
    const PictureInput input = hostile_input(&choice_default);
    assert_false(page_save("/nowhere/at/all/page.html", &input, &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all/page.html"));
}

TEST_MAIN("page", hostile_setup, hostile_teardown)
