/* snapshot.h -- an attention snapshot: all attention weights of one sentence pair.
 *
 *     Snapshot *snapshot = snapshot_open(&model, source, n, target, m, error);
 *     snapshot_weights(mean, snapshot, ATTENTION_CROSS, layer, -1);   mean [m,n]
 *     snapshot_close(snapshot);
 *
 * In an attention map a row is a query, a column is a key, and each row sums to 1. Row i of the
 * decoder's maps belongs to the step that produces target[i]. The decoder has then read <pad>
 * and target[0 .. i-1], so the columns of ATTENTION_DECODER are <pad> target[0] …
 * target[m-2]. */
#pragma once

#include "model/transformer.h"

typedef enum {
    ATTENTION_ENCODER,  // encoder self-attention: queries source [n], keys source [n]
    ATTENTION_DECODER,  // decoder self-attention: queries target [m], keys its input [m]
    ATTENTION_CROSS     // encoder-decoder attention: queries target [m], keys source [n]
} AttentionKind;

static inline const AttentionWeights *attention_weights(const Weights *w, AttentionKind kind,
                                                        int layer)
{
    const LayerWeights *l = (kind == ATTENTION_ENCODER ? w->encoder : w->decoder) + layer;
    return kind == ATTENTION_CROSS ? &l->cross : &l->self;
}

/* Indexed by AttentionKind: "encoder", "decoder", "cross". */
extern const char *const attention_kind_names[];

typedef struct Snapshot {
    const Transformer *model;
    Packed source, target;  // one sentence each, n and m rows
    Arena arena;            // holds all of it
    int source_start[2], target_start[2];
    Activations activations;
    const char *const *unknown[2];  // [n] [m] the texts of <unk> (IdLines.unknown); or NULL
    const double *each;             // [m] ln p of the target's tokens; or NULL
} Snapshot;

/* Runs the network over the pair. Each sentence has 1 .. max_length tokens and ends in </s>.
 * NULL, with the reason in *error, if one does not, or memory is short. Free the model only
 * after closing the snapshot. */
Snapshot *snapshot_open(const Transformer *model, const int *source, int source_length,
                        const int *target, int target_length, Error *error);
void snapshot_close(Snapshot *snapshot);  // does nothing for NULL

/* The same of one sentence each, keeping what `keep` says: after KEEP_GRADIENTS, transformer_backward
 * can follow, if the model is not prepared for inference. */
Snapshot *snapshot_open_for(const Transformer *model, const Packed *source,
                            const Packed *target, Keep keep, Error *error);

/* A sentence pair whose snapshot several views share. It is taken when the first of them needs
 * it. The caller sets all but `taken`, and drops it at the end. */
typedef struct LazySnapshot {
    const Transformer *model;
    const int *source, *target;  // [n] [m] ids
    int source_length, target_length;
    Snapshot *taken;                // NULL until then
    const char *const *unknown[2];  // for the snapshot; may be set later, as `each`
    const double *each;
} LazySnapshot;

/* The snapshot; NULL as from snapshot_open. */
const Snapshot *snapshot_get(LazySnapshot *lazy, Error *error);
void snapshot_drop(LazySnapshot *lazy);  // frees it, until the next snapshot_get

/* Rows of vectors, or of an attention map, in the memory of the pass. */
typedef struct SnapshotRows {
    const real *at;
    int rows, columns, stride;
} SnapshotRows;

static inline const real *snapshot_row(SnapshotRows rows, int row)  // [columns]
{
    return rows.at + (size_t)row * (size_t)rows.stride;
}

int snapshot_layers(const Snapshot *snapshot, AttentionKind kind);
SnapshotRows snapshot_map(const Snapshot *snapshot, AttentionKind kind, int layer, int head);

/* What one head of attention computed (the steps are in model/attention.c). */
typedef struct HeadVectors {
    SnapshotRows Xq,
        Xkv;         // [n,D] [m,D] the layer's inputs for the queries, and for keys and values
    SnapshotRows Q;  // [n,dh] queries
    SnapshotRows K, V;  // [m,dh] keys and values
    SnapshotRows O;     // [n,dh] the head's output: values weighted by the attention weights
    double scale;       // of the scores (model/scorefunction.h)
} HeadVectors;

HeadVectors snapshot_vectors(const Snapshot *snapshot, AttentionKind kind, int layer, int head);

/* What backward kept of a head, after KEEP_GRADIENTS. */
typedef struct HeadGradients {
    HeadVectors x;      // of Q, K, V and O
    SnapshotRows P, S;  // of the attention weights and of the scores
} HeadGradients;

HeadGradients snapshot_gradients(const Snapshot *snapshot, AttentionKind kind, int layer,
                                 int head);

/* Embeddings plus positions: [n,D] of the source, or [m,D] of the decoder's input. */
SnapshotRows snapshot_embedded(const Snapshot *snapshot, bool source);

/* out [rows,columns] (=) one head's attention weights (head >= 0), or their mean over all heads
 * of the layer (head < 0). */
void snapshot_weights(float *out, const Snapshot *snapshot, AttentionKind kind, int layer,
                      int head);

/* weight [rows,columns] (=) each row divided by its sum; a row of zeros stays. */
void rows_normalise(float *weight, int rows, int columns);

/* out [m,n] (=) the norm of the vector that each column of encoder-decoder attention adds to
 * each row, ‖Σ_h P_ij V_j W_O‖, summed over all heads. Unlike the attention weight P_ij alone it
 * includes the size of the value (Kobayashi et al. 2020, arXiv 2004.10102). Rows do not sum to
 * 1. false: not enough memory. */
bool snapshot_norms(float *out, const Snapshot *snapshot, int layer, Error *error);
