/* attention.c -- the library's face: who looks at whom; see qkv.h. */
#include <stdlib.h>

#include "inference/snapshot.h"
#include "library/border.h"

/* What qkv_attention returns, with what its pointers point into. */
typedef struct Shown {
    QkvAttention out;  // first: it is what the caller has
    Snapshot *snapshot;
    const char **piece;  // [sources + 2 targets]
} Shown;

void qkv_attention_free(QkvAttention *attention)
{
    Shown *a = (Shown *)attention;
    if (!a) return;
    snapshot_close(a->snapshot);
    free(a->piece);
    free(a);
}

/* Runs the network over the pair of ids. */
static bool look_at(Shown *a, const Bundle *bundle, const IdLines *source, const int *target,
                    int targets, Error *error)
{
    const Tokenizer *const *tokenizer = (const Tokenizer *const *)bundle->vocabulary.tokenizer;
    const int *id = source->ids.id, pad = bundle->model.config.vocab - 1;
    int sources = source->start[1];
    a->piece = calloc((size_t)sources + 2 * (size_t)targets, sizeof *a->piece);
    if (!a->piece) return error_set(error, "not enough memory for an attention map");
    a->snapshot = snapshot_open(&bundle->model, id, sources, target, targets, error);
    if (!a->snapshot) return false;
    const char **from = a->piece, **to = from + sources, **read = to + targets;
    for (int i = 0; i < sources; i++) from[i] = tokenizer_piece(tokenizer[SOURCE], id[i]);
    for (int i = 0; i < targets; i++) {
        to[i] = tokenizer_piece(tokenizer[TARGET], target[i]);
        read[i] = i ? to[i - 1] : tokenizer_piece(tokenizer[TARGET], pad);
    }
    a->out = (QkvAttention){sources,
                            targets,
                            from,
                            to,
                            read,
                            snapshot_layers(a->snapshot, ATTENTION_ENCODER),
                            snapshot_layers(a->snapshot, ATTENTION_DECODER),
                            snapshot_heads(a->snapshot)};
    return true;
}

/* Of a text and either ids or another text. */
static QkvAttention *attention(const QkvModel *model, const char *text, const int *id,
                               int count, const char *given, QkvError *to)
{
    Error error = {""};
    locale_t before = border_enter();
    IdLines source = {0}, target = {0};
    size_t cut;
    Shown *a = calloc(1, sizeof *a);
    bool good = (a || error_set(&error, "not enough memory for an attention map")) &&
                border_encode(&model->bundle, &source, SOURCE, text, "text", 1, &cut, &error);
    if (good && !id) {
        good = border_encode(&model->bundle, &target, TARGET, given, "translation", 1, &cut,
                             &error);
        id = target.ids.id;
        count = (int)target.ids.count;
    }
    good = good && look_at(a, &model->bundle, &source, id, count, &error);
    idlines_free(&source);
    idlines_free(&target);
    border_leave(before);
    if (good) return &a->out;
    qkv_attention_free(a ? &a->out : NULL);
    return border_refuse(to, &error);
}

QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error)
{
    return attention(model, text, translation->id, translation->tokens, NULL, error);
}

QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error)
{
    return attention(model, text, NULL, 0, translation, error);
}

bool qkv_attention_weights(float *weights, const QkvAttention *attention, QkvAttentionKind kind,
                           int layer, int head, QkvError *to)
{
    Error error = {""};
    const Snapshot *snapshot = ((const Shown *)attention)->snapshot;
    int layers = kind == QKV_ENCODER ? attention->encoder_layers : attention->decoder_layers;
    AttentionKind which = kind == QKV_ENCODER   ? ATTENTION_ENCODER
                          : kind == QKV_DECODER ? ATTENTION_DECODER
                                                : ATTENTION_CROSS;
    if (layer < 0 || layer >= layers)
        error_set(&error, "there is no layer %d: there are 0 to %d", layer, layers - 1);
    else if (head != QKV_MEAN && (head < 0 || head >= attention->heads))
        error_set(&error, "there is no head %d: there are 0 to %d", head, attention->heads - 1);
    else if (head == QKV_MEAN) return snapshot_mean(weights, snapshot, which, layer), true;
    else return snapshot_head(weights, snapshot, which, layer, head), true;
    return border_refuse(to, &error), false;
}
