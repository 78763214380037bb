/* progress.c -- the state of a run: to JSON and back, the best validation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fixtures/test.h"
#include "training/progress.h"

TEST(test_there_and_back)
{
    Progress p = progress_start(), back;
    Error error;
    p.update = 90, p.epoch = 3, p.update_in_epoch = 7, p.validated = 80, p.stale = 2;
    p.best = (Quality){2.125, 34.0625, NAN}, p.best_update = 60;
    p.nll = 0.1, p.objective = 1.0 / 3, p.norm = 1e-9, p.tokens = 1234567890123, p.updates = 4;
    p.corpus = p.valid = 9007199254740991, p.doubtful = -1.5;
    strcpy(p.kernels, "avx512-bf16");
    char *text = progress_to_json(&p);
    assert_true(progress_from_json(&back, text, "p", &error));
    assert_true(back.update == 90 && back.stale == 2 && isnan(back.best.chrf));
    assert_true(back.corpus == p.corpus && back.valid == p.valid && back.doubtful == -1.5);
    assert_string_equal(back.kernels, "avx512-bf16");
    assert_true(back.best.bleu == 34.0625 && back.objective == p.objective);
    char *again = progress_to_json(&back);
    assert_string_equal(text, again);
    free(text);
    free(again);
}

TEST(test_of_an_earlier_version)
{
    Progress p = progress_start(), back;
    Error error;
    char *text = progress_to_json(&p), *at = strstr(text, ",\"corpus\":null,\"kernels\":\"\"");
    assert_non_null(at);
    strcpy(at, "}");
    back.corpus = 5, *back.kernels = 'x';
    assert_true(progress_from_json(&back, text, "p", &error));
    assert_true(isnan(back.corpus) && isnan(back.valid) && !*back.kernels);
    assert_true(back.doubtful == 0);
    assert_true(isinf(back.best.loss) && isnan(back.best.bleu));  // of a new run
    free(text);
}

TEST(test_better)
{
    Progress p = progress_start();
    Quality q = {3, 10, 20}, without = {2, NAN, NAN}, broken = {NAN, 0, 0};
    for (int by = BEST_LOSS; by <= BEST_CHRF; by++) {
        p = progress_start();
        assert_true(progress_better(&p, &q, (Criterion)by));
        p.best = q, p.best_update = 1;
        assert_false(progress_better(&p, &q, (Criterion)by));  // as good is not better
    }
    assert_true(progress_better(&p, &(Quality){2.9, 9, 19}, BEST_LOSS));
    assert_false(progress_better(&p, &(Quality){2.9, 9, 19}, BEST_BLEU));
    assert_false(progress_better(&p, &(Quality){2.9, 9, 19}, BEST_CHRF));
    assert_true(progress_better(&p, &(Quality){3.1, 11, 19}, BEST_BLEU));
    assert_true(progress_better(&p, &(Quality){3.1, 9, 21}, BEST_CHRF));
    assert_false(progress_better(&p, &(Quality){3.1, 11, 21}, BEST_LOSS));
    assert_false(progress_better(&p, &broken, BEST_LOSS));
    p.best = without;
    assert_true(progress_better(&p, &q, BEST_BLEU));  // the best was without translations
}

/* Whether a progress with `change` in place of the text `part` is refused, with `why`. */
static void refused(const char *part, const char *change, const char *why)
{
    Progress p = progress_start(), back;
    p.update = 2000;
    Error error = {""};
    char *text = progress_to_json(&p), bad[8192], *at = strstr(text, part);
    assert_non_null(at);
    snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, change, at + strlen(part));
    assert_false(progress_from_json(&back, bad, "p", &error));
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
    free(text);
}

TEST(test_what_cannot_be)
{
    refused("\"update\":2000", "\"update\":-1", "'update'");
    refused("\"update\":2000,", "", "'update'");
    refused("\"update\":2000", "\"update\":9223372036854775807", "'update'");
    refused("\"tokens\":0", "\"tokens\":9007199254740992", "'tokens'");
    refused("\"corpus\":null", "\"corpus\":\"7\"", "'corpus'");
    refused("\"stale\":0", "\"stale\":null", "'stale'");
    refused("\"kernels\":\"\"", "\"kernels\":\"\\u001b[2J\"", "'kernels'");
    refused("\"kernels\":\"\"", "\"kernels\":7", "'kernels'");
    refused("\"best_bleu\":null", "\"best_bleu\":\"high\"", "'best_bleu'");
}

TEST_MAIN("progress", NULL, NULL)
