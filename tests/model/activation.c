/* activation.c -- GELU and Swish in vector instructions against libm in double, values and
 * slopes, over all that a network can bring, and at the edges of float. */
#include <math.h>

#include "model/activation.h"
#include "tests/fixtures/test.h"

enum { COUNT = 1 << 12 };

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1.0));
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu_slope(double x)
{
    return normal(x) + x * density(x);
}

static double swish_slope(double x)
{
    return logistic(x) + x * logistic(x) * logistic(-x);
}

typedef struct Case {
    const char *name;
    Activated (*ours)(real);
    double (*tail)(double), (*slope)(double);  // S, and the derivative of x S(x)
    double least;                              // ours is told apart from zero above this
} Case;

static const Case cases[] = {{"gelu", gelu, normal, gelu_slope, -12},
                             {"swish", swish, logistic, swish_slope, -80}};

/* Loops as the feed-forward network has them. */
static void run(const Case *c, real *value, real *slope, const real *x, int count)
{
    if (c->ours == gelu) {
#pragma omp simd
        for (int i = 0; i < count; i++) {
            Activated y = gelu(x[i]);
            value[i] = y.value, slope[i] = y.slope;
        }
    } else {
#pragma omp simd
        for (int i = 0; i < count; i++) {
            Activated y = swish(x[i]);
            value[i] = y.value, slope[i] = y.slope;
        }
    }
}

/* The largest errors on [least,most]: of the value, in parts of max(1, |x|); of the slope; and of
 * the tail S(x) = f(x) / x, relative to itself, where x is below -1. */
static void errors(const Case *c, double least, double most, double worst[3])
{
    enum { BLOCKS = 400 };  // 1.6 million numbers
    static real x[COUNT], value[COUNT], slope[COUNT];
    worst[0] = worst[1] = worst[2] = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = (real)(least + (most - least) * ((double)block * COUNT + i) /
                                      ((double)BLOCKS * COUNT));
        run(c, value, slope, x, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double at = (double)x[i], exact = at * c->tail(at);
            double error[3] = {fabs((double)value[i] - exact) / fmax(1, fabs(at)),
                               fabs((double)slope[i] - c->slope(at)),
                               at < -1 ? fabs((double)value[i] / exact - 1) : 0};
            for (int k = 0; k < 3; k++)
                if (!(error[k] <= worst[k])) worst[k] = error[k];
        }
    }
    print_message("%s on [%g,%g]: value %.1e, slope %.1e, tail %.1e\n", c->name, least, most,
                  worst[0], worst[1], worst[2]);
}

static void test_error(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double worst[3];
        errors(&cases[i], -6, 6, worst);
        assert_true(worst[0] < 1e-7 && worst[1] < 2e-7 && worst[2] < 2e-6);
        errors(&cases[i], cases[i].least, 100, worst);
        assert_true(worst[0] < 1e-7 && worst[1] < 2e-7 && worst[2] < 1e-5);
    }
}

/* Nothing hides a NaN; nothing finite becomes one; far out both are ReLU. */
static void test_edges(void **state)
{
    (void)state;
    const real x[10] = {0,   -0.0f, (real)NAN, (real)INFINITY, -(real)INFINITY,
                        1e4, -1e4,  3e38f,     -3e38f,         -13};
    for (int i = 0; i < 2; i++) {
        real value[10], slope[10];
        run(&cases[i], value, slope, x, 10);
        assert_true(value[0] == 0 && value[1] == 0);
        assert_true(fabs((double)slope[0] - 0.5) < 1e-7 && fabs((double)slope[1] - 0.5) < 1e-7);
        assert_true(isnan(value[2]) && isnan(slope[2]));
        assert_true(value[3] == x[3] && value[5] == x[5] && value[7] == x[7]);
        assert_true(slope[3] == 1 && slope[5] == 1 && slope[7] == 1);
        for (int k = 4; k < 9; k += 2) {
            assert_true(fabs((double)value[k]) < 1e-31);
            assert_true(fabs((double)slope[k]) < 1e-30);
        }
    }
}

/* f(x) - f(-x) = x, and f(-x)'s slope is 1 less f(x)'s. */
static void test_symmetry(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        for (real x = 0; x < 20; x += (real)0.01) {
            Activated right = cases[i].ours(x), left = cases[i].ours(-x);
            double difference = (double)(right.value - left.value);
            assert_true(fabs(difference - (double)x) <= 2.4e-7 * fmax(1, (double)x));
            assert_true(fabs((double)(right.slope + left.slope - 1)) <= 1.2e-7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_symmetry),
    };
    return cmocka_run_group_tests_name("activation", tests, NULL, NULL);
}
