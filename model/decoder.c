/* decoder.c -- the stack that writes the target sentence.
 *
 *   post-norm  (1)  A = LayerNorm(X + dropout(CausalSelfAttention(X)))
 *              (2)  B = LayerNorm(A + dropout(CrossAttention(A, encoded)))
 *              (3)  Y = LayerNorm(B + dropout(FeedForward(B)))         output: Y of the last
 *   pre-norm   (1)  A = X + dropout(CausalSelfAttention(LayerNorm(X)))
 *              (2)  B = A + dropout(CrossAttention(LayerNorm(A), encoded))
 *              (3)  Y = B + dropout(FeedForward(LayerNorm(B)))         output: its LayerNorm
 *
 * Vaswani et al. 2017, §3.1 and figure 1; s and g as in encoder.c. Every layer reads the same
 * encoded source, so its gradient is a sum over the layers: the last layer, where backward begins,
 * sets it and the others add to it. */
#include "model/decoder.h"

void decoder_layout(Decoder *decoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Packed *source, const Dropout *dropout,
                    PassKind kind)
{
    int M = rows->rows;
    bool training = kind == PASS_TRAIN;
    *decoder = (Decoder){.rows = rows, .source = source, .layers = config->decoder_layers};
    real *stream = addnorm_layout_first(&decoder->first, arena, config, M);
    for (int l = 0; l < decoder->layers; l++) {
        DecoderLayer *layer = &decoder->layer[l];
        if (l > 0 && kind == PASS_SCORE) {
            *layer = decoder->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, true, dropout, training);
        addnorm_layout(&layer->self_norm, arena, config, M, stream, dropout);
        attention_layout(&layer->cross, arena, config, rows, source, false, dropout, training);
        addnorm_layout(&layer->cross_norm, arena, config, M, stream, dropout);
        feedforward_layout(&layer->ffn, arena, M, config, dropout, training);
        addnorm_layout(&layer->final_norm, arena, config, M, stream, dropout);
    }
}

const real *decoder_forward(Decoder *decoder, const real *X, const real *encoded,
                            const Weights *w, const ModelConfig *config, Scratch *scratch,
                            const Dropout *dropout)
{
    const Packed *rows = decoder->rows;
    real *F = scratch->F;
    Stream s = addnorm_first(&decoder->first, X, w->decoder_first, config, rows->rows);
    for (int l = 0; l < decoder->layers; l++) {
        DecoderLayer *layer = &decoder->layer[l];
        const DecoderLayerWeights *p = &w->decoder[l];
        uint32_t place = PLACE_DECODER + (uint32_t)l * PLACES_A_LAYER;
        // (1) causal self-attention
        attention_forward(F, &layer->self, s.Y, NULL, &p->self, dropout, place + SITE_SELF);
        s = addnorm_forward(&layer->self_norm, s, F, p->self.out.b, p->self_norm, rows, dropout,
                            place + SITE_SELF_ADD);
        // (2) encoder-decoder attention
        attention_forward(F, &layer->cross, s.Y, encoded, &p->cross, dropout,
                          place + SITE_CROSS);
        s = addnorm_forward(&layer->cross_norm, s, F, p->cross.out.b, p->cross_norm, rows,
                            dropout, place + SITE_CROSS_ADD);
        // (3) feed-forward
        feedforward_forward(F, &layer->ffn, s.Y, &p->ffn, rows, dropout, place + SITE_FFN);
        s = addnorm_forward(&layer->final_norm, s, F, p->ffn.fc2.b, p->final_norm, rows,
                            dropout, place + SITE_FFN_ADD);
    }
    return s.Y;
}

void decoder_backward(const Decoder *decoder, real *dX, real *dencoded, Weights *dw, Turn *turn,
                      const Weights *w, const ModelConfig *config, Scratch *scratch)
{
    int M = decoder->rows->rows;
    GemmMode encoded_mode = SET;
    StreamGradient g = addnorm_last(dX, scratch->dY, config);
    for (int l = decoder->layers - 1; l >= 0; l--, encoded_mode = ADD) {
        const DecoderLayer *layer = &decoder->layer[l];
        const DecoderLayerWeights *p = &w->decoder[l];
        DecoderLayerWeights *dp = &dw->decoder[l];
        const real *dF;
        // (3) feed-forward
        turn_next(turn, 1);
        dF = addnorm_backward(&layer->final_norm, &g, scratch->dF, dp->ffn.fc2.b,
                              dp->final_norm, p->final_norm, M);
        feedforward_backward(g.mode, g.dY, &dp->ffn, scratch->dH, dF, &layer->ffn, &p->ffn, M);
        // (2) encoder-decoder attention
        turn_next(turn, 1);
        dF = addnorm_backward(&layer->cross_norm, &g, scratch->dF, dp->cross.out.b,
                              dp->cross_norm, p->cross_norm, M);
        attention_backward(g.mode, g.dY, encoded_mode, dencoded, &dp->cross, scratch->attention,
                           dF, &layer->cross, &p->cross);
        // (1) causal self-attention
        turn_next(turn, 1);
        dF = addnorm_backward(&layer->self_norm, &g, scratch->dF, dp->self.out.b, dp->self_norm,
                              p->self_norm, M);
        attention_backward(g.mode, g.dY, SET, NULL, &dp->self, scratch->attention, dF,
                           &layer->self, &p->self);
    }
    addnorm_first_backward(&decoder->first, &g, dw->decoder_first, w->decoder_first, M);
}
