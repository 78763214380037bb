/* microbatch.h -- the sentences that a thread runs the network over at a time.
 *
 * An update's sentences are cut into micro-batches of nearly equal numbers of tokens, so that
 * the activations of one stay in a processor's cache. A MicroBatch is one thread's room for
 * them, used again and again; it grows to the largest it has seen. */
#ifndef TRAINING_MICROBATCH_H
#define TRAINING_MICROBATCH_H

#include "model/transformer.h"

typedef struct MicroBatch {
    Arena arena;
    Pass pass;
    Dropout dropout;  // of the pass, where it trains
    Packed source, target;
    int *start[2];  // [room+1] of source and target: starts counted from the micro-batch
    int *id[2];     // [rows_room] of sentences that are packed twice
    size_t room, rows_room[2];
} MicroBatch;

/* How many micro-batches microbatch_cut makes of these sentences, at most. More of them than
 * `together` are made a multiple of it, so that as many threads end together. */
int microbatch_most(const Packed *source, const Packed *target, int tokens, int together);

/* first [most+1] (=) the first sentence of each, and behind the last one the number of
 * sentences. Returns their number, 1 .. most. */
int microbatch_cut(int *first, const Packed *source, const Packed *target, int most);

/* Makes batch sentences first .. end-1; with a dropout->r_drop the same again behind them.
 * dropout is NULL, or copied, and then has the first sentence. */
bool microbatch_pack(MicroBatch *batch, const Packed *source, const Packed *target, int first,
                     int end, const Dropout *dropout, Error *error);

/* Bytes of activations that what is packed takes in a pass. */
size_t microbatch_bytes(MicroBatch *batch, const Transformer *model, PassKind kind);

/* Lays out batch->pass for what is packed. */
bool microbatch_layout(MicroBatch *batch, const Transformer *model, PassKind kind,
                       Error *error);

void microbatch_free(MicroBatch *batch);

#endif
