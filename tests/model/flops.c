/* flops.c -- the floating-point operations of an update, against a count by hand. */
#include "model/transformer.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/variants.h"

/* By hand, n = 2, m = 3, D = 4, F = 8, V = 10, one layer each; multiplications:
 *   encoder   projections 4·2·16, scores and mixing 2·4·4, feed-forward 2·2·32          = 288
 *   decoder   projections 4·3·16, six pairs 2·6·4; queries and output 2·3·16, keys and values
 *             2·2·16, six pairs 2·6·4; feed-forward 2·3·32                             = 640
 *   output    3·4·9                                                                    = 108 */
TEST(test_flops)
{
    const ModelConfig tiny = {NETWORK(10, 4, 2, 8, 1, 1, 8)};
    for (int i = 0; i < VARIANTS; i++) {  // no option changes the count
        const ModelConfig other = variant_config(tiny, &variants[i]);
        assert_true(transformer_flops(&other, 2, 3) == 3 * 2 * (288 + 640 + 108));
    }
}

TEST_MAIN("flops", NULL, NULL)
