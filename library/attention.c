/* attention.c -- attention weights for the library's caller; see qkv.h. */
#include <stdlib.h>

#include "inference/snapshot.h"
#include "library/internal.h"

/* What qkv_attention returns, with the memory that it points to. */
typedef struct AttentionResult {
    QkvAttention out;  // first: the caller's pointer
    Snapshot *snapshot;
    const char **piece;  // [sources + 2 targets]
} AttentionResult;

void qkv_attention_free(QkvAttention *attention)
{
    AttentionResult *a = (AttentionResult *)attention;
    if (!a) return;
    snapshot_close(a->snapshot);
    free(a->piece);
    free(a);
}

/* Runs the network over the pair of ids. */
static AttentionResult *take(const Bundle *bundle, const IdLines *source, const int *target,
                             int targets, Error *error)
{
    Tokenizer *const *tokenizer = bundle->vocabulary.tokenizer;
    const int *id = source->ids.id, pad = bundle->model.config.vocab - 1;
    int sources = source->start[1];
    Snapshot *snapshot = snapshot_open(&bundle->model, id, sources, target, targets, error);
    if (!snapshot) return NULL;
    AttentionResult *a = calloc(1, sizeof *a);
    const char **from = calloc((size_t)sources + 2 * (size_t)targets, sizeof *from);
    if (!a || !from) {
        free(a);
        free(from);
        snapshot_close(snapshot);
        return error_memory(error, "for an attention map"), NULL;
    }
    const char **to = from + sources, **read = to + targets;
    for (int i = 0; i < sources; i++) from[i] = tokenizer_piece(tokenizer[SOURCE], id[i]);
    for (int i = 0; i < targets; i++) {
        to[i] = tokenizer_piece(tokenizer[TARGET], target[i]);
        read[i] = i ? to[i - 1] : tokenizer_piece(tokenizer[TARGET], pad);
    }
    const ModelConfig *c = &bundle->model.config;
    QkvAttention out = {sources,           targets,           from,    to, read,
                        c->encoder_layers, c->decoder_layers, c->heads};
    *a = (AttentionResult){out, snapshot, from};
    return a;
}

/* Of a text and a translation: ids [count], or the text `given` if id is NULL. */
static QkvAttention *attention(const QkvModel *model, const char *text, const int *id,
                               int count, const char *given, QkvError *to)
{
    Error error = {""};
    if (!library_given(model, "the model", &error)) return library_fail(to, &error);
    locale_t before = library_enter();
    const Bundle *bundle = &model->bundle;
    IdLines source = {0}, target = {0};
    AttentionResult *a = NULL;
    if (library_encode(bundle, &source, SOURCE, text, "text", 1, NULL, &error) &&
        (id || library_encode(bundle, &target, TARGET, given, "translation", 1, NULL, &error)))
        a = take(bundle, &source, id ? id : target.ids.id, id ? count : (int)target.ids.count,
                 &error);
    idlines_free(&source);
    idlines_free(&target);
    library_leave(before);
    return a ? &a->out : library_fail(to, &error);
}

QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error)
{
    static const QkvHypothesis nothing;
    const QkvHypothesis *t = translation ? translation : &nothing;
    return attention(model, text, t->id, t->tokens, NULL, error);
}

QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error)
{
    return attention(model, text, NULL, 0, translation, error);
}

bool qkv_attention_weights(float *weights, const QkvAttention *attention, QkvAttentionKind kind,
                           int layer, int head, QkvError *to)
{
    static const AttentionKind KIND[] = {ATTENTION_ENCODER, ATTENTION_DECODER, ATTENTION_CROSS};
    Error error;
    if (!library_given(attention, "the attention", &error) ||
        !library_given(weights, "the array of weights", &error))
        return library_fail(to, &error), false;
    const Snapshot *snapshot = ((const AttentionResult *)attention)->snapshot;
    int layers = kind == QKV_ENCODER ? attention->encoder_layers : attention->decoder_layers;
    if (kind != QKV_ENCODER && kind != QKV_DECODER && kind != QKV_CROSS)
        error_set(&error, "there is no attention of kind %d", (int)kind);
    else if (layer < 0 || layer >= layers)
        error_set(&error, "there is no layer %d: there are 0 to %d", layer, layers - 1);
    else if (head != QKV_MEAN && (head < 0 || head >= attention->heads))
        error_set(&error, "there is no head %d: there are 0 to %d", head, attention->heads - 1);
    else return snapshot_weights(weights, snapshot, KIND[kind], layer, head), true;
    return library_fail(to, &error), false;
}
