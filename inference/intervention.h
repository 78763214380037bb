/* intervention.h -- changes of a trained model that show what its parts are worth, without
 * training again (Michel et al. 2019, arXiv 1905.10650). Each is an edit of the weights, so the
 * network knows nothing of them.
 *
 *   intervene   positions=0    no position is added to the embeddings
 *               wq=wk          W_Q, b_Q of every head become copies of W_K, b_K
 *               scale=X        W_Q, b_Q are multiplied, so that the softmax is of X q·k; a
 *                              learned scale (model/scorefunction.h) becomes X
 *   ablate      HEAD=zero      the head's columns of W_O become 0: it adds nothing
 *               HEAD=uniform   its rows of W_K, b_K become 0: all keys are equal
 *
 * They are made in this order. HEAD is KIND.LAYER.HEAD: cross.2.1, or cross.2.* for a layer. */
#pragma once

#include "base/options.h"
#include "model/transformer.h"

typedef struct Intervention {
    StringList ablate, intervene;  // "cross.2.1=zero", "scale=0.5"
    /* set by intervention_parse */
    bool any, no_positions, same_queries;
    double scale;  // NAN: as trained
} Intervention;

/* Reads the lists. False if one is not valid (exit status 2). */
bool intervention_parse(Intervention *intervention, Error *error);

/* Changes a model that is not prepared for inference. False if it has no such head, or int8
 * weights. */
bool intervention_apply(const Intervention *intervention, Transformer *model, Error *error);
