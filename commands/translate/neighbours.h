/* neighbours.h -- --neighbours: the vocabulary around a word, which must be one token.
 *
 *   embeddings   the tokens whose embeddings have the largest cosine with that of the word
 *   keys         the tokens whose keys have the largest scores with its query, in each head of the
 *                first layer of encoder and decoder self-attention. The layer's inputs are the
 *                embeddings times √D without positions, so that no sentence is needed. The
 *                encoder's lines have tokens of the training text's source side, the decoder's of
 *                its target side: a model with one vocabulary for both never read the others there */
#pragma once

#include "inference/bundle.h"

/* news: says if the training text is not to be found; or NULL */
bool neighbours_print(const Bundle *bundle, const char *word, FILE *news, Error *error);
