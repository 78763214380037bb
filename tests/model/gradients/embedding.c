/* embedding.c -- token ids to vectors: the source's, and the target's shifted behind <pad>; with
 * positions, learned ones among them, and without. */
#include "tests/fixtures/check.h"

#include "model/embedding.h"
#include "model/position.h"

enum { D = 6, V = 11, PAD = V - 1, LONGEST = 6 };

typedef struct Case {
    const Packed *rows;
    bool shifted;
    real *X, *E, *R, *P;
    const uint8_t *keep;
    real scale;
} Case;

static double loss(void *context)
{
    Case *c = context;
    embedding_forward(c->X, c->rows, c->shifted, PAD, &(Matrix){.at = c->E}, c->P, c->keep,
                      c->scale, D);
    return inner(c->X, c->R, (size_t)c->rows->rows * D);
}

static void check_case(const char *layer, const Packed *rows, bool shifted, bool positions,
                       double rate)
{
    const Dropout dropout = {.residual = rate, .seed = 5, .update = 2};
    size_t count = (size_t)rows->rows * D;
    uint8_t keep[16 * D];
    assert_true(count <= sizeof keep);
    dropout_rows(keep, rows, D, &dropout, rate, 9);
    Case c = {rows,
              shifted,
              numbers(count),
              numbers(V * D),
              numbers(count),
              positions ? numbers(LONGEST * D) : NULL,
              rate > 0 ? keep : NULL,
              dropout_scale(rate)};
    real *dP = numbers(LONGEST * D), *dP0 = copy_of(dP, LONGEST * D);
    real *dE = numbers(V * D), *dE0 = copy_of(dE, V * D);
    embedding_backward(dE, c.R, rows, shifted, c.keep, c.scale, D);
    position_backward(dP, c.R, rows, c.keep, c.scale, D);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "E", c.E, dE, dE0, PAD * D);
    check_untouched(dE + PAD * D, dE0 + PAD * D,
                    D);  // though the loss depends on it if shifted
    if (positions) check_tensor(&check, "P", c.P, dP, dP0, LONGEST * D);
    check_report(&check);
}

static void test_source(void **state)
{
    (void)state;
    check_case("source", &source_rows, false, true, 0);
    check_case("source, dropout", &source_rows, false, true, 0.3);
    check_case("source, no positions", &source_rows, false, false, 0);
}

static void test_target(void **state)
{
    (void)state;
    check_case("target, shifted", &target_rows, true, true, 0);
    check_case("target, shifted, dropout", &target_rows, true, true, 0.3);
    check_case("target, shifted, no positions, dropout", &target_rows, true, false, 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_source, check_teardown),
        cmocka_unit_test_teardown(test_target, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/embedding", tests, NULL, NULL);
}
