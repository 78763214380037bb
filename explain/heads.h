/* heads.h -- what each attention head does, added up over sentence pairs.
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

#include "explain/labels.h"
#include "explain/maps.h"
#include "explain/picture.h"
#include "inference/align.h"

// clang-format off
typedef enum { HEAD_ENTROPY, HEAD_OF_MAX, HEAD_DIAGONAL, HEAD_PREVIOUS, HEAD_NEXT, HEAD_END,
               HEAD_SAME, HEAD_MEASURES } HeadMeasure;
// clang-format on
extern const char *const head_measures[HEAD_MEASURES];  // "entropy", "of_max", …

typedef struct Head {
    double sum[HEAD_MEASURES];
    long long rows[HEAD_MEASURES];
    AlignError aligned;  // the caller's
} Head;

/* A word of a row and one of a column. */
typedef struct HeadPair {
    char words[120], *example;  // "de → the"; the first sentence pair with both
    long long count;
    double weight[];  // of each head, summed
} HeadPair;

enum { HEAD_KINDS = 3, HEAD_PAIRS = 30000 };

typedef struct Heads {
    int heads;                    // of a layer; head h of layer l is number l · heads + h
    int count[HEAD_KINDS];        // layers · heads
    Head *head[HEAD_KINDS];       // [count+1] the last one: a head whose weights are all equal
    HeadPair **pair[HEAD_KINDS];  // [pairs] the first HEAD_PAIRS that occur
    int pairs[HEAD_KINDS];
    struct hsearch_data *table;  // [HEAD_KINDS]
    long long sentences;
} Heads;

/* Start with {0}; call heads_free even if it fails. */
bool heads_create(Heads *heads, const ModelConfig *config, Error *error);
void heads_free(Heads *heads);

bool heads_add(Heads *heads, const Snapshot *snapshot, const Vocabulary *vocabulary,
               Error *error);

/* Adds one head's map of words. uniform: the map of equal weights, 0 where there is no key. */
void head_measure(Head *head, const Map *map, const Map *uniform, AttentionKind kind,
                  const Labels *rows, const Labels *columns);

double head_mean(const Head *head, HeadMeasure measure);  // NaN if it applies to no row

/* The pair of two words; NULL if it did not occur. */
HeadPair *heads_find(const Heads *heads, AttentionKind kind, const char *from, const char *to);

/* Sorts the pairs of a kind by their mean weight in a head, the largest first. */
void heads_sort(Heads *heads, AttentionKind kind, int head);

/* A picture: a column for each head, a row for each measure in 0..1, and 1 - AER if known. */
bool heads_draw(const char *path, const Heads *heads, const PictureConfig *config,
                Error *error);
