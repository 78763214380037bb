/* qkv.h -- translate with a model that qkv-train made, and see its attention, from a program.
 *
 *     QkvError error;
 *     QkvModel *model = qkv_model_load("checkpoints/toy", QKV_FLOAT, &error);
 *     QkvTranslator *translator = qkv_translator_new(model, 0, &error);
 *     QkvTranslations *out = qkv_translate(translator, texts, NULL, count, &error);
 *     puts(out->sentence[0].hypothesis[0].text);
 *     qkv_translations_free(out), qkv_translator_free(translator), qkv_model_free(model);
 *
 * Any call that can fail returns NULL or false then, with one sentence in *error (which may be
 * NULL), and nothing to free. No call prints, ends the program, sets a signal's action or reads the
 * locale. There are no global variables.
 *
 * Threads: a model never changes, and any number of translators, on any threads, can share it. A
 * translator is used by one thread at a time. Each has threads of its own to compute with. The same
 * texts and settings give the same translations, to the bit, for any number of threads and
 * whatever other texts are in the call. (Builds without AVX compute with OpenBLAS: there the other
 * texts can change a score's last digits, and OpenBLAS is told to stay on the caller's thread, a
 * setting of the whole process.)
 *
 * Texts are UTF-8 and end in NUL. What belongs to a model (pieces) is freed with it. */
#ifndef LIBRARY_QKV_H
#define LIBRARY_QKV_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct QkvError {
    char text[1024];  // one sentence, without a full stop
} QkvError;

const char *qkv_version(void);  // "major.minor"

/* ---- a model ---- */

typedef struct QkvModel QkvModel;

/* int8 rounds the weights: about twice as fast, a quarter of the memory, nearly the same
 * translations. A model that was saved so is int8 either way. */
typedef enum { QKV_FLOAT, QKV_INT8 } QkvPrecision;

/* From a checkpoint, or the best one of a run's folder. */
QkvModel *qkv_model_load(const char *path, QkvPrecision precision, QkvError *error);

/* From a checkpoint file in memory, bytes [size], which is not needed afterwards. */
QkvModel *qkv_model_read(const void *bytes, size_t size, QkvPrecision precision,
                         QkvError *error);

/* The most tokens of a sentence, its end included; a longer text is cut (see below). */
int qkv_model_max_length(const QkvModel *model);

/* When its translators are freed. NULL is fine, here and below. */
void qkv_model_free(QkvModel *model);

/* ---- translating ---- */

typedef struct QkvTranslator QkvTranslator;

/* threads: to compute with, the caller's among them; 0: one for each processor. */
QkvTranslator *qkv_translator_new(const QkvModel *model, int threads, QkvError *error);
void qkv_translator_free(QkvTranslator *translator);

/* One of the options that qkv-translate --help lists under Searching, by its name and as it is
 * written there: ("beam", "5"), ("length-penalty", "0.6"), ("sample", "true"). */
bool qkv_translator_set(QkvTranslator *translator, const char *option, const char *value,
                        QkvError *error);

typedef struct QkvHypothesis {
    const char *text;
    double score;              // log_probability / length penalty, which the search maximises
    double log_probability;    // nats
    int tokens;                // 0 if the text to translate was empty; else the last is </s>
    const char *const *token;  // [tokens] pieces; U+2581 stands for the space before
    const int *id;             // [tokens] their numbers in the vocabulary
} QkvHypothesis;

typedef struct QkvTranslation {
    int count;  // hypotheses: 1, or as many as "n-best" or "alternatives" say
    const QkvHypothesis *hypothesis;  // [count], best first; samples as drawn
    int cut;  // 0; or how many tokens the text has, if only the first of them were translated
} QkvTranslation;

typedef struct QkvTranslations {
    int count;
    const QkvTranslation *sentence;  // [count], in the order of the texts
} QkvTranslations;

/* Translates texts [count]. beginnings: NULL, or [count] what each translation has to begin with,
 * NULL or "" for none. */
QkvTranslations *qkv_translate(QkvTranslator *translator, const char *const *texts,
                               const char *const *beginnings, int count, QkvError *error);
void qkv_translations_free(QkvTranslations *translations);

/* ---- attention ---- */

typedef enum {
    QKV_ENCODER,  // source [sources] at source [sources]
    QKV_DECODER,  // target [targets] at what it has read [targets]
    QKV_CROSS     // target [targets] at source [sources]
} QkvAttentionKind;

typedef struct QkvAttention {
    int sources, targets;       // tokens, </s> included
    const char *const *source;  // [sources] pieces
    const char *const *target;  // [targets] pieces, as the decoder writes them
    const char *const
        *read;  // [targets] what it has read last when it does: <pad> and the target
    int encoder_layers, decoder_layers, heads;
} QkvAttention;

/* Of a text and one of its translations, of at least one token. */
QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error);

/* Of a text and any other, as its translation. */
QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error);
void qkv_attention_free(QkvAttention *attention);

enum { QKV_MEAN = -1 };

/* weights [rows,columns] (=) what one head, or all of a layer on average (QKV_MEAN), looks at: each
 * row is a query and adds up to 1 over the columns, the keys. Layers and heads count from 0. */
bool qkv_attention_weights(float *weights, const QkvAttention *attention, QkvAttentionKind kind,
                           int layer, int head, QkvError *error);

#ifdef __cplusplus
}
#endif

#endif
