/* likelihood.h -- --score, the log probability of given translations.
 *
 * For each pair, in the order of the input, one line: log p(target | source) in nats, </s>
 * included; or one JSON object (docs/translate.md). A pair with a side longer than the model takes
 * gives "nan", or null, and is not counted. At the end: loss = -Σ log p / tokens, which equals
 * training's validation loss of these pairs, and perplexity = e^loss; with JSON as one more object.
 * On a signal (file_stop) it ends after the current chunk. */
#pragma once

#include "commands/translate/input.h"
#include "inference/bundle.h"

bool likelihood_run(Input *input, const Models *models, Workers *workers, bool json,
                    Error *error);
