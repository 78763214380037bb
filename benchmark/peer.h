/* peer.h -- the same updates in stock PyTorch, by benchmark/peer.py.
 *
 * It is started once, reads the ids of the batches from a file, and makes one update for each
 * request, so that its updates and ours alternate on the same machine.
 *
 *   file     int32, this machine's byte order:  updates
 *            for each:  S  N  M  source starts [S+1]  target starts [S+1]  source [N]  target [M]
 *   stdin    "go\n" for each update
 *   stdout   "SECONDS TOKENS PLACES\n": source and target tokens, and these with the padding */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "data/batches.h"
#include "model/config.h"
#include "training/config.h"

/* A python3 that can import torch, or NULL. */
const char *peer_python(void);

typedef struct Peer {
    pid_t process;
    FILE *stream;  // to and from the process
} Peer;

/* Hands over the first `updates` batches of epoch 0, which it repeats. peer_stop does nothing
 * for {0}. */
bool peer_start(Peer *peer, const char *python, const ModelConfig *model,
                const TrainingConfig *training, int threads, Batches *batches, int updates,
                Error *error);
bool peer_update(Peer *peer, double *seconds, double *tokens, double *places, Error *error);
void peer_stop(Peer *peer);
