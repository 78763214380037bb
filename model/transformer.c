/* transformer.c -- embeddings, encoder, decoder, output: the whole network.
 *
 *   forward    (1)  X = dropout(scale E[source] + P)      Z = dropout(scale E[<pad> target] + P)
 *              (2)  encoded = Encoder(X)
 *              (3)  output  = Decoder(Z, encoded)        teacher forcing: Z has the reference
 *              (4)  loss    = cross-entropy(output Eᵀ + bias, target </s>), or with R-Drop two
 *   backward   the same numbers down.
 *
 * The three E are one matrix, two, or three (--tying), and dE is the sum over its uses. */
#include "model/transformer.h"
#include "base/block.h"

#include "kernels/kind.h"
#include "model/embedding.h"

void transformer_use(Transformer *model, real *block)
{
    Weights *w = &model->weights;
    model->block = block;
    params_bind(w, block, &model->config);
    if (model->sinusoids) w->source_positions = w->target_positions = model->sinusoids;
}

bool transformer_create(Transformer *model, const ModelConfig *config, Error *error)
{
    *model = (Transformer){.config = *config};
    if (!kind_check(error) || !config_check(config, error) ||
        !params_table(&model->params, config, error))
        return false;
    int length = config->max_length, D = config->d_model;
    bool good = (model->block = block_zeros(model->params.size * sizeof(real), error));
    if (good && config->positions == POSITIONS_SINUSOIDAL) {
        model->sinusoids = malloc((size_t)length * (size_t)D * sizeof *model->sinusoids);
        good = model->sinusoids || error_memory(error, "for the table of positions");
        if (good) position_table(model->sinusoids, length, D);
    }
    if (good) transformer_use(model, model->block);
    else transformer_free(model);
    return good;
}

void transformer_free(Transformer *model)
{
    params_free(&model->params);
    prepared_free(&model->prepared);
    free(model->sinusoids);
    free(model->block);
    *model = (Transformer){0};
}

/* Whether the sentences are there twice, for R-Drop. */
static bool is_twice(const Activations *a)
{
    return a->dropout && a->dropout->copy > 0;
}

/* The output layer of the weights, or of their gradients. */
static OutputLayer output_layer(const Weights *w, const ModelConfig *config)
{
    return (OutputLayer){w->output.at, w->logits_bias, config->vocab - 1, config->d_model,
                         w->output.mode};
}

void transformer_layout(Activations *a, Arena *arena, const Transformer *model,
                        const Packed *source, const Packed *target, const Dropout *dropout,
                        Keep keep)
{
    const ModelConfig *config = &model->config;
    size_t N = (size_t)source->rows, M = (size_t)target->rows, D = (size_t)config->d_model;
    bool training = keep >= KEEP_FOR_BACKWARD;
    a->source = source;
    a->target = target;
    a->dropout = dropout;
    a->soft = (SoftTargets){0};
    a->X_source = ARENA_TAKE(arena, real, N * D);
    a->X_target = ARENA_TAKE(arena, real, M * D);
    double rate = dropout ? dropout->residual : 0;
    a->mask_source = dropout_layout(arena, N * D, dropout, rate, PLACE_EMBEDDING);
    a->mask_target = dropout_layout(arena, M * D, dropout, rate, PLACE_EMBEDDING + 1);
    scratch_layout(&a->scratch, arena, config, (int)(N > M ? N : M), training);
    stack_layout(&a->encoder, arena, config, source, NULL, dropout, keep);
    stack_layout(&a->decoder, arena, config, target, source, dropout, keep);
    OutputLayer output = output_layer(&model->weights, config);
    loss_layout(&a->loss, arena, target->rows, &output, training, is_twice(a));
    a->dX = training ? ARENA_TAKE(arena, real, M * D) : NULL;
    a->dencoded = training ? ARENA_TAKE(arena, real, N * D) : NULL;
}

void transformer_forward(Activations *a, const Transformer *model)
{
    const ModelConfig *config = &model->config;
    const Weights *w = &model->weights;
    int D = config->d_model, pad = config->vocab - 1;
    // (1) X = dropout(√D E[source] + P)         Z = dropout(√D E[<pad> target] + P)
    embedding_forward(a->X_source, a->source, false, pad, &w->source_embedding,
                      w->source_positions, D);
    embedding_forward(a->X_target, a->target, true, pad, &w->target_embedding,
                      w->target_positions, D);
    dropout_rows(&a->mask_source, a->source, D);
    dropout_rows(&a->mask_target, a->target, D);
    dropout_apply(a->X_source, a->X_source, &a->mask_source, (size_t)(a->source->rows * D));
    dropout_apply(a->X_target, a->X_target, &a->mask_target, (size_t)(a->target->rows * D));
    // (2) encoded = Encoder(X)
    a->encoded = stack_forward(&a->encoder, a->X_source, NULL, w, &a->scratch);
    // (3) output = Decoder(Z, encoded)
    a->output = stack_forward(&a->decoder, a->X_target, a->encoded, w, &a->scratch);
}

static Objective objective_of(const Activations *a, double smoothing, real scale)
{
    return (Objective){a->target->id, smoothing, is_twice(a) ? a->dropout->r_drop : 0, scale,
                       a->soft};
}

void transformer_loss(Loss *loss, Activations *a, const Transformer *model, double smoothing)
{
    OutputLayer w = output_layer(&model->weights, &model->config);
    Objective objective = objective_of(a, smoothing, 1);
    // (4) the loss
    loss_backward(loss, NULL, NULL, a->output, &w, &objective, &a->loss, a->target->rows);
}

void transformer_backward(Loss *loss, Activations *a, const Transformer *model, Weights *dw,
                          double smoothing, real scale)
{
    const ModelConfig *config = &model->config;
    const Weights *w = &model->weights;

    OutputLayer output = output_layer(w, config), doutput = output_layer(dw, config);
    Objective objective = objective_of(a, smoothing, scale);
    if (!config->output_bias) doutput.bias = NULL;
    // (4) the loss and its gradients
    loss_backward(loss, a->dX, &doutput, a->output, &output, &objective, &a->loss,
                  a->target->rows);
    // (3) the decoder
    stack_backward(&a->decoder, a->dX, a->dencoded, dw, w, &a->scratch);
    // (2) the encoder
    stack_backward(&a->encoder, a->dencoded, NULL, dw, w, &a->scratch);
    // (1) the embeddings
    embedding_backward(dw->target_embedding.at, dw->target_positions, a->dX, a->target, true,
                       &a->mask_target, config->d_model);
    embedding_backward(dw->source_embedding.at, dw->source_positions, a->dencoded, a->source,
                       false, &a->mask_source, config->d_model);
}

double transformer_flops(const ModelConfig *config, int source, int target)
{
    double N = source, M = target, D = config->d_model, F = config->ffn;
    // multiplications of Q Kᵀ and of P V
    double self_source = 2 * N * N * D, self_target = M * (M + 1) * D, cross = 2 * M * N * D;
    double encoder = N * (4 * D * D + 2 * D * F) + self_source;
    double decoder =
        M * (4 * D * D + 2 * D * F) + self_target + M * 2 * D * D + N * 2 * D * D + cross;
    double output = M * D * (config->vocab - 1);
    return 3 * 2 *
           (config->encoder_layers * encoder + config->decoder_layers * decoder + output);
}
