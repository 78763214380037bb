/* maps.h -- what is made of a look before people see it: heads together, layers together, pieces
 * joined to words, marks left out; and numbers that say what a map is like.
 *
 *   heads     the mean of some of a layer's heads, or the largest of them cell by cell. The
 *             largest do not add up to 1, so each row is divided by its sum.
 *   rollout   how much of what a row holds after l layers comes from which word, if every layer
 *             mixes rows by the mean of its heads and the residual sum keeps the other half
 *             (Abnar and Zuidema 2020, "Quantifying attention flow in transformers"):
 *
 *               encoder   E_0 = I     E_l = ½ A_l E_(l-1) + ½ E_(l-1)
 *               decoder   T_0 = I     T' = ½ A_l T_(l-1) + ½ T_(l-1)     T_l = ½ T'
 *                         C_0 = 0     C' = ½ A_l C_(l-1) + ½ C_(l-1)     C_l = ½ C' + ½ B_l E
 *
 *             A are the maps of self-attention, B those of encoder-decoder attention, E is that of
 *             the whole encoder. The paper has the encoder; the decoder follows by the same rule:
 *             T is the share of the words it has read, C that of the source, and a row of T and
 *             of C together adds up to 1. Both are divided by their sums before they are shown.
 *   words     the columns of a word's pieces are added, the rows averaged (Clark et al. 2019,
 *             "What does BERT look at?", §4.1): a row still adds up to 1.
 *   marks     rows and columns left out; what remains of a row is divided by its sum.
 */
#ifndef EXPLAIN_MAPS_H
#define EXPLAIN_MAPS_H

#include "inference/snapshot.h"

typedef struct Map {
    float *at;  // [rows,columns], owned; a row sums to 1, or is 0 if nothing is left of it
    int rows, columns;
} Map;

void map_free(Map *map);

/* Of the heads in head [count], 0 .. H-1. Each of these is false only for want of memory. */
bool map_mean(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer,
              const int *head, int count, Error *error);
bool map_max(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer, const int *head,
             int count, Error *error);

/* Through layers 0 .. layer of the decoder (or of the encoder, for its own kind). */
bool map_rollout(Map *map, const Snapshot *snapshot, AttentionKind kind, int layer,
                 Error *error);

/* row_word [rows] says which word, from 0 on and never falling, each row belongs to. */
void map_join(Map *map, const int *row_word, const int *column_word);

/* Leaves out the rows and columns that are true in hide [rows] and [columns]. */
void map_hide(Map *map, const bool *hide_row, const bool *hide_column);

/* Bits that a row takes to say where it looks, on average, from 0 (at one
 * column) to log2 columns. */
double map_entropy(const Map *map);

/* How much a map is like an alignment, without knowing the right one, 0 .. 1: the mean of how
 * surely each row that is a word looks at one column that is a word, and of how surely each such
 * column is looked at by some such row. A head that always looks at one place has half of it.
 * row_mark [rows] and column_mark [columns] say what is no word. */
double map_alignment(const Map *map, const bool *row_mark, const bool *column_mark);

/* The part of all attention that the marked columns get; is_mark [columns]. */
double map_share(const Map *map, const bool *is_mark);

#endif
