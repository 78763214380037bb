/* intervention.c -- reads interventions and edits the weights; see intervention.h. */
#include "inference/intervention.h"

#include "inference/snapshot.h"

static void scale_block(const Matrix *W, int D, int row, int rows, int column, int columns,
                        real factor)
{
    for (int r = row; r < row + rows; r++)
        for (int c = column; c < column + columns; c++) W->at[r * D + c] *= factor;
}

static void scale_rows(Linear *w, int D, int first, int count, real factor)
{
    scale_block(&w->W, D, first, count, 0, D, factor);
    for (int k = first; k < first + count; k++) w->b[k] *= factor;
}

static void change_queries(AttentionWeights *w, const Intervention *i, const ModelConfig *c)
{
    size_t D = (size_t)c->d_model;
    if (i->same_queries) {
        memcpy(w->q.W.at, w->k.W.at, D * D * sizeof(real));
        memcpy(w->q.b, w->k.b, D * sizeof(real));
    }
    if (isnan(i->scale)) return;
    for (int h = 0; w->scale && h < c->heads; h++) w->scale[h] = (real)i->scale;
    if (!w->scale)
        scale_rows(&w->q, (int)D, 0, (int)D,
                   (real)(i->scale / (double)attention_scale(c, w, 0)));
}

/* model: NULL: only reads the text */
static bool ablate(Transformer *model, const char *text, Error *error)
{
    char kind[8] = "", number[8] = "", how[8] = "";
    int layer = 0, end = 0, k = ATTENTION_CROSS;
    sscanf(text, "%7[a-z].%5d.%5[0-9*]=%7[a-z]%n", kind, &layer, number, how, &end);
    while (k >= 0 && strcmp(kind, attention_kind_names[k])) k--;
    bool all = !strcmp(number, "*"), uniform = !strcmp(how, "uniform");
    int head = all ? 1 : strchr(number, '*') ? 0 : atoi(number);
    if (k < 0 || layer < 1 || head < 1 || text[end] || !(uniform || !strcmp(how, "zero")))
        return error_set(error,
                         "`ablate` takes KIND.LAYER.HEAD=zero or =uniform, where KIND is "
                         "encoder, decoder or cross, as cross.2.1=zero; not '%s'",
                         text);
    if (!model) return true;

    const ModelConfig *c = &model->config;
    bool encoder = k == ATTENTION_ENCODER;
    int layers = encoder ? c->encoder_layers : c->decoder_layers;
    if (layer > layers || head > c->heads)
        return error_set(error,
                         "`ablate` %s: the model has %d %s layer%s of %d head%s: %s.1.1 to "
                         "%s.%d.%d",
                         text, layers, encoder ? "encoder" : "decoder", layers == 1 ? "" : "s",
                         c->heads, c->heads == 1 ? "" : "s", kind, kind, layers, c->heads);
    LayerWeights *l = &(encoder ? model->weights.encoder : model->weights.decoder)[layer - 1];
    AttentionWeights *w = k == ATTENTION_CROSS ? &l->cross : &l->self;
    int D = c->d_model, count = all ? D : D / c->heads, first = (head - 1) * count;
    if (uniform) scale_rows(&w->k, D, first, count, 0);
    else scale_block(&w->out.W, D, 0, D, first, count, 0);
    return true;
}

bool intervention_apply(const Intervention *i, Transformer *model, Error *error)
{
    const ModelConfig *c = &model->config;
    if (!i->ablate.count && !i->intervene.count) return true;
    if (model->prepared.count)
        return error_set(error,
                         "`ablate` and `intervene` need float weights, and this file has "
                         "int8: name the model that it was made from, with `int8`");
    const ScoreFunction *score = &score_functions[c->attention_score];
    if (!isnan(i->scale) && !score->product && !score->learned)
        return error_set(
            error,
            "`intervene` scale=X is for scores that have a scale, and this model's "
            "score is %s",
            score->formula);
    if (i->no_positions)
        model->weights.source_positions = model->weights.target_positions = NULL;
    for (int l = 0; l < c->encoder_layers; l++)
        change_queries(&model->weights.encoder[l].self, i, c);
    for (int l = 0; l < c->decoder_layers; l++) {
        change_queries(&model->weights.decoder[l].self, i, c);
        change_queries(&model->weights.decoder[l].cross, i, c);
    }
    for (int k = 0; k < i->ablate.count; k++)
        if (!ablate(model, i->ablate.item[k], error)) return false;
    return true;
}

/* An item of `intervene`. */
static bool parse(Intervention *i, const char *text, Error *error)
{
    int end = 0;
    if (!strcmp(text, "positions=0")) return i->no_positions = true;
    if (!strcmp(text, "wq=wk")) return i->same_queries = true;
    if (!isnan(i->scale) && !strncmp(text, "scale=", 6))
        return error_set(error, "`intervene` takes one scale=X, not '%s', too", text);
    sscanf(text, "scale=%lf%n", &i->scale, &end);
    return (end && !text[end] && fabs(i->scale) <= 1000) ||
           error_set(error,
                     "`intervene` takes positions=0, wq=wk or scale=X with X from -1000 to "
                     "1000, not '%s'",
                     text);
}

bool intervention_parse(Intervention *i, Error *error)
{
    bool good = true;
    i->any = i->ablate.count || i->intervene.count;
    i->scale = NAN;
    for (int k = 0; good && k < i->ablate.count; k++)
        good = ablate(NULL, i->ablate.item[k], error);
    for (int k = 0; good && k < i->intervene.count; k++)
        good = parse(i, i->intervene.item[k], error);
    return good;
}
