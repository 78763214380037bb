/* heads.h -- what each attention head does, added up over sentence pairs: ./translate
 * --head-report.
 *
 * The maps are of words (map_join). Rows of </s> and rows with only one key are left out. Each
 * measure is a mean over the rows that it applies to; a share is the weight on all columns of its
 * sort, and applies to a row that has such a column:
 *
 *   entropy    -Σ_j P_ij log2 P_ij, in bits
 *   of_max     the same divided by log2 of the row's number of keys
 *   diagonal   column i: in the encoder the word itself, in the decoder the word just written, in
 *              encoder-decoder attention the source word at the same place
 *   previous, next    the words in columns i-1 and i+1; the decoder has no next
 *   end        </s>; in the decoder <pad>
 *   same       the same text: in self-attention as column i has, elsewhere in the sentence; in
 *              encoder-decoder attention as row i has */
#pragma once

#include <search.h>

#include "explain/labels.h"
#include "explain/maps.h"

// clang-format off
enum { HEAD_ENTROPY, HEAD_OF_MAX, HEAD_DIAGONAL, HEAD_PREVIOUS, HEAD_NEXT, HEAD_END,
       HEAD_SAME, HEAD_MEASURES };
// clang-format on

typedef struct Head {
    AttentionKind kind;
    int layer, number;  // from 0; number -1: a head whose weights are all equal
    double sum[HEAD_MEASURES];
    long long rows[HEAD_MEASURES];
} Head;

enum { HEAD_KINDS = 3, HEAD_PAIRS = 90000 };

typedef struct Heads {
    Head *kind[HEAD_KINDS + 1];  // those of kind k: kind[k] .. kind[k+1]-1, the last: number -1
    struct HeadPair **pair;      // [pairs] pairs of words: the first HEAD_PAIRS that occur
    int pairs;
    struct hsearch_data table;  // of the pairs, half full at most: a search stays short
    long long sentences;
} Heads;

/* Start with {0}; call heads_free even if it fails. */
bool heads_create(Heads *heads, const ModelConfig *config, Error *error);
void heads_free(Heads *heads);

bool heads_add(Heads *heads, const Snapshot *snapshot, const Vocabulary *vocabulary,
               Error *error);

/* Prints tables, or with json an object for each head. least: how often a typical pair occurs. */
void heads_print(FILE *out, const Heads *heads, int least, bool json);

/* Prints the heads ranked by the mean weight from one word to another. */
bool heads_rank(FILE *out, Heads *heads, const char *from, const char *to, Error *error);
