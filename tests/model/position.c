/* position.c -- the table of sinusoids. */
#include <math.h>

#include "model/position.h"
#include "tests/fixtures/test.h"

static void test_values(void **state)
{
    (void)state;
    /* By hand, D = 4: the waves are 1 and 10000^(1/2) = 100 positions long (over 2π). */
    real P[3 * 4];
    position_table(P, 3, 4);
    const double expected[3 * 4] = {0,        0,         1,        1,
                                    sin(1.0), sin(0.01), cos(1.0), cos(0.01),
                                    sin(2.0), sin(0.02), cos(2.0), cos(0.02)};
    for (int i = 0; i < 3 * 4; i++) assert_true(fabs((double)P[i] - expected[i]) < 1e-7);
}

/* Two positions k apart have the same scalar product wherever they are: what makes relative
 * distance easy to learn. */
static void test_relative(void **state)
{
    (void)state;
    enum { COUNT = 200, D = 32 };
    static real P[COUNT * D];
    position_table(P, COUNT, D);
    for (int distance = 0; distance < 20; distance++) {
        double first = 0;
        for (int p = 0; p + distance < COUNT; p++) {
            double dot = 0;
            for (int k = 0; k < D; k++)
                dot += (double)P[p * D + k] * (double)P[(p + distance) * D + k];
            if (p == 0) first = dot;
            assert_true(fabs(dot - first) < 1e-5);
        }
        if (distance == 0) assert_true(fabs(first - D / 2) < 1e-5);
    }
}

/* An odd width has one sine more than cosines, and no number is left unwritten. */
static void test_odd_width(void **state)
{
    (void)state;
    real P[2 * 5];
    for (int i = 0; i < 2 * 5; i++) P[i] = (real)NAN;
    position_table(P, 2, 5);
    const double expected[2 * 5] = {0,
                                    0,
                                    0,
                                    1,
                                    1,
                                    sin(1.0),
                                    sin(pow(10000, -0.4)),
                                    sin(pow(10000, -0.8)),
                                    cos(1.0),
                                    cos(pow(10000, -0.4))};
    for (int i = 0; i < 2 * 5; i++) assert_true(fabs((double)P[i] - expected[i]) < 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_relative),
        cmocka_unit_test(test_odd_width),
    };
    return cmocka_run_group_tests_name("position", tests, NULL, NULL);
}
