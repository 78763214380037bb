/* attention.c -- attention in its three uses (among the source, causal among the target, from
 * target to source), with and without dropout of probabilities, gradients set and added. */
#include "tests/fixtures/check.h"

#include "model/attention.h"

enum { D = 6, H = 2, PLACE = 9 };

typedef struct Case {
    Attention a;
    real *Y, *Xq, *Xkv, *R;  // Xkv NULL: self-attention
    AttentionWeights w;
    const Dropout *dropout;
} Case;

static double loss(void *context)
{
    Case *c = context;
    attention_forward(c->Y, &c->a, c->Xq, c->Xkv, &c->w, c->dropout, PLACE);
    return inner(c->Y, c->R, (size_t)c->a.queries->rows * D);
}

/* W_Q, W_K and W_V touch, and so do their biases. */
static AttentionWeights weights(void)
{
    real *W = numbers(3 * D * D), *b = numbers(3 * D);
    return (AttentionWeights){.q = {.W.at = W, .b = b},
                              .k = {.W.at = W + D * D, .b = b + D},
                              .v = {.W.at = W + 2 * D * D, .b = b + 2 * D},
                              .out = {.W.at = numbers(D * D), .b = numbers(D)}};
}

static void check_linear(Check *check, const char *name, Linear w, Linear dw, Linear before)
{
    char text[64];
    snprintf(text, sizeof text, "%s_proj.weight", name);
    check_tensor(check, text, w.W.at, dw.W.at, before.W.at, D * D);
    snprintf(text, sizeof text, "%s_proj.bias", name);
    check_tensor(check, text, w.b, dw.b, before.b, D);
}

static void check_use(const char *layer, const Packed *queries, const Packed *keys, bool causal,
                      double rate, GemmMode q_mode, GemmMode kv_mode)
{
    const ModelConfig config = {.d_model = D, .heads = H, .score = SCORE_SCALED_DOT};
    const Dropout dropout = {.attention = rate, .seed = 5, .update = 2};
    bool self = !keys;
    size_t n = (size_t)queries->rows * D, m = self ? n : (size_t)keys->rows * D;
    Case c = {.Y = numbers(n),
              .Xq = numbers(n),
              .Xkv = self ? NULL : numbers(m),
              .R = numbers(n),
              .w = weights(),
              .dropout = &dropout};
    Arena arena = {0};
    attention_layout(&c.a, &arena, &config, queries, keys, causal, &dropout, true);
    assert_true(arena_reserve(&arena, NULL));
    attention_layout(&c.a, &arena, &config, queries, keys, causal, &dropout, true);

    real *dXq = numbers(n), *dXq0 = copy_of(dXq, n), *dXkv = numbers(m);
    real *dXkv0 = copy_of(dXkv, m);
    AttentionWeights dw = weights(), dw0 = dw;
    dw0.q.W.at = copy_of(dw.q.W.at, 3 * D * D), dw0.k.W.at = dw0.q.W.at + D * D;
    dw0.v.W.at = dw0.k.W.at + D * D;
    dw0.q.b = copy_of(dw.q.b, 3 * D), dw0.k.b = dw0.q.b + D, dw0.v.b = dw0.k.b + D;
    dw0.out = (Linear){.W.at = copy_of(dw.out.W.at, D * D), .b = copy_of(dw.out.b, D)};
    loss(&c);
    attention_backward(q_mode, dXq, kv_mode, dXkv, &dw, numbers(n), numbers(3 * (n + m)), c.R,
                       &c.a, c.Xq, c.Xkv, &c.w);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "Xq", c.Xq, dXq, q_mode == ADD ? dXq0 : NULL, n);
    if (self) check_untouched(dXkv, dXkv0, m);
    else check_tensor(&check, "Xkv", c.Xkv, dXkv, kv_mode == ADD ? dXkv0 : NULL, m);
    check_linear(&check, "q", c.w.q, dw.q, dw0.q);
    check_linear(&check, "k", c.w.k, dw.k, dw0.k);
    check_linear(&check, "v", c.w.v, dw.v, dw0.v);
    check_tensor(&check, "out_proj.weight", c.w.out.W.at, dw.out.W.at, dw0.out.W.at, D * D);
    check_untouched(dw.out.b, dw0.out.b, D);
    if (rate > 0) {  // the masks were neither all ones nor all zeros
        assert_non_null(memchr(c.a.keep, 0, c.a.map[queries->sentences]));
        assert_non_null(memchr(c.a.keep, 1, c.a.map[queries->sentences]));
    }
    check_report(&check);
    arena_free(&arena);
}

static void test_self(void **state)
{
    (void)state;
    check_use("self", &source_rows, NULL, false, 0, SET, SET);
    check_use("self, dropout", &source_rows, NULL, false, 0.3, ADD, ADD);
}

static void test_causal(void **state)
{
    (void)state;
    check_use("causal", &target_rows, NULL, true, 0, SET, SET);
    check_use("causal, dropout", &target_rows, NULL, true, 0.3, ADD, ADD);
}

static void test_cross(void **state)
{
    (void)state;
    check_use("cross", &target_rows, &source_rows, false, 0, SET, SET);
    check_use("cross, dXkv added", &target_rows, &source_rows, false, 0, SET, ADD);
    check_use("cross, dXq added", &target_rows, &source_rows, false, 0, ADD, SET);
    check_use("cross, dropout", &target_rows, &source_rows, false, 0.3, ADD, ADD);
}

/* Longer than a vector of scores, and than the two that the kernel takes at a time. */
static void test_long(void **state)
{
    (void)state;
    const int start[] = {0, 18, 19}, asked[] = {0, 35, 52};
    const Packed target = {2, 19, NULL, start}, source = {2, 52, NULL, asked};
    check_use("causal, 18 tokens", &target, NULL, true, 0.1, SET, SET);
    check_use("cross, 18 to 35 tokens", &target, &source, false, 0.1, SET, SET);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_self, check_teardown),
        cmocka_unit_test_teardown(test_causal, check_teardown),
        cmocka_unit_test_teardown(test_cross, check_teardown),
        cmocka_unit_test_teardown(test_long, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/attention", tests, NULL, NULL);
}
