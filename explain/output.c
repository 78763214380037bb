/* output.c -- from what a layer's heads put out to the probability of a word, for the row that is
 * followed; see explanation.h. It is the forward pass of this one row (model/stacks.c), from its
 * embedding on. What each sublayer reads, and what the heads put out, is in the snapshot. */
#include "explain/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/best.h"
#include "plots/blocks.h"

enum { ANSWERS = 5 };

/* The row: what the next residual connection adds to, and what the next sublayer reads. In
 * post-norm both are one (model/addnorm.h). */
typedef struct RowStream {
    real *x;        // [D]
    const real *y;  // [D]
    real *f;        // [D] a sublayer's output
    real *z;        // [V] logits
} RowStream;

enum { SELF, CROSS, FEEDFORWARD };

/* What a sublayer reads of the row; of the layer behind the last: the stack's output. */
static const real *input_of(const Explanation *e, int layer, int sublayer)
{
    const Activations *a = &e->snapshot->activations;
    bool encoder = e->kind == ATTENTION_ENCODER;
    const Stack *stack = encoder ? &a->encoder : &a->decoder;
    const StackLayer *l = &stack->layer[layer];
    const real *X = layer == stack->layers ? encoder ? a->encoded : a->output
                    : sublayer == SELF     ? l->self.Xq
                    : sublayer == CROSS    ? l->cross.Xq
                                           : l->ffn.X;
    return X + e->word * e->config->d_model;
}

static void put(const Explanation *e, const char *name, const real *x, int count)
{
    fputs("  ", e->out);
    put_row(e, name, x, count);
}

/* Add & norm, after a sublayer.   next: what the next one reads */
static void add(const Explanation *e, RowStream *s, const real *next, bool shown)
{
    int D = e->config->d_model;
    if (shown) put(e, "x", s->x, D);
    for (int d = 0; d < D; d++) s->x[d] += s->f[d];
    if (shown) put(e, "x + f", s->x, D);
    s->y = next;
    if (e->config->norm != NORM_PRE) memcpy(s->x, s->y, (size_t)D * sizeof *s->x);
    if (shown) put(e, "norm(x + f)", s->y, D);
    if (shown) fputc('\n', e->out);
}

static void attention(Explanation *e, RowStream *s, AttentionKind kind, int layer,
                      const AttentionWeights *w, const real *next)
{
    int D = e->config->d_model, H = e->config->heads;
    bool shown = kind == e->kind && layer == e->layer;
    const real *o =
        row_of(snapshot_vectors(e->snapshot, kind, layer, 0).O, e->word);  // of all heads
    matrix_multiply(s->f, o, &w->out.W, w->out.b, 1, D, D);
    if (shown) {
        step(e, "W_O, the residual connection and the norm");
        say(e,
            "The other heads have matrices of their own. The outputs of all heads are "
            "concatenated to %d × %d = %d numbers o. The output projection mixes them: "
            "f = W_O o + b_O. The residual connection adds f to x, the layer's %s. The norm "
            "gives the sum a mean of 0 and a variance of 1, then a learned scale and shift. "
            "The first numbers:",
            H, D / H, D, e->config->norm == NORM_PRE ? "input before its norm" : "input");
        put(e, "o", o, D);
        put(e, "W_O o + b_O", s->f, D);
    }
    add(e, s, next, shown);
}

static void feedforward(Explanation *e, RowStream *s, int layer, const FeedforwardWeights *w,
                        const real *next)
{
    static const char *const names[] = {"max(0, a)", "GELU(a)", "Swish(a)"};
    int D = e->config->d_model, F = e->config->ffn, alive = 0;
    bool shown = layer == e->layer;
    const Activations *a = &e->snapshot->activations;
    const Stack *stack = e->kind == ATTENTION_ENCODER ? &a->encoder : &a->decoder;
    const real *h = stack->layer[layer].ffn.H + e->word * F;
    for (int k = 0; k < F; k++) alive += h[k] > 0;
    matrix_multiply(s->f, h, &w->fc2.W, w->fc2.b, 1, D, F);
    if (shown) {
        step(e, "The feed-forward network");
        say(e,
            "%sIt reads the normalised vector y of this position alone: a = W_1 y + b_1 has %d "
            "numbers, %d of them above 0. h = %s, and f = W_2 h + b_2. Add & norm follow "
            "again:",
            e->kind == ATTENTION_DECODER
                ? "Attention to the source comes first (--attention-kind cross explains it), "
                  "with a norm of its own. "
                : "",
            F, alive, names[e->config->activation]);
        put(e, "y", s->y, D);
        put(e, "h", h, F);
        put(e, "W_2 h + b_2", s->f, D);
    }
    add(e, s, next, shown);
}

/* The tokens with the largest logits, and the one that the translation has. */
static void probabilities(Explanation *e, RowStream *s)
{
    const Weights *w = &e->snapshot->model->weights;
    int D = e->config->d_model, C = e->config->vocab - 1, count = 0,
        right = labels_id(e->snapshot, TOKENS_TARGET, e->word);
    Best best[ANSWERS] = {0};
    double sum = 0;
    matrix_multiply(s->z, s->y, &w->output, w->logits_bias, 1, C + 1, D);
    for (int id = 0; id < C; id++) best_add(best, &count, ANSWERS, id, (double)s->z[id]);
    for (int id = 0; id < C; id++) sum += exp((double)s->z[id] - best[0].value);
    step(e, "From the last layer to the probability of a word");
    say(e,
        "%sThe last layer gives y. The logit of a token is the product of y and the token's "
        "row of the output matrix%s, plus a bias. The softmax over all %d tokens gives "
        "probabilities:",
        e->layer + 1 < e->config->decoder_layers ? "The layers above do the same. " : "",
        e->config->tying == TYING_NONE ? "" : ", which is the table of embeddings", C);
    put(e, "y", s->y, D);
    fprintf(e->out, "\n  %-*s %9s %12s\n", LABEL, "token", "logit", "probability");
    for (int k = 0, seen = 0; k <= count; k++) {
        int id = k < count ? best[k].id : right;
        double p = exp((double)s->z[id] - best[0].value) / sum;
        if (k == count && seen) break;
        seen += id == right;
        put_label(e, "  ", tokenizer_label(e->vocabulary->tokenizer[TARGET], id), LABEL);
        put_number(e, (double)s->z[id]);
        fprintf(e->out, " %12.4f", p);
        blocks_bar(e->out, p, 24);
        fputc('\n', e->out);
    }
    fputc('\n', e->out);
}

bool output_print(Explanation *e, Error *error)
{
    bool encoder = e->kind == ATTENTION_ENCODER;
    const ModelConfig *c = e->config;
    const Weights *w = &e->snapshot->model->weights;
    size_t D = (size_t)c->d_model;
    real *block = malloc((2 * D + (size_t)c->vocab) * sizeof *block);
    if (!block) return error_memory(error, "to explain the attention");
    RowStream s = {block, NULL, block + D, block + 2 * D};
    memcpy(s.x, row_of(snapshot_embedded(e->snapshot, encoder), e->word), D * sizeof *s.x);
    for (int l = 0; l < (encoder ? c->encoder_layers : c->decoder_layers); l++) {
        const LayerWeights *p = encoder ? &w->encoder[l] : &w->decoder[l];
        attention(e, &s, encoder ? ATTENTION_ENCODER : ATTENTION_DECODER, l, &p->self,
                  input_of(e, l, encoder ? FEEDFORWARD : CROSS));
        if (!encoder)
            attention(e, &s, ATTENTION_CROSS, l, &p->cross, input_of(e, l, FEEDFORWARD));
        feedforward(e, &s, l, &p->ffn, input_of(e, l + 1, SELF));
    }
    if (!encoder) probabilities(e, &s);
    else
        say(e, e->layer + 1 < c->encoder_layers
                   ? "The next layer of the encoder reads the result."
                   : "This is the encoder's output. The keys and values of cross-attention are "
                     "made of it, in every layer of the decoder.");
    free(block);
    return true;
}
