/* align.h -- from attention to a word alignment, and its alignment error rate.
 *
 *   (1)  weights   W_ij, how much target token i takes from source token j: the attention weights
 *                  of a head, the mean of a layer's heads, or their norms (snapshot_norms); or
 *                  the sum of these over the layers, as all add to one residual stream
 *   (2)  shares    every row divided by its sum, </s> included
 *   (3)  links     each target word with the source word of the largest share in one of its
 *                  tokens; then each source word without a link, with the target word in which
 *                  its share is largest
 *
 * Row i of the decoder, which produces target token i, belongs to it. Chen et al. 2020 (arXiv
 * 2004.14837) take row i+1, which has read it; that was worse here (docs/attention.md).
 *
 * The alignment error rate compares links A with sure links S and possible links P, S within P:
 *
 *   AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)            Och and Ney 2003, §5.1 */
#pragma once

#include "inference/snapshot.h"

enum { ALIGN_MEAN = -1, ALIGN_NORM = -2, ALIGN_LAYERS = -3 };

/* The shares [m,n], (1) and (2), for free(); NULL on error.
 * head: 0 .. H-1, ALIGN_MEAN or ALIGN_NORM.
 * layer: 0 .. L-1, or ALIGN_LAYERS for the sum of all layers (not of a single head). */
float *align_shares(const Snapshot *snapshot, int layer, int head, Error *error);

typedef struct Link {
    int source, target;  // words, from 0
    bool possible;       // in a gold alignment: not sure
    float score;         // the share that made it, 0 to 1
} Link;

/* Distinct links, sorted by source, then target. Start with {0}. */
typedef struct Links {
    Link *link;
    int count;
    size_t size;
} Links;

/* *links (=) step (3).   share [m,n+1]: m target and n source tokens without </s>
 * target_word [m+1], source_word [n+1]: the word of each token, from 0, ascending, and their
 * number. */
bool align_links(Links *links, const float *share, int m, int n, const int *target_word,
                 const int *source_word, Error *error);

/* Appends a link; the caller keeps the order. */
bool links_add(Links *links, Link link, Error *error);

/* From links of tokens to those of characters: every one of a token has its links.
 * source [n+1], target [m+1]: the first character of each token, and the one after the last. */
bool links_spread(Links *links, const int *source, const int *target, Error *error);

/* Reads a gold alignment, "0-0 2-1 3?1": i-j is sure, i?j (or ipj) possible. Errors begin with
 * `where`. A link to a word that does not exist is an error. */
bool links_read(Links *links, const char *text, const char *where, int source_words,
                int target_words, Error *error);
void links_free(Links *links);

/* Counts, summed over sentences. */
typedef struct AlignError {
    long long links, sure, links_sure, links_possible;  // |A| |S| |A ∩ S| |A ∩ P|
} AlignError;

/* Adds the counts of one sentence. */
void align_compare(AlignError *counts, const Links *links, const Links *gold);

double align_error(const AlignError *counts);      // AER; NaN without any links
double align_precision(const AlignError *counts);  // |A ∩ P| / |A|
double align_recall(const AlignError *counts);     // |A ∩ S| / |S|
