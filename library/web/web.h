/* web.h -- what the page calls (plots/page/engine.js): a model in WebAssembly, in a browser's tab.
 *
 * Texts are UTF-8 and end with NUL; the caller writes them to web_memory. A function that fails returns
 * NULL or false, and web_error says why. There is one model, and one training. */
#pragma once

#include "data/vocabulary.h"
#include "model/transformer.h"

typedef struct Web {
    Vocabulary vocabulary;
    Transformer model;
    real *kept;  // [params.size] the weights before web_change; or NULL
    Error error;
} Web;

extern Web web;

#define EXPORT(name) __attribute__((export_name(#name))) name

void *web_memory(size_t bytes);  // for web_release
void web_release(void *memory);
const char *web_error(void);

/* The three files of library/web/pack.c: the vocabulary, the model's options and its weights. */
bool web_words(const char *words);
bool web_model(const char *options);
bool web_weights(const unsigned char *bytes, size_t size);

/* The translations of lines: "SCORE\tTRANSLATION\n" for each. For web_release. */
char *web_translate(const char *lines);

/* The data of a page (explain/page.h) for a sentence and a translation of it, "" for the model's own, with
 * gradients. For web_release. */
char *web_attention(const char *sentence, const char *given);

/* Changes the weights (inference/intervention.h); the last call's changes are undone first. Both texts
 * have spaces between their changes. Undo with "" before web_update. */
bool web_change(const char *ablate, const char *intervene);

/* A head's W_Q, W_K and W_V, [3,dh,D]; valid until the next call. kind: an AttentionKind */
const real *web_projections(int kind, int layer, int head);

/* ---- training (learn.c) ---- */

/* Gives the model initial weights, and begins to train it on the toy's corpus, with options of
 * training/config.h. */
bool web_train(const char *options);

/* Changes the learning rate of the updates from now on. */
void web_learning_rate(double rate);

/* One update more. Returns the loss a token, or NaN: web_error. */
double web_update(void);

/* Sets options from lines "name value". */
bool web_options(const OptionGroup *group, const char *lines);
