/* BLEU and chrF of whole files against the figures in a table.
 *
 * tests/fixtures/score-vectors holds one worked out by hand. The environment variable
 * QKV_SCORE_VECTORS can name a folder with another, such as the output of another scorer:
 * expected.json, and in it, by "cases", the files "hypothesis" and "reference", "bleu_13a",
 * "bleu_13a_lc", "bleu_none", … (each with "score", "precisions", "bp", "sys_len", "ref_len"),
 * "chrf2", "chrf2pp" and "chrf2_lc". Scores are rounded to 4 decimals, the brevity penalty to
 * 6. */
#include "base/json.h"
#include "inference/bleu.h"
#include "inference/chrf.h"

#include "tests/fixtures/test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH = 4096 };

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH];
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot read '%s'", path);
    return file;
}

static void check_close(const char *name, double got, const json_t *expected, double tolerance)
{
    assert_true(json_is_number(expected));
    double value = json_number_value(expected);
    if (!(fabs(got - value) <= tolerance))
        fail_msg("%s: %.7f instead of %.7f", name, got, value);
}

static void check_bleu(const char *name, const Bleu *bleu, const json_t *expected)
{
    BleuScore score = bleu_score(bleu);
    check_close(name, score.score, json_object_get(expected, "score"), 0.500001e-4);
    for (int n = 0; n < BLEU_ORDER; n++) {
        const json_t *precision = json_array_get(json_object_get(expected, "precisions"), n);
        check_close(name, score.precisions[n], precision, 0.500001e-4);
    }
    check_close(name, score.brevity_penalty, json_object_get(expected, "bp"), 0.500001e-6);
    check_close(name, (double)bleu->hypothesis_length, json_object_get(expected, "sys_len"), 0);
    check_close(name, (double)bleu->reference_length, json_object_get(expected, "ref_len"), 0);
}

static char *read_line(FILE *file, char **line, size_t *size)
{
    ssize_t length = getline(line, size, file);
    if (length < 0) return NULL;
    if (length > 0 && (*line)[length - 1] == '\n') (*line)[length - 1] = '\0';
    return *line;
}

static void check_case(const char *folder, const json_t *expected)
{
    static const char *const bleu_names[] = {"bleu_13a",     "bleu_none",   "bleu_char",
                                             "bleu_intl",    "bleu_13a_lc", "bleu_none_lc",
                                             "bleu_char_lc", "bleu_intl_lc"};
    static const char *const chrf_names[] = {"chrf2", "chrf2pp", "chrf2_lc"};
    Bleu bleu[8] = {0};
    for (int i = 0; i < 8; i++)
        bleu[i] = (Bleu){.tokenization = (Tokenization)(i % 4), .lowercase = i >= 4};
    Chrf chrf[3] = {{.word_order = 0}, {.word_order = 2}, {.lowercase = true}};

    const char *name = json_string_value(json_object_get(expected, "hypothesis"));
    const char *reference_name = json_string_value(json_object_get(expected, "reference"));
    assert_non_null(name);
    assert_non_null(reference_name);
    FILE *hypotheses = open_file(folder, name), *references = open_file(folder, reference_name);
    char *line[2] = {NULL, NULL}, *h, *r;
    size_t size[2] = {0, 0};
    while (h = read_line(hypotheses, &line[0], &size[0]),
           r = read_line(references, &line[1], &size[1]), h && r) {
        Error error = {0};
        for (int i = 0; i < 8; i++)
            if (!bleu_add(&bleu[i], h, r, &error)) fail_msg("%s: %s", name, error.text);
        for (int i = 0; i < 3; i++)
            if (!chrf_add(&chrf[i], h, r, &error)) fail_msg("%s: %s", name, error.text);
    }
    assert_true(!h && !r);  // as many lines in both
    free(line[0]);
    free(line[1]);
    fclose(hypotheses);
    fclose(references);

    for (int i = 0; i < 8; i++)
        check_bleu(bleu_names[i], &bleu[i], json_object_get(expected, bleu_names[i]));
    for (int i = 0; i < 3; i++)
        check_close(chrf_names[i], chrf_score(&chrf[i]),
                    json_object_get(expected, chrf_names[i]), 0.500001e-4);
}

static void replay(const char *folder)
{
    char text[1 << 16];
    FILE *file = open_file(folder, "expected.json");
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(length < sizeof text);
    Error error = {0};
    json_t *expected = json_parse(text, length, "expected.json", &error);
    if (!expected) fail_msg("%s", error.text);

    const json_t *cases = json_object_get(expected, "cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_case(folder, json_array_get(cases, i));
    json_decref(expected);
}

TEST(test_by_hand)
{
    replay("tests/fixtures/score-vectors");
}

TEST(test_another_scorer)
{
    const char *folder = getenv("QKV_SCORE_VECTORS");
    if (!folder) skip();
    replay(folder);
}

int main(void)
{
    return run_all_tests("score-vectors", NULL, NULL);
}
