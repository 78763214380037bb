/* projections.h -- what W_Q, W_K and W_V of one decoder layer's encoder-decoder attention do to
 * frequent words.
 *
 * Rows are target words i, columns source words j. q_i is the mean query of the steps that
 * produce word i, k_j and v_j are the mean key and value of word j, e_i is the embedding of
 * word i in the output layer:
 *
 *   scores    softmax over j of the score of q_i and k_j (q_i · k_j / √d_k), the mean of the heads:
 *             the attention if every word j were in the sentence
 *   weights   the mean attention weight of i on j, over the sentence pairs that have both; NaN
 *             if none has
 *   values    softmax over i of e_i · W_O v_j: the translation of j as far as these words and
 *             the residual connections from this layer to the output alone decide */
#pragma once

#include "data/corpus.h"
#include "data/vocabulary.h"
#include "model/transformer.h"

enum { PROJECTION_WORDS = 16, PROJECTION_PAIRS = 160, PROJECTION_MAPS = 3 };

/* Source words and target words that often occur in the same sentence pairs: word i of one side
 * is probably a translation of word i of the other. */
typedef struct FrequentWords {
    int count;  // 0 .. PROJECTION_WORDS
    int id[SIDES][PROJECTION_WORDS];
} FrequentWords;

enum { PROJECTION_NUMBERS = 1 + PROJECTION_MAPS * PROJECTION_WORDS * PROJECTION_WORDS };

typedef union Projections {
    struct {
        double loss;                                                       // per target token
        double map[PROJECTION_MAPS][PROJECTION_WORDS * PROJECTION_WORDS];  // [count,count] each
    };
    double number[PROJECTION_NUMBERS];  // all of them
} Projections;

/* The words of the first PROJECTION_PAIRS pairs, without ASCII punctuation. */
void projections_words(FrequentWords *words, const Corpus *corpus,
                       const Vocabulary *vocabulary);

/* Passes the first PROJECTION_PAIRS pairs through the network, on this thread.
 * model: in training, not prepared for inference   layer: of the decoder, from 0 */
bool projections_find(Projections *out, const FrequentWords *words, const Transformer *model,
                      int layer, const Corpus *corpus, Error *error);
