/* attention.c -- gradients of attention in its three uses: encoder self-attention, causal
 * self-attention, encoder-decoder attention, whose first head may be guided. */
#include "model/attention.h"
#include "tests/fixtures/check.h"

enum { D = 6, H = 2, PLACE = 9, DD = D * D };

/* One block a map; and several, of which those of 18 tokens have 2 or 6 rows. */
static const size_t WHOLE = SIZE_MAX, blocks[] = {SIZE_MAX, 64, 300};

typedef struct Case {
    Attention a;
    real *Y, *Xq, *Xkv, *R;  // Xkv NULL: self-attention
    AttentionWeights w;
} Case;

/* -Σ G ln P of the first head, over the maps that are kept; or, to prepare it, makes G an array of
 * links out of any numbers. */
static double guided(const Case *c, real *prepare)
{
    const Attention *a = &c->a;
    double sum = 0;
    for (int s = 0; s < a->keys->sentences; s++) {
        int n = packed_length(a->queries, s), m = packed_length(a->keys, s);
        int width = head_width(m);
        for (int k = 0; k < n * width && a->map[s] < a->map[s + 1]; k++) {
            size_t at = a->map[s] / H + (size_t)k;
            if (prepare) prepare[at] = k % width < m ? (real)fabs(prepare[at]) : 0;
            else if (k % width < m)
                sum -= a->guide[at] * log(a->P[attention_map_at(a, s, 0) + (size_t)k]);
        }
    }
    return sum;
}

static double loss(void *context)
{
    Case *c = context;
    attention_forward(c->Y, &c->a, c->Xq, c->Xkv, &c->w);
    double sum = inner(c->Y, c->R, (size_t)c->a.queries->rows * D);
    return sum + (c->a.guide ? guided(c, NULL) : 0);
}

/* W [4D,D], b [4D]: W_Q, W_K and W_V are adjacent, and so are their biases. */
static AttentionWeights weights(real *W, real *b, real *scale)
{
    return (AttentionWeights){.q = {.W.at = W, .b = b},
                              .k = {.W.at = W + DD, .b = b + D},
                              .v = {.W.at = W + 2 * DD, .b = b + 2 * D},
                              .out = {.W.at = W + 3 * DD, .b = b + 3 * D},
                              .scale = scale};
}

/* The output of the last map that was one block. Others must give the same, but for dropout of a
 * causal map: its mask leaves out what no query sees. */
static real whole[20 * D];

typedef struct Use {
    const char *name;
    const Packed *queries, *keys;  // keys NULL: self-attention
    bool causal;
    double rate;  // of dropout
    GemmMode q_mode, kv_mode;
} Use;

static void check_use(const Use *use, Score score, size_t block)
{
    const ModelConfig config = {.d_model = D, .heads = H, .attention_score = score};
    const Dropout dropout = {.attention = use->rate, .seed = 5, .update = 2};
    bool self = !use->keys;
    size_t n = (size_t)use->queries->rows * D, m = self ? n : (size_t)use->keys->rows * D;
    bool learned = score_functions[score].learned;
    real *W = numbers(4 * DD), *b = numbers(4 * D), *scale = numbers(H);
    Case c = {.Y = numbers(n),
              .Xq = numbers(n),
              .Xkv = self ? NULL : numbers(m),
              .R = numbers(n),
              .w = weights(W, b, learned ? scale : NULL)};
    Arena arena = {0};
    LAYOUT(&arena, attention_layout(&c.a, &arena, &config, use->queries, use->keys, use->causal,
                                    &dropout, PLACE, true, block));
    if (strstr(use->name, "guided")) {
        real *links = numbers(c.a.numbers / H);
        guided(&c, links);
        c.a.guide = links;
    }

    Added dXq = added(n), dXkv = added(m), dW = added(4 * DD), db = added(4 * D),
          dscale = added(H);
    AttentionWeights dw = weights(dW.now, db.now, learned ? dscale.now : NULL);
    loss(&c);
    if (block == WHOLE) memcpy(whole, c.Y, n * sizeof *whole);
    for (size_t i = 0; i < n && !(use->causal && use->rate > 0); i++)
        assert_true(fabs(c.Y[i] - whole[i]) < 1e-12);
    attention_backward(use->q_mode, dXq.now, use->kv_mode, dXkv.now, &dw, numbers(2 * (n + m)),
                       c.R, &c.a, &c.w);

    Check check = {.layer = use->name, .loss = loss, .context = &c};
    check_tensor(&check, "Xq", c.Xq, dXq.now, use->q_mode == ADD ? dXq.before : NULL, n);
    if (self) check_untouched(dXkv.now, dXkv.before, m);
    else
        check_tensor(&check, "Xkv", c.Xkv, dXkv.now, use->kv_mode == ADD ? dXkv.before : NULL,
                     m);
    static const char *const weight[] = {"q_proj.weight", "k_proj.weight", "v_proj.weight",
                                         "out_proj.weight"},
                             *const bias[] = {"q_proj.bias", "k_proj.bias", "v_proj.bias",
                                              "out_proj.bias"};
    for (int i = 0; i < 4; i++)
        check_tensor(&check, weight[i], W + i * DD, dW.now + i * DD, dW.before + i * DD, DD);
    for (int i = 0; i < 4; i++)
        check_tensor(&check, bias[i], b + i * D, db.now + i * D, db.before + i * D, D);
    if (learned) check_added(&check, "score_scale", scale, dscale, H);
    else check_untouched(dscale.now, dscale.before, H);
    for (int kept = 0; kept < 2 && use->rate > 0 && block == WHOLE;
         kept++)  // the mask is not constant
        assert_non_null(memchr(c.a.mask.keep, kept, c.a.map[use->queries->sentences]));
    check_report(&check);
    arena_free(&arena);
}

/* Longer than one vector of scores, and than the two that the kernel computes at a time. */
static const int start[] = {0, 18, 19}, key_start[] = {0, 35, 52};
static const Packed long_target = {2, 19, NULL, start}, long_source = {2, 52, NULL, key_start};

static const Use uses[] = {
    {"self", &source_rows, NULL, false, 0, SET, SET},
    {"self, dropout", &source_rows, NULL, false, 0.3, ADD, ADD},
    {"causal", &target_rows, NULL, true, 0, SET, SET},
    {"causal, dropout", &target_rows, NULL, true, 0.3, ADD, ADD},
    {"cross", &target_rows, &source_rows, false, 0, SET, SET},
    {"cross, dXkv added", &target_rows, &source_rows, false, 0, SET, ADD},
    {"cross, dXq added", &target_rows, &source_rows, false, 0, ADD, SET},
    {"cross, dropout", &target_rows, &source_rows, false, 0.3, ADD, ADD},
    {"cross, guided", &target_rows, &source_rows, false, 0.3, SET, SET},
    {"causal, 18 tokens", &long_target, NULL, true, 0.1, SET, SET},
    {"cross, 18 to 35 tokens", &long_target, &long_source, false, 0.1, SET, SET},
    {"cross, 18 to 35 tokens, guided", &long_target, &long_source, false, 0, SET, SET},
};

TEST(test_uses)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (int score = 0; score_names[score]; score++) {
            for (int b = 0; b < 3; b++) {
                print_message("%s, block %zu: ", score_names[score], blocks[b]);
                check_use(&uses[i], (Score)score, blocks[b]);
                check_teardown(state);
            }
        }
    }
}

TEST_MAIN("gradients/attention", NULL, check_teardown)
