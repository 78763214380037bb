/* byhand.c -- fuzzes the files of --by-hand. */
#include "explain/byhand.h"

#include "tests/fixtures/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ByHand b;
    static FILE *nowhere;
    char path[TEMPORARY_SIZE + 32];
    if (!nowhere) assert((nowhere = fopen("/dev/null", "w")));
    fuzz_file(path, "byhand.txt", data, size);
    if (accepted(byhand_read(&b, path, &error))) {
        const int n = b.query.rows, m = b.key.rows;
        for (int h = 0; h < b.heads; h++)
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < m; j++) sum += (double)b.P[h][i * m + j];
                assert(sum > 0.999 && sum < 1.001);
            }
        assert(byhand_print(nowhere, &b, NULL, &error));
        byhand_backward(nowhere, &b);
    }
    return 0;
}
