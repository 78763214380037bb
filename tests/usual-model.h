/* usual-model.h -- SentencePiece models as people have them: learned by the library itself, in its
 * usual layout or another; for tests. */
#ifndef TESTS_USUAL_MODEL_H
#define TESTS_USUAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Learns a model from lines of text, with options as the library names them, "--key=value …".
 * free() it. NULL if the library will not. */
unsigned char *usual_model_learn(size_t *size, const char *const *line, size_t lines,
                                 const char *options);

/* The pieces of a text by the model as it is, "▁a|b|<unk>"; free() it. */
char *usual_model_pieces(const void *model, size_t size, const char *text);

#ifdef __cplusplus
}
#endif

#endif
