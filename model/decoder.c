/* decoder.c -- the stack that writes the target sentence.
 *
 *   a layer    (1)  A = LayerNorm(X + dropout(CausalSelfAttention(X)))
 *              (2)  B = LayerNorm(A + dropout(CrossAttention(A, encoded)))
 *              (3)  Y = LayerNorm(B + dropout(FeedForward(B)))
 *
 * Post-norm, Vaswani et al. 2017, §3.1 and figure 1. Every layer reads the same encoded source, so
 * its gradient is a sum over the layers: the last layer, first in backward, sets it. */
#include "model/decoder.h"

void decoder_layout(Decoder *decoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Packed *source, const Dropout *dropout, bool keep,
                    bool training)
{
    int M = rows->rows, D = config->d_model;
    *decoder = (Decoder){.rows = rows, .source = source, .layers = config->decoder_layers};
    for (int l = 0; l < decoder->layers; l++) {
        DecoderLayer *layer = &decoder->layer[l];
        if (l > 0 && !keep) {
            *layer = decoder->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, true, dropout, training);
        addnorm_layout(&layer->self_norm, arena, M, D, dropout);
        attention_layout(&layer->cross, arena, config, rows, source, false, dropout, training);
        addnorm_layout(&layer->cross_norm, arena, M, D, dropout);
        feedforward_layout(&layer->ffn, arena, M, config->ffn, dropout);
        addnorm_layout(&layer->final_norm, arena, M, D, dropout);
    }
}

const real *decoder_forward(Decoder *decoder, const real *X, const real *encoded,
                            const Weights *w, const ModelConfig *config, Scratch *scratch,
                            const Dropout *dropout)
{
    const Packed *rows = decoder->rows;
    int D = config->d_model;
    for (int l = 0; l < decoder->layers; l++) {
        DecoderLayer *layer = &decoder->layer[l];
        const DecoderLayerWeights *p = &w->decoder[l];
        uint32_t place = PLACE_DECODER + (uint32_t)l * PLACES_A_LAYER;
        const real *A = layer->self_norm.Y, *B = layer->cross_norm.Y;
        layer->X = X;

        attention_forward(scratch->F, &layer->self, X, NULL, &p->self, dropout,
                          place + SITE_SELF);                                        // (1)
        addnorm_forward(&layer->self_norm, X, scratch->F, p->self.out.b, p->self_norm, rows, D,
                        dropout, place + SITE_SELF_ADD);
        attention_forward(scratch->F, &layer->cross, A, encoded, &p->cross, dropout,
                          place + SITE_CROSS);                                       // (2)
        addnorm_forward(&layer->cross_norm, A, scratch->F, p->cross.out.b, p->cross_norm, rows,
                        D, dropout, place + SITE_CROSS_ADD);
        feedforward_forward(scratch->F, &layer->ffn, B, &p->ffn, rows, D, config->ffn, dropout,
                            place + SITE_FFN);                                       // (3)
        addnorm_forward(&layer->final_norm, B, scratch->F, p->ffn.fc2.b, p->final_norm, rows, D,
                        dropout, place + SITE_FFN_ADD);
        X = layer->final_norm.Y;
    }
    return X;
}

void decoder_backward(const Decoder *decoder, real *dX, real *dencoded, Weights *dw,
                      const real *encoded, const Weights *w, const ModelConfig *config,
                      Scratch *scratch, const Dropout *dropout)
{
    const Packed *rows = decoder->rows;
    int M = rows->rows, D = config->d_model;
    real scale = dropout ? dropout_scale(dropout->residual) : 1;
    GemmMode encoded_mode = SET;
    for (int l = decoder->layers - 1; l >= 0; l--, encoded_mode = ADD) {
        const DecoderLayer *layer = &decoder->layer[l];
        const DecoderLayerWeights *p = &w->decoder[l];
        DecoderLayerWeights *dp = &dw->decoder[l];
        const real *A = layer->self_norm.Y, *B = layer->cross_norm.Y, *dF;

        dF = addnorm_backward(&layer->final_norm, dX, scratch->dF, dp->ffn.fc2.b,
                              dp->final_norm, p->final_norm, rows, D, scale);        // (3)
        feedforward_backward(ADD, dX, &dp->ffn, scratch->dH, dF, &layer->ffn, B, &p->ffn, M, D,
                             config->ffn);
        dF = addnorm_backward(&layer->cross_norm, dX, scratch->dF, dp->cross.out.b,
                              dp->cross_norm, p->cross_norm, rows, D, scale);        // (2)
        attention_backward(ADD, dX, encoded_mode, dencoded, &dp->cross, scratch->dO,
                           scratch->dQKV, dF, &layer->cross, A, encoded, &p->cross);
        dF = addnorm_backward(&layer->self_norm, dX, scratch->dF, dp->self.out.b,
                              dp->self_norm, p->self_norm, rows, D, scale);          // (1)
        attention_backward(ADD, dX, ADD, NULL, &dp->self, scratch->dO, scratch->dQKV, dF,
                           &layer->self, layer->X, NULL, &p->self);
    }
}
