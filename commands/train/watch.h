/* watch.h -- ./train --watch: the attention of one sentence, recorded while the model learns.
 *
 *   watch.jsonl   the frames, one a line, written anew with each
 *   watch.png     an animated PNG (plots/png.h) of the frames, drawn at the end
 *
 *   {"type":"watch","source":["jane",…],"given":true,"layer":2,"heads":4}
 *   {"type":"frame","update":25,"loss":5.1,"says":"la la","target":["jane",…],"share":[[…],…]}
 *
 * The first line describes the sentence, the others are frames. share has the encoder-decoder
 * attention of each head of the decoder layer, row by row, in thousandths. loss is the training
 * loss of that update, null at update 0. says is the model's greedy translation.
 *
 * With "SENTENCE ||| TRANSLATION" the rows of every frame are the words of that translation.
 * Otherwise they are the words of the model's own translation at that update.
 *
 * Frames are recorded at updates 0, 10, 20, … 50, then at intervals that grow by a quarter,
 * since most changes come early; and at every validation that is a hundredth of the updates after the
 * last frame, so that a long run has about a thousand frames at most. Recording does not affect the
 * training. A resumed run drops the frames that are later than its checkpoint, as metrics.jsonl
 * drops lines. */
#pragma once

#include "commands/train/pictures.h"

extern const Recorder watch_recorder;
