/* pictures.h -- the pictures that a run leaves in its folder.
 *
 * They are drawn in a child process (command_draw), which does not run the network. */
#pragma once

#include "commands/train/run.h"
#include "commands/train/validation.h"
#include "inference/snapshot.h"

typedef bool Draw(const void *of, const Run *run, const char *path, Error *error);

/* Calls draw(of, run, …) in a child process and waits for it; `name` is that of the file in the
 * run's folder. Does nothing on ranks other than 0. */
bool pictures_draw(Draw *draw, const char *name, const void *of, const Run *run, Error *error);

/* loss.png: loss, BLEU and learning rate, from the metrics so far. */
Draw pictures_loss;

/* The attention of a translation of the last validation, which has translated sentences, and
 * attention.png, drawn from it. */
Snapshot *pictures_snapshot(const Run *run, const Validation *validation, Error *error);
Draw pictures_attention;
