/* pictures.h -- the pictures that a run leaves in its folder. Ranks other than 0 draw
 * nothing. */
#ifndef COMMANDS_TRAIN_PICTURES_H
#define COMMANDS_TRAIN_PICTURES_H

#include "commands/train/run.h"
#include "commands/train/validation.h"

/* loss.png: loss, BLEU and learning rate, from the metrics so far. */
bool pictures_loss(const Run *run, Error *error);

/* attention.png: the attention of a translation of the last validation. */
bool pictures_attention(const Run *run, const Validation *validation, Error *error);

#endif
