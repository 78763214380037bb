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
 * In both orders a sum and a norm follow each sublayer (addnorm.h): s is the stream between two
 * sublayers and g its gradient. Every decoder layer reads the same encoded source, so its
 * gradient is a sum over the layers: the last layer, where backward begins, sets it and the
 * others add to it. */
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
    bool training = keep >= KEEP_FOR_BACKWARD, traced = keep == KEEP_GRADIENTS;
    size_t block = traced || keep == KEEP_ATTENTION ? SIZE_MAX : ATTENTION_BLOCK;
    *stack = (Stack){.rows = rows, .source = source};
    stack->layers = source ? config->decoder_layers : config->encoder_layers;
    real *stream = addnorm_layout_first(&stack->first, arena, config, N);
    for (int l = 0; l < stack->layers; l++) {
        StackLayer *layer = &stack->layer[l];
        if (l > 0 && keep == KEEP_OUTPUT) {
            *layer = stack->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, source, dropout, training,
                         block);
        if (traced) attention_keep(&layer->self, arena);
        addnorm_layout(&layer->self_norm, arena, config, N, stream, dropout);
        if (source) {
            attention_layout(&layer->cross, arena, config, rows, source, false, dropout,
                             training, block);
            if (traced) attention_keep(&layer->cross, arena);
            addnorm_layout(&layer->cross_norm, arena, config, N, stream, dropout);
        }
        feedforward_layout(&layer->ffn, arena, N, config, dropout, training);
        addnorm_layout(&layer->final_norm, arena, config, N, stream, dropout);
    }
}

const real *stack_forward(Stack *stack, const real *X, const real *encoded, const Weights *w,
                          const ModelConfig *config, Scratch *scratch, const Dropout *dropout)
{
    const Packed *rows = stack->rows;
    const LayerWeights *p = stack->source ? w->decoder : w->encoder;
    NormWeights first = stack->source ? w->decoder_first : w->encoder_first;
    uint32_t place = stack->source ? PLACE_DECODER : PLACE_ENCODER;
    real *F = scratch->F;
    Stream s = addnorm_first(&stack->first, X, first, config, rows->rows);
    for (int l = 0; l < stack->layers; l++, p++, place += PLACES_A_LAYER) {
        StackLayer *layer = &stack->layer[l];
        // (1) self-attention, causal in the decoder
        attention_forward(F, &layer->self, s.Y, NULL, &p->self, dropout, place + SITE_SELF);
        s = addnorm_forward(&layer->self_norm, s, F, p->self_norm, rows, dropout,
                            place + SITE_SELF_ADD);
        // (2) encoder-decoder attention
        if (stack->source) {
            attention_forward(F, &layer->cross, s.Y, encoded, &p->cross, dropout,
                              place + SITE_CROSS);
            s = addnorm_forward(&layer->cross_norm, s, F, p->cross_norm, rows, dropout,
                                place + SITE_CROSS_ADD);
        }
        // (3) position-wise feed-forward network
        feedforward_forward(F, &layer->ffn, s.Y, &p->ffn, rows, dropout, place + SITE_FFN);
        s = addnorm_forward(&layer->final_norm, s, F, p->final_norm, rows, dropout,
                            place + SITE_FFN_ADD);
    }
    return s.Y;
}

void stack_backward(const Stack *stack, real *dX, real *dencoded, Weights *dw, const Weights *w,
                    const ModelConfig *config, Scratch *scratch)
{
    int N = stack->rows->rows, last = stack->layers - 1;
    const LayerWeights *p = stack->source ? w->decoder : w->encoder;
    LayerWeights *dp = stack->source ? dw->decoder : dw->encoder;
    StreamGradient g = addnorm_last(dX, scratch->dY, config);
    for (int l = last; l >= 0; l--) {
        const StackLayer *layer = &stack->layer[l];
        const real *dF;
        // (3) position-wise feed-forward network
        dF = addnorm_backward(&layer->final_norm, &g, scratch->dF, dp[l].final_norm,
                              p[l].final_norm, N);
        feedforward_backward(g.mode, g.dY, &dp[l].ffn, scratch->dH, dF, &layer->ffn, &p[l].ffn,
                             N);
        // (2) encoder-decoder attention
        if (stack->source) {
            dF = addnorm_backward(&layer->cross_norm, &g, scratch->dF, dp[l].cross_norm,
                                  p[l].cross_norm, N);
            attention_backward(g.mode, g.dY, l == last ? SET : ADD, dencoded, &dp[l].cross,
                               scratch->attention, dF, &layer->cross, &p[l].cross);
        }
        // (1) self-attention
        dF = addnorm_backward(&layer->self_norm, &g, scratch->dF, dp[l].self_norm,
                              p[l].self_norm, N);
        attention_backward(g.mode, g.dY, SET, NULL, &dp[l].self, scratch->attention, dF,
                           &layer->self, &p[l].self);
    }
    if (stack->source)
        addnorm_first_backward(&stack->first, &g, dw->decoder_first, w->decoder_first, N);
    else addnorm_first_backward(&stack->first, &g, dw->encoder_first, w->encoder_first, N);
}
