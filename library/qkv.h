/* qkv.h -- translates with a model of qkv-train and gives its attention weights.
 *
 *     QkvError error;
 *     QkvModel *model = qkv_model_load("checkpoints/toy", QKV_FLOAT, &error);
 *     QkvTranslator *translator = qkv_translator_new(model, 0, &error);
 *     QkvTranslations *out = qkv_translate(translator, texts, NULL, count, &error);
 *     puts(out->sentence[0].hypothesis[0].text);
 *     qkv_translations_free(out), qkv_translator_free(translator), qkv_model_free(model);
 *
 * A call that fails returns NULL or false and writes one sentence to *error; there is nothing
 * to free. Pass NULL for error if the sentence is not needed. NULL in place of any other argument
 * and a value that an enum does not have are errors, too. No call prints, ends the program,
 * changes signal handlers or depends on the locale. There are no global variables.
 *
 * Threads: a model never changes. Any number of translators, on any threads, can share it. Use
 * a translator from one thread at a time; it has worker threads of its own. The same texts and
 * settings give bit-identical results on one kind of processor, whatever the number of threads
 * and the other texts of the call, on whose number of sentences only samples depend. After
 * fork() the new process can only free a translator.
 *
 * Texts are UTF-8 and end in NUL. Tokens (`piece`s of the vocabulary) belong to the model and
 * are freed with it. */
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

/* QKV_INT8 quantises the weights: about twice as fast, a quarter of the memory, nearly the same
 * translations. A model that was saved as int8 is int8 either way. */
typedef enum { QKV_FLOAT, QKV_INT8 } QkvPrecision;

/* Loads a checkpoint, or the best checkpoint in the folder of a run. */
QkvModel *qkv_model_load(const char *path, QkvPrecision precision, QkvError *error);

/* Loads a checkpoint file in memory, bytes [size]. The bytes may be freed afterwards. */
QkvModel *qkv_model_read(const void *bytes, size_t size, QkvPrecision precision,
                         QkvError *error);

/* The longest sentence in tokens, </s> included. A longer one is cut (QkvTranslation.cut). 0 for
 * NULL. */
int qkv_model_max_length(const QkvModel *model);

/* Free all translators and attentions of the model first. This and all other qkv_…_free
 * functions do nothing for NULL. */
void qkv_model_free(QkvModel *model);

/* ---- translating ---- */

typedef struct QkvTranslator QkvTranslator;

/* threads: the number of threads, the caller's included; 0: one for each processor. */
QkvTranslator *qkv_translator_new(const QkvModel *model, int threads, QkvError *error);
void qkv_translator_free(QkvTranslator *translator);

/* Sets one of the options that qkv-translate --help lists under Texts or Searching. Name and value are
 * as there, without dashes: ("beam", "5"), ("length-penalty", "0.6"), ("sample", "true").
 * Errors name options in back quotes. */
bool qkv_translator_set(QkvTranslator *translator, const char *option, const char *value,
                        QkvError *error);

typedef struct QkvHypothesis {
    const char *text;
    double score;            // log_probability / length penalty, which the search maximises
    double log_probability;  // nats
    int tokens;              // 0 if the source text was empty; otherwise the last token is </s>
    const char *const *token;  // [tokens] pieces; U+2581 stands for a space before the token
    const int *id;             // [tokens] ids in the vocabulary
    const double *each;        // [tokens] ln p of each token; their sum is log_probability
} QkvHypothesis;

/* A sentence of a text and its best translation. What is between the sentences stands in the
 * translation of the text as it is in the text. */
typedef struct QkvSentence {
    size_t source_begin, source_end;  // its bytes in the text
    size_t target_begin, target_end;  // those of its translation in hypothesis[0].text
    QkvHypothesis translation;
} QkvSentence;

typedef struct QkvTranslation {
    int count;  // 1, or the number set by "n-best"
    const QkvHypothesis
        *hypothesis;  // [count], best first; samples as drawn. The tokens are those
                      // of all sentences, each ended by </s>
    int cut;          // tokens of a sentence that was too long and has been cut; otherwise 0
    int sentences;    // 0 if there is nothing to translate
    const QkvSentence *sentence;  // [sentences]
    /* what is probably wrong */
    bool limit;     // a sentence's translation was ended by the limit of its length
    bool doubtful;  // or has a lower score than nearly all of the validation text ("min-score")
    int missing_count;
    const char *const
        *missing;  // [missing_count] numbers, names and the like that are not in it
    int unknown_count;
    const char *const
        *unknown;  // [unknown_count] words and characters that the model does not know
} QkvTranslation;

typedef struct QkvTranslations {
    int count;
    const QkvTranslation *sentence;  // [count], in the order of the texts
} QkvTranslations;

/* Translates texts [count], each sentence by sentence; a text may have several lines.
 * beginnings: [count] how each translation must begin, NULL or "" if it may begin freely; or
 * NULL if all may. All but the last sentence of a beginning are whole translations of sentences. */
QkvTranslations *qkv_translate(QkvTranslator *translator, const char *const *texts,
                               const char *const *beginnings, int count, QkvError *error);
void qkv_translations_free(QkvTranslations *translations);

/* log_probability [count] (=) ln p(translation | text) of given translations, in nats, </s>
 * included. Both are read as they are, with addresses, numbers, emoji and capitals, which qkv_translate
 * keeps from the model. false, with an error, if one is too long for the model. */
bool qkv_score(double *log_probability, QkvTranslator *translator, const char *const *texts,
               const char *const *translations, int count, QkvError *error);

/* ---- attention ---- */

typedef enum {
    QKV_ENCODER,  // encoder self-attention: queries source [sources], keys source [sources]
    QKV_DECODER,  // decoder self-attention: queries target [targets], keys read [targets]
    QKV_CROSS     // encoder-decoder attention: queries target [targets], keys source [sources]
} QkvAttentionKind;

typedef struct QkvAttention {
    int sources, targets;       // numbers of tokens, </s> included
    const char *const *source;  // [sources] pieces
    const char *const *target;  // [targets] pieces: the decoder's output
    const char *const
        *read;  // [targets] pieces: the decoder's input, <pad> and then the target
    int encoder_layers, decoder_layers, heads;
} QkvAttention;

/* The attention of a text of one sentence and one of its translations, which must have at least one
 * token. Of a longer text, take a sentence of it and QkvSentence.translation. */
QkvAttention *qkv_attention(const QkvModel *model, const char *text,
                            const QkvHypothesis *translation, QkvError *error);

/* The attention of a text and a given translation. */
QkvAttention *qkv_attention_given(const QkvModel *model, const char *text,
                                  const char *translation, QkvError *error);
void qkv_attention_free(QkvAttention *attention);

enum { QKV_MEAN = -1 };

/* weights [rows,columns] (=) the attention weights of one head, or their mean over all heads of
 * a layer (QKV_MEAN). Each row is a query, each column a key, and each row sums to 1. Layers
 * and heads count from 0. */
bool qkv_attention_weights(float *weights, const QkvAttention *attention, QkvAttentionKind kind,
                           int layer, int head, QkvError *error);

#ifdef __cplusplus
}
#endif

#endif
