/* weights.h -- weights.png: how W_Q, W_K and W_V of the last decoder layer's
 * encoder-decoder attention are trained.
 *
 *   weights.tsv   what the matrices do to frequent words (explain/projections.h), recorded
 *                 after updates 0, 10, 20, 40, …, since most changes come early. The first line
 *                 has the layer and the words; the others the update, the loss of the sentences
 *                 and three maps of 16 x 16 numbers; nan: no sentence pair has both words
 *   weights.png   the first frame, the end of the training, and two frames in between
 *
 * Recording does not affect the training. A resumed run drops the frames that are later than
 * its checkpoint, and those of other words. Nothing is recorded or drawn if
 * the validation text has no words. */
#pragma once

#include "commands/train/pictures.h"

extern const Recorder weights_recorder;
