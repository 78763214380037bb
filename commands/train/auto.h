/* auto.h -- --preset auto: what ./train chooses by itself, from the training text and the
 * processor. docs/results.md has the runs that the choices come from. */
#pragma once

#include "commands/train/settings.h"

/* If they are automatic: sets vocabulary, network and how it learns, from the text, but for what is
 * given. With --init, vocabulary and network are the model's, and it learns at a third of the rate
 * for a quarter of the updates. */
bool auto_choose(Settings *settings, const CorpusText *text, Error *error);

/* The same for the number of updates: with --time, those that fit; 0: as long as much is gained.
 * Warm-up, moving average, validations, and whether few updates do without R-Drop follow from it. */
bool auto_lengthen(Settings *settings, const CorpusReport *train, const CorpusReport *valid,
                   double fit, Error *error);

/* Says what was chosen, each with its reason. */
void auto_report(const Settings *settings, const CorpusReport *train);
