/* output.c -- from what a layer's heads put out to the probability of a word, for the row that is
 * followed; see explanation.h. What each sublayer reads, and what the heads put out, is in the
 * snapshot; the products with W_O, W_2 and the output matrix are computed again. */
#include "explain/explanation.h"

#include <math.h>
#include <stdlib.h>

#include "base/best.h"
#include "plots/blocks.h"

enum { ANSWERS = 5 };

/* f (=) W h + b, which is written as `name`, and with it add & norm.   x: what the sublayer reads,
 * in post-norm what f is added to, too   next: what the next sublayer reads */
static void put_sublayer(const Explanation *e, const char *name, const Linear *linear,
                         const real *h, int width, const real *x, const real *next)
{
    int D = e->config->d_model;
    real f[MAX_D_MODEL];
    matrix_multiply(f, h, &linear->W, linear->b, 1, D, width);
    put_row(e, "  ", name, f, D);
    if (e->config->norm != NORM_PRE) {
        put_row(e, "  ", "x", x, D);
        for (int d = 0; d < D; d++) f[d] += x[d];
        put_row(e, "  ", "x + f", f, D);
    }
    put_row(e, "  ", "norm(x + f)", next, D);
    fputc('\n', e->out);
}

static void attention(Explanation *e, const real *next)
{
    int D = e->config->d_model, H = e->config->heads;
    HeadVectors v = snapshot_vectors(e->snapshot, e->kind, e->layer, 0);
    const real *o = snapshot_row(v.O, e->word);  // of all heads
    step(e, "W_O, the residual connection and the norm");
    say(e,
        "The other heads have matrices of their own. The outputs of all heads are "
        "concatenated to %d × %d = %d numbers o. The output projection mixes them: "
        "f = W_O o + b_O. The residual connection adds f to x, the layer's %s. The norm "
        "gives the sum a mean of 0 and a variance of 1, then a learned scale and shift. "
        "The first numbers:",
        H, D / H, D, e->config->norm == NORM_PRE ? "input before its norm" : "input");
    put_row(e, "  ", "o", o, D);
    const AttentionWeights *w =
        attention_weights(&e->snapshot->model->weights, e->kind, e->layer);
    put_sublayer(e, "W_O o + b_O", &w->out, o, D, snapshot_row(v.Xq, e->word), next);
}

static void feedforward(Explanation *e, const FeedforwardSaved *ffn, const Linear *fc2,
                        const real *next)
{
    static const char *const names[] = {"max(0, a)", "GELU(a)", "Swish(a)"};
    int D = e->config->d_model, F = e->config->ffn, alive = 0;
    const real *y = ffn->X + e->word * D, *h = ffn->H + e->word * F;
    for (int k = 0; k < F; k++) alive += h[k] > 0;
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
    put_row(e, "  ", "y", y, D);
    put_row(e, "  ", "h", h, F);
    put_sublayer(e, "W_2 h + b_2", fc2, h, F, y, next);
}

/* The tokens with the largest logits, and the one that the translation has. */
static bool probabilities(Explanation *e, const real *y, Error *error)
{
    const Weights *w = &e->snapshot->model->weights;
    int D = e->config->d_model, C = e->config->vocab - 1, count = 0,
        right = e->snapshot->target.id[e->word];
    Best best[ANSWERS] = {0};
    double sum = 0;
    real *z = malloc(((size_t)C + 1) * sizeof *z);
    if (!z) return error_memory(error, "to explain the attention");
    matrix_multiply(z, y, &w->output, w->logits_bias, 1, C + 1, D);
    for (int id = 0; id < C; id++) best_add(best, &count, ANSWERS, id, (double)z[id]);
    for (int id = 0; id < C; id++) sum += exp((double)z[id] - best[0].value);
    step(e, "From the last layer to the probability of a word");
    say(e,
        "%sThe last layer gives y. The logit of a token is the product of y and the token's "
        "row of the output matrix%s, plus a bias. The softmax over all %d tokens gives "
        "probabilities:",
        e->layer + 1 < e->config->decoder_layers ? "The layers above do the same. " : "",
        e->config->tying == TYING_NONE ? "" : ", which is the table of embeddings", C);
    put_row(e, "  ", "y", y, D);
    fprintf(e->out, "\n  %-*s %9s %12s\n", LABEL, "token", "logit", "probability");
    for (int k = 0, seen = 0; k <= count; k++) {
        int id = k < count ? best[k].id : right;
        double p = exp((double)z[id] - best[0].value) / sum;
        if (k == count && seen) break;
        seen += id == right;
        put_label(e, "  ", tokenizer_shown(e->vocabulary->tokenizer[TARGET], id), LABEL);
        put_number(e, (double)z[id]);
        fprintf(e->out, " %12.4f", p);
        blocks_bar(e->out, p, 24);
        fputc('\n', e->out);
    }
    fputc('\n', e->out);
    free(z);
    return true;
}

bool output_print(Explanation *e, Error *error)
{
    bool encoder = e->kind == ATTENTION_ENCODER;
    const Activations *a = &e->snapshot->activations;
    const Weights *w = &e->snapshot->model->weights;
    const Stack *stack = encoder ? &a->encoder : &a->decoder;
    const StackLayer *layer = &stack->layer[e->layer];
    bool last = e->layer + 1 == stack->layers;
    size_t at = (size_t)e->word * (size_t)e->config->d_model;  // of the row
    const real *mixed = e->kind == ATTENTION_DECODER ? layer->cross.Xq : layer->ffn.X,
               *output = encoder ? a->encoded : a->output;
    attention(e, mixed + at);
    feedforward(e, &layer->ffn, &(encoder ? w->encoder : w->decoder)[e->layer].ffn.fc2,
                (last ? output : layer[1].self.Xq) + at);
    if (!encoder) return probabilities(e, a->output + at, error);
    say(e, last ? "This is the encoder's output. The keys and values of cross-attention are "
                  "made of it, in every layer of the decoder."
                : "The next layer of the encoder reads the result.");
    return true;
}
