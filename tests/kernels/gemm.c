/* gemm.c -- the three products and attention's own kernel against plain loops in double, for
 * every awkward size. */
#include <dlfcn.h>

#include "base/arena.h"
#include "kernels/bf16.h"
#include "kernels/matrix.h"
#include "kernels/panels.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/numbers.h"

enum { LARGEST = 40, GAP = 5 };

static const int SIZES[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* Sum of k products of numbers below 1, rounded at every step: below k · k · 2⁻²⁴. */
static void assert_close(real got, double expected, int k)
{
    double limit = (k + 2) * 1e-6;
    if (!(fabs((double)got - expected) < limit))
        fail_msg("%g is not %g", (double)got, expected);
}

typedef enum { NT, NN, TN } Form;

/* C is the product plus `before` (or NULL) plus the bias (or NULL) of its column. */
static void assert_product(Form form, const real *C, const real *A, const real *B,
                           const real *before, const real *bias, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = before ? (double)before[i * n + j] : bias ? (double)bias[j] : 0;
            for (int p = 0; p < k; p++)
                sum += (double)A[form == TN ? p * m + i : i * k + p] *
                       (double)B[form == NT ? j * k + p : p * n + j];
            assert_close(C[i * n + j], sum, k);
        }
}

/* SET overwrites whatever was there, NaN too. NT can start from a bias. */
static void check_forms(int m, int n, int k, GemmMode precision)
{
    real *A = numbers(m * k), *B = numbers(k * n), *before = numbers(m * n), *bias = numbers(n);
    real *rounded_A = copy_of(A, m * k), *rounded_B = copy_of(B, k * n);
    if (precision == BF16) bf16_round(rounded_A, m * k), bf16_round(rounded_B, k * n);
    for (int f = 0; f < 7; f++) {
        Form form = (Form)(f % 3);
        GemmMode mode = f / 3 == 1 ? ADD : SET;
        const real *b = f == 6 ? bias : NULL;
        real *C = copy_of(before, m * n);
        for (int i = 0; i < m * n && mode == SET; i++) C[i] = (real)NAN;
        if (form == NT) gemm_nt(mode | precision, C, A, B, b, m, n, k);
        else (form == NN ? gemm_nn : gemm_tn)(mode | precision, C, A, B, m, n, k);
        assert_product(form, C, rounded_A, rounded_B, mode == ADD ? before : NULL, b, m, n, k);
    }
    numbers_free();
}

/* All small sizes; beyond every block of rows, of k and of columns; so wide that A is
 * copied. */
static void check_all_forms(GemmMode precision)
{
    for (int s = 0; s < SIZE_COUNT * SIZE_COUNT * SIZE_COUNT; s++)
        check_forms(SIZES[s % SIZE_COUNT], SIZES[s / SIZE_COUNT % SIZE_COUNT],
                    SIZES[s / SIZE_COUNT / SIZE_COUNT], precision);
    const int large[][3] = {{530, 45, 30}, {60, 45, 520},  {33, 1050, 40}, {29, 35, 1030},
                            {540, 33, 61}, {523, 517, 33}, {60, 1050, 520}};
    for (size_t s = 0; s < sizeof large / sizeof *large; s++)
        check_forms(large[s][0], large[s][1], large[s][2], precision);
}

TEST(forms)
{
    check_all_forms(SET);
}

/* The factors are rounded to bfloat16 and the sums are not. A row has the same bits alone. */
TEST(bf16)
{
    check_all_forms(BF16);
    enum { M = 40, N = 70, K = 130 };
    real *A = numbers(M * K), *B = numbers(N * K), *C = numbers(M * N), *alone = numbers(N);
    gemm_nt(BF16, C, A, B, NULL, M, N, K);
    for (int i = 0; i < M; i++) {
        gemm_nt(BF16, alone, A + i * K, B, NULL, 1, N, K);
        assert_memory_equal(alone, C + i * N, N * sizeof *alone);
    }
    numbers_free();
}

/* To nearest, ties to even; what is not a number stays so. */
TEST(rounding)
{
    real x[] = {1,           1 + 0x1p-9f, 1 + 0x1p-8f,    1 + 0x3p-8f, -1 - 0x1.02p-8f,
                0x1.ffp127f, 0,           (real)INFINITY, (real)NAN};
    const real expected[] = {
        1, 1, 1, 1 + 0x1p-6f, -1 - 0x1p-7f, (real)INFINITY, 0, (real)INFINITY};
    bf16_round(x, sizeof x / sizeof *x);
    for (int i = 0; i < 8; i++) assert_true(x[i] == expected[i]);
    assert_true(isnan(x[8]));
    // a product does the same, in pairs, too
    real A[] = {1 + 0x1p-8f, 1 + 0x3p-8f, (real)NAN}, one[] = {1, 1, 1}, C;
    gemm_nt(BF16, &C, A, one, NULL, 1, 1, 2);
    assert_true(C == 2 + 0x1p-6f);
    gemm_nt(BF16, &C, A, one, NULL, 1, 1, 3);
    assert_true(isnan(C));
}

typedef void Product(GemmMode, real *, int, Strided, const real *, int, int, int, int, real);

/* Rows further apart than they are long, A as it is or transposed; the gaps of C stay. */
static void check_strided(Product *product, GemmMode mode, bool transposed, int m, int n, int k)
{
    int ldb = n + GAP, ldc = n + GAP, lda = (transposed ? m : k) + GAP;
    int rows = transposed ? k : m, columns = transposed ? m : k, size = (m - 1) * ldc + n;
    real *A = numbers((rows - 1) * lda + columns), *B = numbers((k - 1) * ldb + n);
    real *C = numbers(size), *before = copy_of(C, size);
    Strided a = transposed ? (Strided){A, 1, lda} : (Strided){A, lda, 1};
    product(mode, C, ldc, a, B, ldb, m, n, k, (real)0.5);
    for (int at = 0; at < size; at++) {
        int i = at / ldc, j = at % ldc;
        double sum = 0;
        for (int p = 0; p < k && j < n; p++)
            sum += (double)A[i * a.row + p * a.column] * (double)B[p * ldb + j];
        if (j < n) assert_close(C[at], 0.5 * sum + (mode == ADD ? (double)before[at] : 0), k);
        else assert_true(C[at] == before[at]);
    }
    numbers_free();
}

TEST(small)
{
    for (int m = 1; m <= LARGEST; m += m < 9 ? 1 : 7)
        for (int n = 1; n <= LARGEST; n++)
            for (int k = 1; k <= LARGEST; k += k < 5 ? 1 : 5) {
                check_strided(small_gemm, SET, false, m, n, k);
                check_strided(small_gemm, SET, true, m, n, k);
                check_strided(small_gemm, ADD, k % 2, m, n, k);
            }
}

TEST(strided)
{
    const int sizes[][3] = {{1, 1, 1}, {7, 40, 5}, {33, 530, 30}, {530, 33, 61}, {60, 33, 520}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int i = 0; i < 4; i++)
            check_strided(gemm_strided, i < 2 ? SET : ADD, i % 2, sizes[s][0], sizes[s][1],
                          sizes[s][2]);
}

/* A packed matrix: the first n of `all` rows, with a bias and without; each row of C has the
 * same bits whether it is computed alone or among others. */
static void check_packed(int m, int n, int all, int k)
{
    real *A = numbers(m * k), *B = numbers(all * k), *bias = numbers(n), *C = numbers(m * n);
    real *alone = numbers(n), *panels = numbers(panels_size(all, k));
    panels_put(panels, 0, B, all, k);
    for (int with = 0; with < 2; with++) {
        const real *b = with ? bias : NULL;
        gemm_nt(PANELS, C, A, panels, b, m, n, k);
        assert_product(NT, C, A, B, NULL, b, m, n, k);
        for (int i = 0; i < m; i++) {
            gemm_nt(PANELS, alone, A + i * k, panels, b, 1, n, k);
            assert_memory_equal(alone, C + i * n, (size_t)n * sizeof *alone);
        }
    }
    numbers_free();
}

TEST(packed)
{
    for (int a = 0; a < SIZE_COUNT; a++)
        for (int b = 0; b < SIZE_COUNT; b++)
            for (int c = 0; c < SIZE_COUNT; c += 3)
                check_packed(SIZES[a], SIZES[b], SIZES[b] + a % 3, SIZES[c]);
    const int sizes[][3] = {
        {3, 70, 530}, {29, 45, 520}, {530, 33, 40}, {15, 1050, 35}, {30, 40, 1040}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        check_packed(sizes[s][0], sizes[s][1], sizes[s][1] + 1, sizes[s][2]);
}

/* A host's number of threads stays: with another than one it is refused. */
static int check_host(void)
{
    Error error;
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    void (*set)(int) = library ? dlsym(library, "openblas_set_num_threads") : NULL;
    int (*get)(void) = library ? dlsym(library, "openblas_get_num_threads") : NULL;
    if (!set || !get) return printf("not ok there is OpenBLAS\n"), 1;
    set(2);
    bool refused = !kind_use_openblas(true, &error) && get() == 2 &&
                   strstr(error.text, "an OpenBLAS of 2 threads");
    set(1);
    bool loaded = kind_use_openblas(true, &error);
    if (!refused || !loaded) printf("not ok OpenBLAS: %s\n", error.text);
    return !refused + !loaded;
}

/* With OpenBLAS, too; panels, bf16 and small products stay ours. */
int main(void)
{
    int failed = run_with_each_kind("gemm", NULL, NULL) + check_host();
    char name[KIND_NAME];
    kind_describe(name);
    printf("gemm with %s\n", name);
    return failed + run_all_tests("gemm", NULL, NULL);
}
