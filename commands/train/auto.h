/* auto.h -- --preset auto: what ./train chooses by itself, from the training text and the
 * processor. docs/results.md has the runs that the choices come from. */
#pragma once

#include "commands/train/settings.h"

/* Sets vocabulary, network and how it learns, from the text. With --init, vocabulary and network
 * are the model's, and it learns at a third of the rate for a quarter of the updates. */
void auto_choose(Settings *settings, const CorpusText *text);

/* Sets how long the training is: with --time, for the updates that fit; 0: as long as much is
 * gained. */
void auto_length(Settings *settings, const CorpusReport *train, double fit);

/* Sets warm-up, moving average and validations, for the number of updates. */
void auto_pace(Settings *settings, const CorpusReport *train, const CorpusReport *valid);

/* Says what was chosen, each with its reason. */
void auto_report(const Settings *settings, const CorpusReport *train);
