/* position.c -- the table of sinusoidal positional encodings. */
#include "model/embedding.h"
#include "tests/fixtures/test.h"

static real P[12];

static void check_table(const double *expected, int count, int D)
{
    for (int i = 0; i < count * D; i++) P[i] = (real)NAN;
    position_table(P, count, D);
    for (int i = 0; i < count * D; i++) assert_true(fabs((double)P[i] - expected[i]) < 1e-7);
}

/* By hand. D = 4: wavelengths are 1 and 10000^(1/2) = 100, times 2π. D = 5, an odd width: one
 * sine more than cosines. */
TEST(test_values)
{
    const double even[] = {0,        0,         1,        1,         sin(1.0), sin(0.01),
                           cos(1.0), cos(0.01), sin(2.0), sin(0.02), cos(2.0), cos(0.02)};
    const double odd[] = {0,
                          0,
                          0,
                          1,
                          1,
                          sin(1.0),
                          sin(pow(10000, -0.4)),
                          sin(pow(10000, -0.8)),
                          cos(1.0),
                          cos(pow(10000, -0.4))};
    check_table(even, 3, 4);
    check_table(odd, 2, 5);
}

TEST_MAIN("position", NULL, NULL)
