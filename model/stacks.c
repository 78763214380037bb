/* stacks.c -- the encoder and decoder stacks (Vaswani et al. 2017, §3.1 and figure 1).
 *
 *   post-norm
 *     encoder  (1)  A = LayerNorm(X + dropout(SelfAttention(X)))
 *              (3)  Y = LayerNorm(A + dropout(FeedForward(A)))
 *     decoder  (1)  A = LayerNorm(X + dropout(CausalSelfAttention(X)))
 *              (2)  B = LayerNorm(A + dropout(CrossAttention(A, encoded)))
 *              (3)  Y = LayerNorm(B + dropout(FeedForward(B)))
 *   pre-norm                                                              output: LayerNorm(last Y)
 *     encoder  (1)  A = X + dropout(SelfAttention(LayerNorm(X)))
 *              (3)  Y = A + dropout(FeedForward(LayerNorm(A)))
 *     decoder  (1)  A = X + dropout(CausalSelfAttention(LayerNorm(X)))
 *              (2)  B = A + dropout(CrossAttention(LayerNorm(A), encoded))
 *              (3)  Y = B + dropout(FeedForward(LayerNorm(B)))
 *
 * Every decoder layer reads the same encoded source, so its gradient is a sum over the layers: the
 * last layer, where backward begins, sets it and the others add to it. */
#include "model/stacks.h"

void scratch_layout(Scratch *scratch, Arena *arena, const ModelConfig *config, int R,
                    bool training)
{
    size_t rows = (size_t)R, D = (size_t)config->d_model;
    *scratch = (Scratch){.F = ARENA_TAKE(arena, real, rows * D)};
    if (!training) return;
    scratch->dF = ARENA_TAKE(arena, real, rows * D);
    if (config->norm == NORM_PRE) scratch->dY = ARENA_TAKE(arena, real, rows * D);
    scratch->attention = ARENA_TAKE(arena, real, rows * 4 * D);
    scratch->dH = ARENA_TAKE(arena, real, rows * (size_t)config->ffn);
}

void stack_layout(Stack *stack, Arena *arena, const ModelConfig *config, const Packed *rows,
                  const Packed *source, const Dropout *dropout, Keep keep)
{
    int N = rows->rows;
    size_t count = (size_t)N * (size_t)config->d_model;
    bool training = keep >= KEEP_FOR_BACKWARD, traced = keep == KEEP_GRADIENTS;
    size_t block = traced || keep == KEEP_ATTENTION ? SIZE_MAX : ATTENTION_BLOCK;
    *stack = (Stack){.config = config, .rows = rows, .source = source};
    stack->layers = source ? config->decoder_layers : config->encoder_layers;
    real *sum = NULL;
    if (config->norm == NORM_PRE) {
        sum = ARENA_TAKE(arena, real, count);
        layernorm_layout(&stack->last, arena, config, N);
        stack->output = ARENA_TAKE(arena, real, count);
    }
    uint32_t place = source ? PLACE_DECODER : PLACE_ENCODER;
    for (int l = 0; l < stack->layers; l++, place += PLACES_A_LAYER) {
        StackLayer *layer = &stack->layer[l];
        if (l > 0 && keep == KEEP_OUTPUT) {
            *layer = stack->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, source, dropout,
                         place + SITE_SELF, training, block);
        if (traced) attention_keep(&layer->self, arena);
        addnorm_layout(&layer->self_norm, arena, config, N, sum, dropout,
                       place + SITE_SELF_ADD);
        if (source) {
            attention_layout(&layer->cross, arena, config, rows, source, false, dropout,
                             place + SITE_CROSS, training, block);
            if (traced) attention_keep(&layer->cross, arena);
            addnorm_layout(&layer->cross_norm, arena, config, N, sum, dropout,
                           place + SITE_CROSS_ADD);
        }
        feedforward_layout(&layer->ffn, arena, N, config, dropout, place + SITE_FFN);
        addnorm_layout(&layer->final_norm, arena, config, N, sum, dropout,
                       place + SITE_FFN_ADD);
    }
}

const real *stack_forward(Stack *stack, const real *X, const real *encoded, const Weights *w,
                          Scratch *scratch)
{
    const Packed *rows = stack->rows;
    int N = rows->rows;
    const LayerWeights *p = stack->source ? w->decoder : w->encoder;
    real *F = scratch->F;
    const real *input;
    for (int l = 0; l < stack->layers; l++, p++) {
        StackLayer *layer = &stack->layer[l];
        // (1) self-attention, causal in the decoder
        input = addnorm_input(&layer->self_norm, X, p->self_norm, N);
        attention_forward(F, &layer->self, input, NULL, &p->self);
        X = addnorm_output(&layer->self_norm, X, F, p->self_norm, rows);
        // (2) encoder-decoder attention
        if (stack->source) {
            input = addnorm_input(&layer->cross_norm, X, p->cross_norm, N);
            attention_forward(F, &layer->cross, input, encoded, &p->cross);
            X = addnorm_output(&layer->cross_norm, X, F, p->cross_norm, rows);
        }
        // (3) position-wise feed-forward network
        input = addnorm_input(&layer->final_norm, X, p->final_norm, N);
        feedforward_forward(F, &layer->ffn, input, &p->ffn, rows);
        X = addnorm_output(&layer->final_norm, X, F, p->final_norm, rows);
    }
    if (stack->config->norm != NORM_PRE) return X;
    layernorm_forward(stack->output, &stack->last, X,
                      stack->source ? w->decoder_last : w->encoder_last, N);
    return stack->output;
}

void stack_backward(const Stack *stack, real *dX, real *dencoded, Weights *dw, const Weights *w,
                    Scratch *scratch)
{
    int N = stack->rows->rows, last = stack->layers - 1;
    bool pre = stack->config->norm == NORM_PRE;
    const LayerWeights *p = stack->source ? w->decoder : w->encoder;
    LayerWeights *dp = stack->source ? dw->decoder : dw->encoder;
    // a sublayer adds to the gradient of the residual connection, or sets that of its norm
    real *dinput = pre ? scratch->dY : dX;
    GemmMode mode = pre ? SET : ADD;
    if (pre)
        layernorm_backward(SET, dX, stack->source ? dw->decoder_last : dw->encoder_last, dX,
                           &stack->last, stack->source ? w->decoder_last : w->encoder_last, N);
    for (int l = last; l >= 0; l--) {
        const StackLayer *layer = &stack->layer[l];
        const real *dF;
        // (3) position-wise feed-forward network
        dF = addnorm_output_backward(&layer->final_norm, dX, scratch->dF, dp[l].final_norm,
                                     p[l].final_norm, N);
        feedforward_backward(mode, dinput, &dp[l].ffn, scratch->dH, dF, &layer->ffn, &p[l].ffn,
                             N);
        addnorm_input_backward(&layer->final_norm, dX, dinput, dp[l].final_norm,
                               p[l].final_norm, N);
        // (2) encoder-decoder attention
        if (stack->source) {
            dF = addnorm_output_backward(&layer->cross_norm, dX, scratch->dF, dp[l].cross_norm,
                                         p[l].cross_norm, N);
            attention_backward(mode, dinput, l == last ? SET : ADD, dencoded, &dp[l].cross,
                               scratch->attention, dF, &layer->cross, &p[l].cross);
            addnorm_input_backward(&layer->cross_norm, dX, dinput, dp[l].cross_norm,
                                   p[l].cross_norm, N);
        }
        // (1) self-attention
        dF = addnorm_output_backward(&layer->self_norm, dX, scratch->dF, dp[l].self_norm,
                                     p[l].self_norm, N);
        attention_backward(mode, dinput, SET, NULL, &dp[l].self, scratch->attention, dF,
                           &layer->self, &p[l].self);
        addnorm_input_backward(&layer->self_norm, dX, dinput, dp[l].self_norm, p[l].self_norm,
                               N);
    }
}
