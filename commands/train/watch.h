/* watch.h -- ./train --watch: the attention of one sentence, recorded while the model learns.
 *
 *   watch.jsonl   the frames, one a line, appended while training
 *   watch.png     an animated PNG (plots/apng.h) of the frames, drawn at the end
 *
 *   {"type":"watch","source":["jane",…],"given":true,"layer":2,"heads":4}
 *   {"type":"look","update":25,"loss":5.1,"says":"la la","target":["jane",…],"share":[[…],…]}
 *
 * The first line describes the sentence, a "look" is a frame. share has the encoder-decoder
 * attention of each head of the decoder layer, row by row, in thousandths. loss is the training
 * loss of that update, null at update 0. says is the model's greedy translation.
 *
 * With "SENTENCE ||| TRANSLATION" the rows of every frame are the words of that translation.
 * Otherwise they are the words of the model's own translation at that update.
 *
 * Frames are recorded at updates 0, 10, 20, … 50, then at intervals that grow by a quarter,
 * since most changes come early; and at every validation. Recording does not affect the
 * training. A resumed run drops the frames that are later than its checkpoint, as metrics.jsonl
 * drops lines. */
#pragma once

#include "commands/train/pictures.h"
#include "plots/film.h"

typedef struct Watch {
    char path[PATH_MAX];     // of watch.jsonl
    FILE *file;              // NULL: no sentence is watched
    Ids source, target;      // at most FILM_WORDS; target {0}: not given
    int columns;             // tokens of the source
    StringList source_word;  // [columns]
    int layer, heads;
    FilmFrame *frame;  // [count]
    int count;
    size_t capacity;
} Watch;

/* After run_begin. Fails if the sentence is too long. */
bool watch_open(Watch *watch, Run *run, Error *error);

/* Whether to record a frame after this update, besides those of validations. */
bool watch_due(long long update);

/* Records a frame, unless this update has one. loss: the mean per token of the last update, or
 * NaN. */
bool watch_record(Watch *watch, Run *run, double loss, Error *error);

/* Draws watch.png of a Watch; does nothing if there are fewer than two frames. */
Draw watch_draw;

void watch_close(Watch *watch);  // does nothing for {0}
