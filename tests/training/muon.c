/* muon.c -- Muon against its definition in double, the iteration line by line. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "tests/fixtures/test.h"
#include "training/muon.h"

enum { UPDATES = 3, LARGEST = 33 * 70 };

static real W[LARGEST], m[LARGEST], g[LARGEST];
static real workspace[4 * LARGEST];

/* C [n,p] = A [n,k] · B [k,p], or A · Bᵀ with B [p,k] */
static void product(double *C, const double *A, const double *B, int n, int k, int p,
                    bool transposed)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p; j++) {
            double sum = 0;
            for (int q = 0; q < k; q++)
                sum += A[i * k + q] * (transposed ? B[j * k + q] : B[q * p + j]);
            C[i * p + j] = sum;
        }
}

/* X [rows,columns] (=) its five iterations of a X + (b A + c A²) X with A = X Xᵀ, also where
 * muon_orthogonal takes Xᵀ X. */
static void iterate(double *X, int rows, int columns)
{
    size_t square = (size_t)(rows * rows), count = (size_t)(rows * columns);
    double *A = malloc(square * sizeof *A), *B = malloc(square * sizeof *B),
           *Y = malloc(count * sizeof *Y);
    for (int iteration = 0; iteration < 5; iteration++) {
        product(A, X, X, rows, columns, rows, true);
        product(B, A, A, rows, rows, rows, false);
        for (size_t i = 0; i < square; i++) B[i] = -4.775 * A[i] + 2.0315 * B[i];
        product(Y, B, X, rows, rows, columns, false);
        for (size_t i = 0; i < count; i++) X[i] = 3.4445 * X[i] + Y[i];
    }
    free(A), free(B), free(Y);
}

/* W, m (=) after an update with g, which becomes the direction. */
static void update(int rows, int columns, double rate, double scale, GemmMode precision)
{
    size_t count = (size_t)(rows * columns);
    muon_momentum(g, m, count, scale);
    const real *X = muon_orthogonal(workspace, g, rows, columns, precision);
    if (X) muon_update(W, X, count, rate, rows, columns);
}

static void check(int rows, int columns, GemmMode precision, double tolerance)
{
    size_t count = (size_t)(rows * columns);
    double *theta = malloc(count * sizeof *theta), *first = calloc(count, sizeof *first),
           *X = malloc(count * sizeof *X);
    Rng rng = rng_stream(11, RNG_TEST, 0);
    for (size_t i = 0; i < count; i++) {
        theta[i] = (double)(W[i] = (real)(2 * rng_uniform(&rng) - 1));
        m[i] = 0;
    }
    for (int u = 1; u <= UPDATES; u++) {
        double rate = 0.1 / u, squares = 0;
        for (size_t i = 0; i < count; i++) {
            g[i] = (real)(2 * rng_uniform(&rng) - 1);
            first[i] = 0.95 * first[i] + 0.5 * (double)g[i];
            X[i] = 0.5 * (double)g[i] + 0.95 * first[i];
            squares += X[i] * X[i];
        }
        for (size_t i = 0; i < count; i++) X[i] /= sqrt(squares);
        iterate(X, rows, columns);
        for (size_t i = 0; i < count; i++)
            theta[i] -= rate * 0.2 * sqrt(rows > columns ? rows : columns) * X[i];
        update(rows, columns, rate, 0.5, precision);
    }
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)W[i] - theta[i]) < tolerance))
            fail_msg("%d x %d: element %zu is %.9g, should be %.9g", rows, columns, i,
                     (double)W[i], theta[i]);
    free(theta), free(first), free(X);
}

TEST(test_it_is_its_definition)
{
    static const int sizes[][2] = {{1, 1},   {1, 9},   {9, 1},  {24, 24},
                                   {24, 40}, {40, 24}, {33, 70}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check(sizes[i][0], sizes[i][1], SET, 2e-5);
        check(sizes[i][0], sizes[i][1], BF16, 0.02);
    }
}

/* A matrix whose gradient has always been zero does not move. */
TEST(test_no_gradient_is_no_update)
{
    memset(m, 0, sizeof m), memset(g, 0, sizeof g);
    for (int i = 0; i < 64; i++) W[i] = (real)i;
    update(8, 8, 1, 1, SET);
    for (int i = 0; i < 64; i++) assert_true(W[i] == (real)i);
}

TEST_MAIN("muon", NULL, NULL)
