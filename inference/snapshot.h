/* snapshot.h -- an attention snapshot: all attention weights of one sentence pair.
 *
 *     Snapshot *snapshot = snapshot_open(&model, source, n, target, m, error);
 *     snapshot_mean(mean, snapshot, ATTENTION_CROSS, layer);          mean [m,n]
 *     snapshot_close(snapshot);
 *
 * A row is a query, a column a key, and a row sums to 1. Row i of the decoder's maps is what the
 * network looks at when it produces target[i]; it has read <pad> and target[0 .. i-1] then. So the
 * columns of ATTENTION_DECODER are <pad> target[0] … target[m-2]. */
#ifndef INFERENCE_SNAPSHOT_H
#define INFERENCE_SNAPSHOT_H

#include "model/transformer.h"

typedef enum {
    ATTENTION_ENCODER,  // source [n] at source [n]
    ATTENTION_DECODER,  // target [m] at what it has read [m]
    ATTENTION_CROSS     // target [m] at source [n]
} AttentionKind;

typedef struct Snapshot Snapshot;

typedef struct AttentionMap {
    const real *at;  // [rows,width], of which the first `columns` of each row count
    int rows, columns, width;
} AttentionMap;

/* Runs the network over the pair, each sentence of 1 .. max_length tokens and ending in </s>.
 * NULL with a sentence if one is not, or memory is short. The model must outlive it. */
Snapshot *snapshot_open(const Transformer *model, const int *source, int source_length,
                        const int *target, int target_length, Error *error);
void snapshot_close(Snapshot *snapshot);  // NULL is fine

/* A sentence pair whose snapshot several views share. It is taken when the first of them needs it,
 * and at most once. The caller sets all but `taken`, and closes that at the end. */
typedef struct LazySnapshot {
    const Transformer *model;
    const int *source, *target;  // [n] [m] ids
    int source_length, target_length;
    Snapshot *taken;  // NULL until then
} LazySnapshot;

/* The snapshot; NULL as from snapshot_open. */
const Snapshot *snapshot_get(LazySnapshot *lazy, Error *error);

/* What it was taken of: one sentence each, n and m rows. */
const Transformer *snapshot_model(const Snapshot *snapshot);
const Packed *snapshot_source(const Snapshot *snapshot);
const Packed *snapshot_target(const Snapshot *snapshot);

int snapshot_layers(const Snapshot *snapshot, AttentionKind kind);
int snapshot_heads(const Snapshot *snapshot);

AttentionMap snapshot_map(const Snapshot *snapshot, AttentionKind kind, int layer, int head);

/* Rows of vectors as the pass left them: row i is at + i · stride, its first `columns` numbers. */
typedef struct SnapshotRows {
    const real *at;
    int rows, columns, stride;
} SnapshotRows;

/* What one head computed on the way to its map (model/attention.c has the steps). */
typedef struct HeadVectors {
    SnapshotRows Xq, Xkv;  // [n,D] [m,D] what the layer made queries, and keys and values, of
    SnapshotRows Q;        // [n,dh] the query of every row
    SnapshotRows K, V;     // [m,dh] the key and the value of every column
    SnapshotRows O;        // [n,dh] what every row read: values, mixed by its probabilities
    double scale;          // the softmax is of scale · q·k: 1/√dh
} HeadVectors;

HeadVectors snapshot_vectors(const Snapshot *snapshot, AttentionKind kind, int layer, int head);

/* The embedded sentence, positions added: [n,D] of the source, or [m,D] of what the decoder read. */
SnapshotRows snapshot_embedded(const Snapshot *snapshot, bool source);

/* out [rows,columns] (=) one head's map without its padding, or the mean over a layer's heads. */
void snapshot_head(float *out, const Snapshot *snapshot, AttentionKind kind, int layer,
                   int head);
void snapshot_mean(float *out, const Snapshot *snapshot, AttentionKind kind, int layer);

/* out [rows,columns] (=) how much each column adds to each row: the length of the vector that the
 * layer's heads together take from there, ‖Σ_h P_ij V_j W_O‖, or that one head takes (head >= 0).
 * Attention says how much is taken, this also how much there is to take (Kobayashi et al. 2020,
 * arXiv 2004.10102). Rows do not add up to 1. */
bool snapshot_norms(float *out, const Snapshot *snapshot, AttentionKind kind, int layer,
                    int head, Error *error);

#endif
