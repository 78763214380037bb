/* vecexp.c -- e^x without a branch against libm in double, over its whole range. */
#include "kernels/vecexp.h"
#include "tests/fixtures/test.h"

enum { COUNT = 1 << 12 };

/* A loop as attention has it, so that the vector instructions are what is tested. */
static void exponentials(real *y, const real *x, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++) y[i] = vec_exp(x[i]);
}

TEST(test_relative_error)
{
    enum { BLOCKS = 700 };  // 2.9 million numbers
    double worst = 0;
    real worst_at = 0, x[COUNT], y[COUNT];
    for (int block = 0; block < BLOCKS; block++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = (real)(-87 + 175 * (((double)block * COUNT + i) / ((double)BLOCKS * COUNT)));
        exponentials(y, x, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double exact = exp((double)x[i]), error = fabs((double)y[i] - exact) / exact;
            if (!(error <= worst)) worst = error, worst_at = x[i];
        }
    }
    print_message("vec_exp: worst relative error %.2e at %g\n", worst, (double)worst_at);
    assert_true(worst < 1.2e-7);
}

TEST(test_special)
{
    const real x[8] = {0, (real)NAN, (real)INFINITY, -(real)INFINITY, -1000, 1000, -0.0f, -88};
    real y[8];
    exponentials(y, x, 8);
    assert_true(y[0] == 1 && y[6] == 1);
    assert_true(isnan(y[1]));
    assert_true(isfinite(y[2]) && y[2] > 1e38f && y[2] == y[5]);               // e^88
    assert_true(y[3] > 0 && y[3] < 1.7e-38f && y[3] == y[4] && y[3] == y[7]);  // e^-87
}

TEST_MAIN("vecexp", NULL, NULL)
