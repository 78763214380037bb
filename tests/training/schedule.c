/* schedule.c -- the learning rate at a few updates, by hand. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "training/schedule.h"

static void test_schedule(void **state)
{
    (void)state;
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 50, 100, 0) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 100, 100, 0) - 0.1) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 400, 100, 0) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_COSINE, 0.1, 600, 100, 1100) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_COSINE, 0.1, 1100, 100, 1100)) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_LINEAR, 0.1, 850, 100, 1100) - 0.025) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_CONSTANT, 0.1, 9999, 100, 1100) - 0.1) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 4, 0, 0) - 0.05) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
