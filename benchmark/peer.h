/* peer.h -- the same updates by a program of others: stock PyTorch, in benchmark/peer.py.
 *
 * It is started once, gets the ids of the batches in a file, and then makes one update each time
 * it is asked to, so that its updates and ours take turns on the same machine.
 *
 *   file     int32, this machine's byte order:  updates
 *            for each:  S  N  M  source starts [S+1]  target starts [S+1]  source [N]  target [M]
 *   stdin    "go\n" for each update
 *   stdout   "SECONDS TOKENS PLACES\n": source and target tokens, and these with the padding */
#ifndef BENCHMARK_PEER_H
#define BENCHMARK_PEER_H

#include <stdio.h>
#include <sys/types.h>

#include "data/batches.h"
#include "model/config.h"
#include "training/config.h"

/* A python3 that can import torch, or NULL. */
const char *peer_python(void);

typedef struct Peer {
    pid_t process;
    FILE *ask, *answer;
} Peer;

/* {0} where it is not started. batches are of epoch 0, and the first `updates` of it are handed
 * over; the peer begins again with the first when it has made them all. */
bool peer_start(Peer *peer, const char *python, const ModelConfig *model,
                const TrainingConfig *training, int threads, Batches *batches, int updates,
                Error *error);
bool peer_update(Peer *peer, double *seconds, double *tokens, double *places, Error *error);
void peer_stop(Peer *peer);

#endif
