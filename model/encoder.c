/* encoder.c -- the stack that reads the source sentence.
 *
 *   a layer    (1)  A = LayerNorm(X + dropout(SelfAttention(X)))
 *              (2)  Y = LayerNorm(A + dropout(FeedForward(A)))
 *
 * Post-norm, Vaswani et al. 2017, §3.1 and figure 1. In backward, a residual sum sends its
 * gradient both ways: dX holds the way past the sublayer, and the sublayer adds its own (ADD). */
#include "model/encoder.h"

#include "base/parts.h"

void scratch_layout(Scratch *scratch, Arena *arena, const ModelConfig *config, int R,
                    bool training)
{
    size_t rows = (size_t)R, D = (size_t)config->d_model;
    *scratch = (Scratch){.F = ARENA_TAKE(arena, real, rows * D)};
    if (!training) return;
    scratch->dF = ARENA_TAKE(arena, real, rows * D);
    scratch->dO = ARENA_TAKE(arena, real, rows * D);
    scratch->dQKV = ARENA_TAKE(arena, real, rows * 3 * D);
    scratch->dH = ARENA_TAKE(arena, real, rows * (size_t)config->ffn);
}

void addnorm_layout(AddNorm *norm, Arena *arena, int N, int D, const Dropout *dropout)
{
    size_t count = (size_t)N * (size_t)D;
    layernorm_layout(&norm->saved, arena, N, D);
    norm->keep = dropout && dropout->residual > 0 ? ARENA_TAKE(arena, uint8_t, count) : NULL;
    norm->Y = ARENA_TAKE(arena, real, count);
}

void addnorm_forward(AddNorm *norm, const real *X, const real *F, const real *bias,
                     NormWeights w, const Packed *rows, int D, const Dropout *dropout,
                     uint32_t place)
{
    Part before = parts_enter(PART_NORM);
    Branch branch = {F, bias, norm->keep, 1};
    if (norm->keep) {
        dropout_rows(norm->keep, rows, D, dropout, dropout->residual, place);
        branch.scale = dropout_scale(dropout->residual);
    }
    layernorm_forward(norm->Y, &norm->saved, X, branch, w, rows->rows, D);
    parts_leave(before);
}

const real *addnorm_backward(const AddNorm *norm, real *dX, real *dF, real *dbias,
                             NormWeights dw, NormWeights w, const Packed *rows, int D,
                             real scale)
{
    Part before = parts_enter(PART_NORM);
    Branch branch = {.keep = norm->keep, .scale = scale};
    layernorm_backward(dX, dF, dbias, dw, dX, &norm->saved, branch, w, rows->rows, D);
    parts_leave(before);
    return norm->keep ? dF : dX;
}

void encoder_layout(Encoder *encoder, Arena *arena, const ModelConfig *config,
                    const Packed *rows, const Dropout *dropout, bool keep, bool training)
{
    int N = rows->rows, D = config->d_model;
    *encoder = (Encoder){.rows = rows, .layers = config->encoder_layers};
    for (int l = 0; l < encoder->layers; l++) {
        EncoderLayer *layer = &encoder->layer[l];
        if (l > 0 && !keep) {
            *layer = encoder->layer[0];
            continue;
        }
        attention_layout(&layer->self, arena, config, rows, NULL, false, dropout, training);
        addnorm_layout(&layer->self_norm, arena, N, D, dropout);
        feedforward_layout(&layer->ffn, arena, N, config->ffn, dropout);
        addnorm_layout(&layer->final_norm, arena, N, D, dropout);
    }
}

const real *encoder_forward(Encoder *encoder, const real *X, const Weights *w,
                            const ModelConfig *config, Scratch *scratch, const Dropout *dropout)
{
    const Packed *rows = encoder->rows;
    int D = config->d_model;
    for (int l = 0; l < encoder->layers; l++) {
        EncoderLayer *layer = &encoder->layer[l];
        const EncoderLayerWeights *p = &w->encoder[l];
        uint32_t place = PLACE_ENCODER + (uint32_t)l * PLACES_A_LAYER;
        const real *A = layer->self_norm.Y;
        layer->X = X;

        attention_forward(scratch->F, &layer->self, X, NULL, &p->self, dropout,
                          place + SITE_SELF);                                        // (1)
        addnorm_forward(&layer->self_norm, X, scratch->F, p->self.out.b, p->self_norm, rows, D,
                        dropout, place + SITE_SELF_ADD);
        feedforward_forward(scratch->F, &layer->ffn, A, &p->ffn, rows, D, config->ffn, dropout,
                            place + SITE_FFN);                                       // (2)
        addnorm_forward(&layer->final_norm, A, scratch->F, p->ffn.fc2.b, p->final_norm, rows, D,
                        dropout, place + SITE_FFN_ADD);
        X = layer->final_norm.Y;
    }
    return X;
}

void encoder_backward(const Encoder *encoder, real *dX, Weights *dw, const Weights *w,
                      const ModelConfig *config, Scratch *scratch, const Dropout *dropout)
{
    const Packed *rows = encoder->rows;
    int N = rows->rows, D = config->d_model;
    real scale = dropout ? dropout_scale(dropout->residual) : 1;
    for (int l = encoder->layers - 1; l >= 0; l--) {
        const EncoderLayer *layer = &encoder->layer[l];
        const EncoderLayerWeights *p = &w->encoder[l];
        EncoderLayerWeights *dp = &dw->encoder[l];
        const real *dF;

        dF = addnorm_backward(&layer->final_norm, dX, scratch->dF, dp->ffn.fc2.b,
                              dp->final_norm, p->final_norm, rows, D, scale);        // (2)
        feedforward_backward(ADD, dX, &dp->ffn, scratch->dH, dF, &layer->ffn,
                             layer->self_norm.Y, &p->ffn, N, D, config->ffn);
        dF = addnorm_backward(&layer->self_norm, dX, scratch->dF, dp->self.out.b,
                              dp->self_norm, p->self_norm, rows, D, scale);          // (1)
        attention_backward(ADD, dX, ADD, NULL, &dp->self, scratch->dO, scratch->dQKV, dF,
                           &layer->self, layer->X, NULL, &p->self);
    }
}
