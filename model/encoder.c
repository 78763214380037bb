/* encoder.c -- the stack that reads the source sentence.
 *
 *   post-norm  (1)  A = LayerNorm(X + dropout(SelfAttention(X)))
 *              (2)  Y = LayerNorm(A + dropout(FeedForward(A)))         encoded: Y of the last
 *   pre-norm   (1)  A = X + dropout(SelfAttention(LayerNorm(X)))
 *              (2)  Y = A + dropout(FeedForward(LayerNorm(A)))         encoded: its LayerNorm
 *
 * Post-norm is Vaswani et al. 2017, §3.1 and figure 1. In both orders a sum and a norm follow each
 * sublayer (addnorm.h): s is the stream between two sublayers and g its gradient. */
#include "model/encoder.h"

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

void encoder_layout(Encoder *encoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Dropout *dropout, PassKind kind)
{
    int N = rows->rows;
    bool training = kind == PASS_TRAIN;
    *encoder = (Encoder){.rows = rows, .layers = config->encoder_layers};
    real *stream = addnorm_layout_first(&encoder->first, arena, config, N);
    for (int l = 0; l < encoder->layers; l++) {
        EncoderLayer *layer = &encoder->layer[l];
        if (l > 0 && kind == PASS_SCORE) {
            *layer = encoder->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, false, dropout, training);
        addnorm_layout(&layer->self_norm, arena, config, N, stream, dropout);
        feedforward_layout(&layer->ffn, arena, N, config, dropout, training);
        addnorm_layout(&layer->final_norm, arena, config, N, stream, dropout);
    }
}

const real *encoder_forward(Encoder *encoder, const real *X, const Weights *w,
                            const ModelConfig *config, Scratch *scratch, const Dropout *dropout)
{
    const Packed *rows = encoder->rows;
    real *F = scratch->F;
    Stream s = addnorm_first(&encoder->first, X, w->encoder_first, config, rows->rows);
    for (int l = 0; l < encoder->layers; l++) {
        EncoderLayer *layer = &encoder->layer[l];
        const EncoderLayerWeights *p = &w->encoder[l];
        uint32_t place = PLACE_ENCODER + (uint32_t)l * PLACES_A_LAYER;
        // (1) self-attention
        attention_forward(F, &layer->self, s.Y, NULL, &p->self, dropout, place + SITE_SELF);
        s = addnorm_forward(&layer->self_norm, s, F, p->self.out.b, p->self_norm, rows, dropout,
                            place + SITE_SELF_ADD);
        // (2) feed-forward
        feedforward_forward(F, &layer->ffn, s.Y, &p->ffn, rows, dropout, place + SITE_FFN);
        s = addnorm_forward(&layer->final_norm, s, F, p->ffn.fc2.b, p->final_norm, rows,
                            dropout, place + SITE_FFN_ADD);
    }
    return s.Y;
}

void encoder_backward(const Encoder *encoder, real *dX, Weights *dw, Turn *turn,
                      const Weights *w, const ModelConfig *config, Scratch *scratch)
{
    int N = encoder->rows->rows;
    StreamGradient g = addnorm_last(dX, scratch->dY, config);
    for (int l = encoder->layers - 1; l >= 0; l--) {
        const EncoderLayer *layer = &encoder->layer[l];
        const EncoderLayerWeights *p = &w->encoder[l];
        EncoderLayerWeights *dp = &dw->encoder[l];
        const real *dF;
        // (2) feed-forward
        turn_next(turn, 1);
        dF = addnorm_backward(&layer->final_norm, &g, scratch->dF, dp->ffn.fc2.b,
                              dp->final_norm, p->final_norm, N);
        feedforward_backward(g.mode, g.dY, &dp->ffn, scratch->dH, dF, &layer->ffn, &p->ffn, N);
        // (1) self-attention
        turn_next(turn, 1);
        dF = addnorm_backward(&layer->self_norm, &g, scratch->dF, dp->self.out.b, dp->self_norm,
                              p->self_norm, N);
        attention_backward(g.mode, g.dY, SET, NULL, &dp->self, scratch->attention, dF,
                           &layer->self, &p->self);
    }
    addnorm_first_backward(&encoder->first, &g, dw->encoder_first, w->encoder_first, N);
}
