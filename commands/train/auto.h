/* auto.h -- --preset auto: what ./train chooses by itself, from the training text and the
 * processor. docs/results.md has the runs that the choices come from. */
#pragma once

#include "commands/train/settings.h"

/* Sets vocabulary, network and how it learns, from the text. With --init, vocabulary and network
 * are the model's. */
void auto_choose(Settings *settings, const CorpusText *text);

/* Sets how long the training is, for a corpus of so many tokens, source and target together, and
 * with --time for the updates that fit; 0: as long as much is gained. */
void auto_length(TrainingConfig *training, double tokens, double fit);

/* Sets warm-up and moving average, for training->max_updates. */
void auto_pace(TrainingConfig *training);

/* Says what was chosen, each with its reason. */
void auto_report(const Settings *settings, double tokens);
