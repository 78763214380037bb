/* addnorm.c -- residual connection, dropout and norm around a sublayer F; see addnorm.h.
 *
 *   forward    post-norm   Y = LayerNorm(X + dropout(F))
 *              pre-norm    input = LayerNorm(X)          Y = X + dropout(F)
 *   backward   post-norm   dX = LayerNorm'(dY)           dF = dropout(dX)      then F adds to dX
 *              pre-norm    dX = dY    dF = dropout(dX)   then dX += LayerNorm'(dinput) */
#include "model/addnorm.h"

static bool before(const AddNorm *a)
{
    return a->norm.config->norm == NORM_PRE;
}

void addnorm_layout(AddNorm *a, Arena *arena, const ModelConfig *config, int N, real *sum,
                    const Dropout *dropout, uint32_t place)
{
    size_t count = (size_t)N * (size_t)config->d_model;
    layernorm_layout(&a->norm, arena, config, N);
    a->mask = dropout_layout(arena, count, dropout, dropout ? dropout->residual : 0, place);
    a->normalised = ARENA_TAKE(arena, real, count);
    a->sum = sum ? sum : a->norm.normal;
}

const real *addnorm_input(AddNorm *a, const real *X, NormWeights w, int N)
{
    if (!before(a)) return X;
    layernorm_forward(a->normalised, &a->norm, X, w, N);
    return a->normalised;
}

const real *addnorm_output(AddNorm *a, const real *X, const real *F, NormWeights w,
                           const Packed *rows)
{
    int D = a->norm.config->d_model;
    size_t count = (size_t)rows->rows * (size_t)D;
    const uint8_t *keep = a->mask.keep;
    real *sum = a->sum, scale = a->mask.scale;
    dropout_rows(&a->mask, rows, D);
    if (keep) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) sum[i] = X[i] + F[i] * (scale * (real)keep[i]);
    } else {
#pragma omp simd
        for (size_t i = 0; i < count; i++) sum[i] = X[i] + F[i];
    }
    if (before(a)) return sum;
    layernorm_forward(a->normalised, &a->norm, sum, w, rows->rows);
    return a->normalised;
}

const real *addnorm_output_backward(const AddNorm *a, real *dX, real *dF, NormWeights dw,
                                    NormWeights w, int N)
{
    size_t count = (size_t)N * (size_t)a->norm.config->d_model;
    if (!before(a)) layernorm_backward(SET, dX, dw, dX, &a->norm, w, N);
    if (!a->mask.keep) return dX;
    dropout_apply(dF, dX, &a->mask, count);
    return dF;
}

void addnorm_input_backward(const AddNorm *a, real *dX, const real *dinput, NormWeights dw,
                            NormWeights w, int N)
{
    if (before(a)) layernorm_backward(ADD, dX, dw, dinput, &a->norm, w, N);
}
