/* maps.h -- attention maps of one head or of several, for display: joins the subwords of a word, and
 * measures a map.
 *
 * The columns of a word's subwords are added, the rows averaged (Clark et al. 2019, "What does BERT
 * look at?", §4.1): a row still sums to 1. */
#pragma once

#include "explain/choice.h"

typedef struct Map {
    float *at;  // [rows,columns], owned; a row sums to 1
    int rows, columns;
} Map;

void map_free(Map *map);

/* A head's map, or with head < 0 the mean of its layer. False only if memory runs out. */
bool map_head(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer, int head,
              Error *error);

/* The map of a choice: a head, the mean or the largest weights of the layer's heads, or the rollout up to
 * the layer of self-attention; of words if row_word is not NULL (map_join). With A_l, the mean of the
 * heads of layer l,
 *
 *   R_0 = I,    R_l = (A_l + I) / 2 · R_(l-1)      Abnar & Zuidema 2020 (arXiv 2005.00928), §3
 *
 * The largest weights of a row do not sum to 1. */
bool map_chosen(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer, int head,
                const int *row_word, const int *column_word, Error *error);

/* row_word [rows] and column_word [columns]: the word of each token, non-decreasing from 0. */
void map_join(Map *map, const int *row_word, const int *column_word);

/* Keeps `rows` rows and `columns` columns from [row,column] on. */
void map_crop(Map *map, int row, int rows, int column, int columns);

/* The first column of the largest weight of a row. */
static inline int row_most(const real *weight, int columns)
{
    int most = 0;
    for (int j = 1; j < columns; j++)
        if (weight[j] > weight[most]) most = j;
    return most;
}

/* The entropy of a row in bits, averaged over the rows that are not 0: from 0 (all on one
 * column) to log2 columns. */
double map_entropy(const Map *map);

/* How similar a map is to a word alignment, 0 .. 1, without gold links: the mean of two
 * averages, that of each word row's largest weight on a word column, and that of each word
 * column's largest weight in a word row. A head that always attends to one position has about
 * 0.5. row_special [rows] and column_special [columns]: tokens that are not words. */
double map_alignment(const Map *map, const bool *row_special, const bool *column_special);

/* agree [layers·heads] (=) the share of the target tokens, </s> left out, for which a head of
 * cross-attention has its largest weight on the same source token as the norms of all layers
 * (inference/align.h). A head that aligns the word just read, not the one about to be written, is one
 * row late and agrees with few. */
bool maps_agree(double *agree, const Snapshot *snapshot, Error *error);

/* layer, head, row (=) the head and the word whose attention is best to follow: the average of the
 * largest weight of each row (the column of </s> left out) is high, and the largest weight of
 * this row is near 0.6, so that its softmax is neither flat nor a single 1. Only heads that the
 * choice allows; a *row >= 0 is kept. The row of </s> is not chosen. */
void maps_follow(int *layer, int *head, int *row, const Snapshot *snapshot,
                 const Choice *choice);

/* The share of their attention that the words give to the special columns, from row `first`
 * on; NaN: there are none. */
double map_share(const Map *map, const bool *row_special, const bool *column_special,
                 int first);
