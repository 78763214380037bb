/* weights.h -- weights.png: W_Q, W_K and W_V of one layer before and after training, and the norms of
 * their gradients on the way. */
#ifndef COMMANDS_TRAIN_WEIGHTS_H
#define COMMANDS_TRAIN_WEIGHTS_H

#include "commands/train/run.h"

/* The layer is run_watch_layer's. Before: as the seed says that they were initialised. Nothing on
 * other ranks than 0. */
bool weights_draw(const Run *run, Error *error);

#endif
