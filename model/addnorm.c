/* addnorm.c -- residual connections and norms between sublayers; see addnorm.h.
 *
 * Backward, where X is the input of the residual connection and Y that of the sublayer F:
 *
 *   post-norm   dX = LayerNorm'(dX)            dF = dropout(dX)      then F adds its own to dX
 *   pre-norm    dX = dX + LayerNorm'(dY)       dF = dropout(dX)      then F sets dY
 *
 * Only Y of the last norm of a pre-norm stack is used: there dX = LayerNorm'(dY). */
#include "model/addnorm.h"

real *addnorm_layout_first(AddNorm *first, Arena *arena, const ModelConfig *config, int N)
{
    *first = (AddNorm){0};
    if (config->norm != NORM_PRE) return NULL;
    addnorm_layout(first, arena, config, N, NULL, NULL);
    return ARENA_TAKE(arena, real, (size_t)N * (size_t)config->d_model);
}

void addnorm_layout(AddNorm *norm, Arena *arena, const ModelConfig *config, int N, real *stream,
                    const Dropout *dropout)
{
    layernorm_layout(&norm->saved, arena, N, config, dropout ? dropout->residual : 0);
    norm->Y = ARENA_TAKE(arena, real, (size_t)N * (size_t)config->d_model);
    norm->sum = stream ? stream : norm->saved.normal;
    norm->residual = stream ? stream : norm->Y;
}

Stream addnorm_first(AddNorm *first, const real *X, NormWeights w, const ModelConfig *config,
                     int N)
{
    if (config->norm != NORM_PRE) return (Stream){X, X};
    layernorm_forward(first->Y, NULL, &first->saved, X, NULL, w, N);
    return (Stream){X, first->Y};
}

Stream addnorm_forward(AddNorm *norm, Stream before, const real *F, NormWeights w,
                       const Packed *rows, const Dropout *dropout, uint32_t place)
{
    dropout_rows(&norm->saved.mask, rows, norm->saved.config->d_model, dropout, place);
    layernorm_forward(norm->Y, norm->sum, &norm->saved, before.X, F, w, rows->rows);
    return (Stream){norm->residual, norm->Y};
}

StreamGradient addnorm_last(real *dX, real *dY, const ModelConfig *config)
{
    bool pre = config->norm == NORM_PRE;
    return (StreamGradient){dX, dX, pre ? dY : dX, pre ? SET : ADD};
}

const real *addnorm_backward(const AddNorm *norm, StreamGradient *g, real *dF, NormWeights dw,
                             NormWeights w, int N)
{
    layernorm_backward(g->dY == g->dX ? SET : ADD, g->dX, dF, dw, g->dY, &norm->saved, w, N);
    g->dY = g->below;
    return norm->saved.mask.keep ? dF : g->dX;
}

void addnorm_first_backward(const AddNorm *first, StreamGradient *g, NormWeights dw,
                            NormWeights w, int N)
{
    if (!first->Y) return;  // post-norm
    layernorm_backward(ADD, g->dX, NULL, dw, g->dY, &first->saved, w, N);
}
