/* addnorm.c -- sums and norms between sublayers; see addnorm.h.
 *
 * Backward, X is what went past and Y what the sublayer F read:
 *
 *   post-norm   dX = LayerNorm'(dX)            dF = dropout(dX)      then F adds its own to dX
 *   pre-norm    dX = dX + LayerNorm'(dY)       dF = dropout(dX)      then F sets dY
 *
 * At the end of a pre-norm stack nothing goes past the last norm: dX is LayerNorm'(dY) there. */
#include "model/addnorm.h"

#include "base/profile.h"

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
    size_t count = (size_t)N * (size_t)config->d_model;
    double rate = dropout ? dropout->residual : 0;
    layernorm_layout(&norm->saved, arena, N, config->d_model);
    norm->keep = rate > 0 ? ARENA_TAKE(arena, uint8_t, count) : NULL;
    norm->scale = dropout_scale(rate);
    norm->Y = ARENA_TAKE(arena, real, count);
    norm->sum = stream ? stream : norm->saved.normal;
    norm->past = stream ? stream : norm->Y;
}

Stream addnorm_first(AddNorm *first, const real *X, NormWeights w, const ModelConfig *config,
                     int N)
{
    if (config->norm != NORM_PRE) return (Stream){X, X};
    ProfilePart before = profile_enter(PROFILE_NORM);
    layernorm_forward(first->Y, NULL, &first->saved, X, (Branch){0}, w, N, config->d_model);
    profile_leave(before);
    return (Stream){X, first->Y};
}

Stream addnorm_forward(AddNorm *norm, Stream before, const real *F, const real *bias,
                       NormWeights w, const Packed *rows, int D, const Dropout *dropout,
                       uint32_t place)
{
    ProfilePart part = profile_enter(PROFILE_NORM);
    Branch branch = {F, bias, norm->keep, norm->scale};
    if (norm->keep) dropout_rows(norm->keep, rows, D, dropout, dropout->residual, place);
    layernorm_forward(norm->Y, norm->sum, &norm->saved, before.X, branch, w, rows->rows, D);
    profile_leave(part);
    return (Stream){norm->past, norm->Y};
}

StreamGradient addnorm_last(real *dX, real *dY, const ModelConfig *config)
{
    bool pre = config->norm == NORM_PRE;
    return (StreamGradient){dX, dX, pre ? dY : dX, pre ? SET : ADD};
}

const real *addnorm_backward(const AddNorm *norm, StreamGradient *g, real *dF, real *dbias,
                             NormWeights dw, NormWeights w, int N, int D)
{
    ProfilePart part = profile_enter(PROFILE_NORM);
    Branch branch = {.keep = norm->keep, .scale = norm->scale};
    layernorm_backward(g->dY == g->dX ? SET : ADD, g->dX, dF, dbias, dw, g->dY, &norm->saved,
                       branch, w, N, D);
    g->dY = g->below;
    profile_leave(part);
    return norm->keep ? dF : g->dX;
}

void addnorm_first_backward(const AddNorm *first, StreamGradient *g, NormWeights dw,
                            NormWeights w, const ModelConfig *config, int N)
{
    if (config->norm != NORM_PRE) return;
    ProfilePart part = profile_enter(PROFILE_NORM);
    layernorm_backward(ADD, g->dX, NULL, NULL, dw, g->dY, &first->saved, (Branch){0}, w, N,
                       config->d_model);
    profile_leave(part);
}
