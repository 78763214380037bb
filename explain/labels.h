/* labels.h -- the words along a side of an attention map. */
#ifndef EXPLAIN_LABELS_H
#define EXPLAIN_LABELS_H

#include "data/tokenizer.h"

typedef struct Labels {
    char **text;  // [count]
    bool *mark;   // [count] no word: </s>, and what stands before the first one, <pad>
    int count;    // of tokens; or of words, where pieces are joined
    int *word;    // [tokens] the place in text of each token, from 0 on, never falling
    int tokens;
} Labels;

/* Of id [count]. shifted: of what the decoder has read when it writes them, <pad> before the first
 * and without the last. join: the pieces from one space to the next are a word. */
bool labels_make(Labels *labels, const Tokenizer *tokenizer, const int *id, int count,
                 bool shifted, bool join, Error *error);

/* Without the marks; word stays, and so is of no use any more. */
void labels_hide(Labels *labels);

void labels_free(Labels *labels);

#endif
