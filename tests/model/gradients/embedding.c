/* embedding.c -- gradients of embeddings and learned positions: of the source, and of the
 * target shifted behind <pad>. */
#include "model/embedding.h"
#include "tests/fixtures/check.h"

enum { D = 6, V = 11, PAD = V - 1, LONGEST = 6 };

typedef struct Case {
    const Packed *rows;
    bool shifted;
    real *X, *E, *R, *P;
    DropoutMask mask;
} Case;

static double loss(void *context)
{
    Case *c = context;
    embedding_forward(c->X, c->rows, c->shifted, PAD, &(Matrix){.at = c->E}, c->P, D);
    dropout_apply(c->X, c->X, &c->mask, (size_t)(c->rows->rows * D));
    return inner(c->X, c->R, (size_t)c->rows->rows * D);
}

static void check_case(const char *layer, const Packed *rows, bool shifted, bool positions,
                       double rate)
{
    const Dropout dropout = {.seed = 5, .update = 2};
    size_t count = (size_t)rows->rows * D;
    uint8_t keep[16 * D];
    assert_true(count <= sizeof keep);
    Case c = {rows,
              shifted,
              numbers(count),
              numbers(V * D),
              numbers(count),
              positions ? numbers(LONGEST * D) : NULL,
              {rate > 0 ? keep : NULL, rate,
               dropout_layout(&(Arena){0}, 0, NULL, rate, 0).scale, &dropout, 9}};
    dropout_rows(&c.mask, rows, D);
    Added dP = added(LONGEST * D), dE = added(V * D);
    embedding_backward(dE.now, positions ? dP.now : NULL, c.R, rows, shifted, &c.mask, D);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_added(&check, "E", c.E, dE, PAD * D);
    // the row of <pad>: the loss depends on it if shifted, but it is not learned
    check_untouched(dE.now + PAD * D, dE.before + PAD * D, D);
    if (positions) check_added(&check, "P", c.P, dP, LONGEST * D);
    else check_untouched(dP.now, dP.before, LONGEST * D);
    check_report(&check);
}

TEST(test_sides)
{
    check_case("source", &source_rows, false, true, 0);
    check_case("source, dropout", &source_rows, false, true, 0.3);
    check_case("source, no positions", &source_rows, false, false, 0);
    check_case("target, shifted", &target_rows, true, true, 0);
    check_case("target, shifted, dropout", &target_rows, true, true, 0.3);
    check_case("target, shifted, no positions, dropout", &target_rows, true, false, 0.3);
}

TEST_MAIN("gradients/embedding", NULL, check_teardown)
