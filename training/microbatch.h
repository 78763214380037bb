/* microbatch.h -- the sentences that a thread runs the network over at a time.
 *
 * They are few, so that what they take stays in a processor's cache. A MicroBatch is one
 * thread's room for them, used again and again; it grows to the largest it has seen. */
#ifndef TRAINING_MICROBATCH_H
#define TRAINING_MICROBATCH_H

#include "model/transformer.h"
#include "training/cut.h"

typedef struct MicroBatch {
    Arena arena;
    Pass pass;
    Dropout dropout;  // of the pass, where it trains
    Packed source, target;
    int *id[2], *start[2];  // of source and target, with room for so many
    size_t id_room[2], start_room[2];
} MicroBatch;

/* Makes batch micro-batch k of the cut, of which dropout->sentence becomes a part; with a
 * dropout->r_drop its sentences twice, one after the other. dropout is NULL, or copied. */
bool microbatch_pack(MicroBatch *batch, const Packed *source, const Packed *target,
                     const Cut *cut, int k, const Dropout *dropout, Error *error);

/* Bytes of activations that what is packed takes in a pass. */
size_t microbatch_bytes(MicroBatch *batch, const Transformer *model, PassKind kind);

/* Lays out batch->pass for what is packed. */
bool microbatch_layout(MicroBatch *batch, const Transformer *model, PassKind kind,
                       Error *error);

void microbatch_free(MicroBatch *batch);

#endif
