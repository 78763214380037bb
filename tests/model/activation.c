/* activation.c -- values and slopes of the vectorised GELU and Swish against libm in double,
 * over the range of a network's activations and at the limits of float. */
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

/* A loop as in the feed-forward network. */
#define LOOP(f)                                                                                \
    static void f##_loop(real *value, real *slope, const real *x, int count)                   \
    {                                                                                          \
        _Pragma("omp simd") for (int i = 0; i < count; i++)                                    \
        {                                                                                      \
            Activated y = f(x[i]);                                                             \
            value[i] = y.value, slope[i] = y.slope;                                            \
        }                                                                                      \
    }
LOOP(gelu)
LOOP(swish)

typedef struct Case {
    const char *name;
    void (*run)(real *value, real *slope, const real *x, int count);
    double (*tail)(double), (*slope)(double);  // S, and the derivative of x S(x)
    double least;                              // below this, values are zero in float
} Case;

static const Case cases[] = {{"gelu", gelu_loop, normal, gelu_slope, -12},
                             {"swish", swish_loop, logistic, swish_slope, -80}};

/* The largest errors on [least,most]: of the value, relative to max(1, |x|); of the slope; and
 * the relative error of the tail S(x) = f(x) / x for x < -1. */
static void errors(const Case *c, double least, double most, double worst[3])
{
    enum { BLOCKS = 400 };  // 1.6 million numbers
    static real x[COUNT], value[COUNT], slope[COUNT];
    worst[0] = worst[1] = worst[2] = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = (real)(least + (most - least) * ((double)block * COUNT + i) /
                                      ((double)BLOCKS * COUNT));
        c->run(value, slope, x, COUNT);
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

TEST(test_error)
{
    for (int i = 0; i < 2; i++) {
        double worst[3];
        errors(&cases[i], -6, 6, worst);
        assert_true(worst[0] < 1e-7 && worst[1] < 2e-7 && worst[2] < 2e-6);
        errors(&cases[i], cases[i].least, 100, worst);
        assert_true(worst[0] < 1e-7 && worst[1] < 2e-7 && worst[2] < 1e-5);
    }
}

/* NaN stays NaN; finite numbers stay finite; for large |x| both are ReLU. */
TEST(test_edges)
{
    const real x[10] = {0,   -0.0f, (real)NAN, (real)INFINITY, -(real)INFINITY,
                        1e4, -1e4,  3e38f,     -3e38f,         -13};
    for (int i = 0; i < 2; i++) {
        real value[10], slope[10];
        cases[i].run(value, slope, x, 10);
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

TEST_MAIN("activation", NULL, NULL)
