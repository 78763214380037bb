/* gemm.c -- the three products and attention's own kernel against plain loops in double, for every
 * awkward size. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "kernels/matrix.h"
#include "kernels/panels.h"
#include "tests/fixtures/test.h"

enum { LARGEST = 40, GAP = 5 };

static const int SIZES[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* Exactly `count` numbers on the heap, so that a sanitizer sees one read or written too many. */
static real *numbers(int count, uint64_t index)
{
    real *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    Rng rng = rng_stream(1, RNG_TEST, index);
    for (int i = 0; i < count; i++) x[i] = (real)(2 * rng_uniform(&rng) - 1);
    return x;
}

/* Room for B [k,n] in panels. */
static real *panels_room(Arena *arena, int n, int k)
{
    *arena = (Arena){0};
    ARENA_TAKE(arena, real, panels_size(n, k));
    assert_true(arena_reserve(arena, NULL));
    return ARENA_TAKE(arena, real, panels_size(n, k));
}

/* Sum of k products of numbers below 1, rounded at every step: below k · k · 2⁻²⁴. */
static void assert_close(real got, double expected, int k)
{
    double limit = (k + 2) * 1e-6;
    if (!(fabs((double)got - expected) < limit))
        fail_msg("%g is not %g", (double)got, expected);
}

typedef enum { NT, NN, TN } Form;

/* gemm_nt has a bias, too; without one it is a product like the others. */
static void nt(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    gemm_nt(mode, C, A, B, NULL, m, n, k);
}

static double element(Form form, const real *A, const real *B, int m, int n, int k, int i,
                      int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++)
        sum += (double)A[form == TN ? p * m + i : i * k + p] *
               (double)B[form == NT ? j * k + p : p * n + j];
    return sum;
}

static void check_form(Form form, GemmMode mode, int m, int n, int k)
{
    real *A = numbers(m * k, 1), *B = numbers(k * n, 2), *C = numbers(m * n, 3);
    real *before = numbers(m * n, 3);
    void (*const product[])(GemmMode, real *, const real *, const real *, int, int,
                            int) = {nt, gemm_nn, gemm_tn};
    product[form](mode, C, A, B, m, n, k);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            assert_close(C[i * n + j],
                         element(form, A, B, m, n, k, i, j) +
                             (mode == ADD ? (double)before[i * n + j] : 0),
                         k);
    free(A), free(B), free(C), free(before);
}

static void check_all(Form form)
{
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++)
            for (int c = 0; c < SIZE_COUNT; c++) {
                check_form(form, SET, SIZES[a], SIZES[b], SIZES[c]);
                check_form(form, ADD, SIZES[a], SIZES[b], SIZES[c]);
            }
}

static void test_nt(void **state)
{
    (void)state;
    check_all(NT);
}

static void test_nn(void **state)
{
    (void)state;
    check_all(NN);
}

static void test_tn(void **state)
{
    (void)state;
    check_all(TN);
}

/* Beyond every block of rows, of k and of columns; matrices so wide that A is copied. */
static void test_blocks(void **state)
{
    (void)state;
    const int sizes[][3] = {{530, 45, 30},  {60, 45, 520}, {33, 1050, 40},
                            {29, 35, 1030}, {540, 33, 61}, {523, 517, 33}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (Form form = NT; form <= TN; form++) {
            check_form(form, SET, sizes[s][0], sizes[s][1], sizes[s][2]);
            check_form(form, ADD, sizes[s][0], sizes[s][1], sizes[s][2]);
        }
}

/* C starts from a bias, and dYᵀ X by an X that was copied before has the bits of the copy that
 * each product makes. */
static void check_bias_and_repeated(int m, int n, int k)
{
    real *A = numbers(m * k, 1), *B = numbers(k * n, 2), *bias = numbers(n, 3);
    real *C = numbers(m * n, 4), *D = numbers(m * n, 4);
    gemm_nt(SET, C, A, B, bias, m, n, k);
    for (int i = 0; i < m * n; i++)
        assert_close(C[i], element(NT, A, B, m, n, k, i / n, i % n) + (double)bias[i % n],
                     k + 1);

    Arena arena;
    Repeated repeated = gemm_repeated(panels_room(&arena, n, k), B, n, k);
    memcpy(D, C, (size_t)(m * n) * sizeof *D);
    for (int times = 0; times < 2; times++) {
        gemm_tn(ADD, C, A, B, m, n, k);
        gemm_tn_repeated(ADD, D, A, &repeated, m);
        assert_memory_equal(D, C, (size_t)(m * n) * sizeof *D);
    }
    arena_free(&arena);
    free(A), free(B), free(bias), free(C), free(D);
}

static void test_bias_and_repeated(void **state)
{
    (void)state;
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++)
            for (int c = 0; c < SIZE_COUNT; c++)
                check_bias_and_repeated(SIZES[a], SIZES[b], SIZES[c]);
    check_bias_and_repeated(530, 45, 30);
    check_bias_and_repeated(60, 1050, 520);
}

/* SET overwrites whatever was there, NaN too. */
static void test_set_over_nan(void **state)
{
    (void)state;
    real a[2] = {1, 2}, b[2] = {3, 4}, c[1];
    c[0] = (real)NAN, gemm_nt(SET, c, a, b, NULL, 1, 1, 2);
    assert_true(c[0] == 11);
    c[0] = (real)NAN, gemm_nn(SET, c, a, b, 1, 1, 2);
    assert_true(c[0] == 11);
    c[0] = (real)NAN, gemm_tn(SET, c, a, b, 1, 1, 2);
    assert_true(c[0] == 11);
}

/* Rows further apart than they are long, A as it is or transposed; the gaps of C stay. */
static void check_small(bool transposed, int m, int n, int k)
{
    int ldb = n + GAP, ldc = n + GAP, lda = (transposed ? m : k) + GAP;
    int rows = transposed ? k : m, columns = transposed ? m : k;
    real *A = numbers((rows - 1) * lda + columns, 1), *B = numbers((k - 1) * ldb + n, 2);
    real *C = numbers((m - 1) * ldc + n, 3), *before = numbers((m - 1) * ldc + n, 3);
    Strided a = transposed ? (Strided){A, 1, lda} : (Strided){A, lda, 1};
    small_gemm(C, ldc, a, B, ldb, m, n, k, (real)0.5);
    for (int at = 0; at < (m - 1) * ldc + n; at++) {
        int i = at / ldc, j = at % ldc;
        if (j >= n) {
            assert_true(C[at] == before[at]);
            continue;
        }
        double sum = 0;
        for (int p = 0; p < k; p++)
            sum += (double)A[i * a.row + p * a.column] * (double)B[p * ldb + j];
        assert_close(C[at], 0.5 * sum, k);
    }
    free(A), free(B), free(C), free(before);
}

static void test_small(void **state)
{
    (void)state;
    for (int m = 1; m <= LARGEST; m += m < 9 ? 1 : 7)
        for (int n = 1; n <= LARGEST; n++)
            for (int k = 1; k <= LARGEST; k += k < 5 ? 1 : 5) {
                check_small(false, m, n, k);
                check_small(true, m, n, k);
            }
}

/* Packed for good: the first n of `all` rows, with a bias and without; each row of C the same bits
 * whether it is computed alone or among others. */
static void check_packed(int m, int n, int all, int k)
{
    real *A = numbers(m * k, 1), *B = numbers(all * k, 2), *bias = numbers(n, 3);
    real *C = numbers(m * n, 4), *alone = numbers(n, 5), *row = numbers(k, 6);
    Arena arena;
    real *panels = panels_room(&arena, all, k);
    panels_pack(panels, B, all, k);
    for (int r = 0; r < all; r++) {
        panels_row(row, panels, r, k);
        assert_memory_equal(row, B + r * k, (size_t)k * sizeof *row);
    }
    for (int with = 0; with < 2; with++) {
        gemm_nt_panels(C, A, panels, with ? bias : NULL, m, n, k);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++)
                assert_close(C[i * n + j],
                             element(NT, A, B, m, n, k, i, j) + (with ? (double)bias[j] : 0),
                             k);
            gemm_nt_panels(alone, A + i * k, panels, with ? bias : NULL, 1, n, k);
            assert_memory_equal(alone, C + i * n, (size_t)n * sizeof *alone);
        }
    }
    free(A), free(B), free(bias), free(C), free(alone), free(row);
    arena_free(&arena);
}

static void test_packed(void **state)
{
    (void)state;
    if (matrix_layout_inference() != MATRIX_PACKED) {
        print_message("this build multiplies by OpenBLAS\n");
        skip();
    }
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++)
            for (int c = 0; c < SIZE_COUNT; c += 3)
                check_packed(SIZES[a], SIZES[b], SIZES[b] + a % 3, SIZES[c]);
    const int sizes[][3] = {
        {3, 70, 530}, {29, 45, 520}, {530, 33, 40}, {15, 1050, 35}, {30, 40, 1040}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_packed(sizes[s][0], sizes[s][1], sizes[s][1] + 1, sizes[s][2]);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nt),     cmocka_unit_test(test_nn),
        cmocka_unit_test(test_tn),     cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_small),  cmocka_unit_test(test_set_over_nan),
        cmocka_unit_test(test_packed), cmocka_unit_test(test_bias_and_repeated),
    };
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
