/* align.h -- from attention to an alignment of words, and how far it is from a right one.
 *
 *   (1)  weights   a head's map, or the mean of a layer's heads, or their norms (snapshot_norms), or
 *                  the sum of means or norms over the layers, as each layer adds to the same
 *                  stream: W_ij, how much target token i has from source token j
 *   (2)  shares    every row divided by its sum, that of </s> included
 *   (3)  links     every target word and the source word with the largest share of one of its
 *                  tokens; then every source word that is left over, and the target word in which
 *                  its share is largest. Or, with a threshold: all that have at least that share
 *
 * Which row belongs to target token i? The decoder's place i *writes* it; place i+1 has *read* it.
 * Chen et al. 2020 (arXiv 2004.14837) take the latter: there the word is known and can look for
 * what it stands for. Which is better depends on the layer: both can be had.
 *
 * The alignment error rate compares links A with sure ones S and possible ones P, S within P:
 *
 *   AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)            Och and Ney 2003, §5.1 */
#ifndef INFERENCE_ALIGN_H
#define INFERENCE_ALIGN_H

#include "inference/snapshot.h"

typedef enum { STEP_WRITES, STEP_READS } AlignStep;

enum { ALIGN_MEAN = -1, ALIGN_NORM = -2, ALIGN_LAYERS = -1 };

/* Shares, (1) and (2), of all target tokens but </s>: share [m-1,n] (=).
 * head: 0 .. H-1, ALIGN_MEAN or ALIGN_NORM.   layer: 0 .. L-1, or for the last two ALIGN_LAYERS:
 * all of them, added. */
bool align_shares(float *share, const Snapshot *snapshot, int layer, int head, AlignStep step,
                  Error *error);

typedef struct Link {
    int source, target;  // words, from 0
    bool possible;       // in a right alignment: not sure
} Link;

/* In the order of source, then target; none twice. {0} when empty. */
typedef struct Links {
    Link *link;
    int count, size;
} Links;

/* Of share [m,n+1], m target and n source tokens without </s>, and the word of each: word numbers
 * do not fall, and each word from 0 to the last has a token.  threshold: 0, or the least share. */
bool align_links(Links *links, const float *share, int m, int n, const int *target_word,
                 const int *source_word, double threshold, Error *error);

/* Reads "0-0 2-1 3?1": i-j is sure, i?j (or ipj) possible. `where` is its name in errors; words are
 * checked against how many there are. */
bool links_read(Links *links, const char *text, const char *where, int source_words,
                int target_words, Error *error);
void links_free(Links *links);

/* Counts over sentences. */
typedef struct AlignError {
    long long links, sure, links_sure, links_possible;  // |A| |S| |A ∩ S| |A ∩ P|
} AlignError;

void align_compare(AlignError *counts, const Links *links, const Links *right);

double align_error(const AlignError *counts);      // AER; NaN if there is nothing to compare
double align_precision(const AlignError *counts);  // |A ∩ P| / |A|
double align_recall(const AlignError *counts);     // |A ∩ S| / |S|

#endif
