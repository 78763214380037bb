/* amx.c -- the tests of gemm.c where AMX multiplies bfloat16, and int8's sums, on any processor: its
 * instructions are functions in C here. */
#include "tests/kernels/gemm.c"

#if defined __x86_64__
#define AMX_EMULATED
// clang-format off
#include "tests/fixtures/amx.h"
#include "kernels/amx.c"  // in place of the library's
// clang-format on
#include "kernels/int8.h"

TEST(int8)
{
    enum { GROUPS = 40 };
    uint8_t u[INT8_ROWS * GROUPS * INT8_GROUP];
    int8_t panel[GROUPS * INT8_PANEL * INT8_GROUP];
    int32_t offset[INT8_PANEL], C[2][INT8_ROWS * INT8_PANEL];
    const Int8Kernels *plain = &int8_kernels[int8_kernel_count - 1];
    assert_string_equal(int8_kernels[0].name, "AMX");
    for (size_t i = 0; i < sizeof u; i++) u[i] = (uint8_t)(i * i * 31 % 256);
    for (size_t i = 0; i < sizeof panel; i++)
        panel[i] = (int8_t)((int)(i * i * 17 % 255) - 127);
    for (int i = 0; i < INT8_PANEL; i++) offset[i] = 1000 * i - 7;
    for (int rows = 1; rows <= INT8_ROWS; rows++)
        for (int groups = 1; groups <= GROUPS; groups++) {
            int8_kernels[0].multiply(C[0], u, GROUPS * INT8_GROUP, panel, offset, rows, groups);
            plain->multiply(C[1], u, GROUPS * INT8_GROUP, panel, offset, rows, groups);
            assert_memory_equal(C[0], C[1], (size_t)rows * INT8_PANEL * sizeof **C);
        }
}
#endif
