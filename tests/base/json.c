/* json.c -- numbers read back to the same bits, any text gives valid JSON, and the reader
 * rejects what is not strict JSON. */
#include "tests/fixtures/test.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"

TEST(reals_are_short_and_exact)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {4000, "4000"},
                 {3e-4, "0.0003"},
                 {1e-8, "1e-08"},
                 {1e15, "1e+15"},
                 {999999999999999, "999999999999999"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {-2.5, "-2.5"},
                 {1234567.25, "1234567.25"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {5e-324, "5e-324"}};
    char text[REAL_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(real_text(text, known[i].value), known[i].text);

    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (int i = 0; i < 20000; i++) {  // random bit patterns, without NaN and infinity
        uint64_t bits = (uint64_t)rng_word(&rng) << 32 | rng_word(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        double back = strtod(real_text(text, value), NULL);
        assert_memory_equal(&back, &value, sizeof value);
    }
}

static char *write_line(int indent, const char *text)
{
    char *bytes;
    size_t size;
    JsonWriter json = {.out = open_memstream(&bytes, &size), .indent = indent, .lines = indent};
    json_open(&json, NULL);
    json_put_text(&json, "type", text);
    json_put_integer(&json, "update", INT64_MIN);
    json_put_real(&json, "loss", NAN);
    json_put_real(&json, "ppl", INFINITY);
    json_put_real(&json, "rate", 0.1);
    json_put_bool(&json, "best", true);
    json_put_text(&json, "none", NULL);
    json_open_array(&json, "empty");
    json_close(&json);
    json_open(&json, "in");
    json_open_array(&json, "list");
    json_put_integer(&json, NULL, 1);
    json_put_real(&json, NULL, 2);
    json_put_real(&json, NULL, -0.0);  // "-0" would be read as an integer
    json_close(&json);
    json_close(&json);
    json_put_bool(&json, "last", false);
    json_close(&json);
    assert_int_equal(fclose(json.out), 0);
    return bytes;
}

TEST(a_line_is_an_object)
{
    char *line = write_line(0, "tr\"\\\n\t\x01\x7F\xC3\xBC\xF0\x9F\x98\x80\xFFz");
    assert_string_equal(line,
                        "{\"type\":\"tr\\\"\\\\\\n\\t\\u0001\\u007f\xC3\xBC\xF0\x9F\x98\x80"
                        "\xEF\xBF\xBDz\",\"update\":-9223372036854775808,\"loss\":null,"
                        "\"ppl\":null,\"rate\":0.1,\"best\":true,\"none\":null,\"empty\":[],"
                        "\"in\":{\"list\":[1,2,0]},\"last\":false}");
    free(line);
    line = write_line(2, "x");
    assert_string_equal(
        line, "{\n  \"type\": \"x\",\n  \"update\": -9223372036854775808,\n"
              "  \"loss\": null,\n  \"ppl\": null,\n  \"rate\": 0.1,\n"
              "  \"best\": true,\n  \"none\": null,\n  \"empty\": [],\n"
              "  \"in\": {\n    \"list\": [\n      1,\n      2,\n      0\n    ]\n  },\n"
              "  \"last\": false\n}\n");
    free(line);
}

/* All texts of three bytes at the limits of the UTF-8 ranges, and a fourth byte: the writer
 * gives valid JSON, and valid UTF-8 reads back unchanged. */
TEST(any_bytes_become_valid_json)
{
    static const unsigned char border[] = {0x01, 0x22, 0x5C, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                           0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED,
                                           0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
    enum { COUNT = sizeof border };
    for (int i = 0; i < COUNT * COUNT * COUNT; i++) {
        char text[] = {(char)border[i % COUNT], (char)border[i / COUNT % COUNT],
                       (char)border[i / COUNT / COUNT], (char)0x80, 0};
        char *bytes;
        size_t size;
        Error error;
        JsonWriter json = {.out = open_memstream(&bytes, &size)};
        json_open_array(&json, NULL);
        json_put_text(&json, NULL, text);
        json_close(&json);
        fclose(json.out);
        json_t *root = json_parse(bytes, size, "line", &error);
        assert_non_null(root);
        const char *back = json_string_value(json_array_get(root, 0));
        if (!strstr(back, "\xEF\xBF\xBD")) assert_string_equal(back, text);
        json_decref(root);
        free(bytes);
    }
}

static json_t *parse(const char *text, Error *error)
{
    return json_parse(text, strlen(text), "f.json", error);
}

TEST(a_tree_is_read)
{
    Error error;
    json_t *root = parse("{\"b\": 1, \"a\": [1.5, null], \"c\": {}}", &error), *value;
    const char *order[] = {"b", "a", "c"}, *key;
    int i = 0;
    json_object_foreach(root, key, value) assert_string_equal(key, order[i++]);
    assert_int_equal(i, 3);
    assert_int_equal(json_integer_value(json_object_get(root, "b")), 1);
    assert_true(json_number_value(json_array_get(json_object_get(root, "a"), 0)) == 1.5);
    json_decref(root);
}

TEST(what_is_not_json_is_refused)
{
    static const char *const cases[] = {
        "",
        "{",
        "{}x",
        "[1,]",
        "{'a':1}",
        "[NaN]",
        "[01]",
        "[1e999]",
        "[9223372036854775808]",
        "{\"a\":1,\"a\":2}",
        "[\"\\u0000\"]",
        "[\"\xFF\"]",
        "[\"\n\"]",
        "3",
        "// x\n{}",
    };
    Error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        strcpy(error.text, "");
        assert_null(parse(cases[i], &error));
        assert_int_equal(strncmp(error.text, "f.json:", 7), 0);
    }
    assert_null(parse("{\n  \"a\": \x1B[7m\n}", &error));
    assert_null(strchr(error.text, '\x1B'));  // an error shows no control characters
    assert_int_equal(strncmp(error.text, "f.json:2:", 9), 0);

    char *deep = malloc(1 << 20);  // deep nesting must not exhaust the stack
    memset(deep, '[', 1 << 20);
    assert_null(json_parse(deep, 1 << 20, "f.json", &error));
    free(deep);
}

TEST_MAIN("json", NULL, NULL)
