/* watch.h -- one sentence watched while a model learns: ./train --watch.
 *
 *   watch.jsonl   what was seen, a line a look; the run adds to it
 *   watch.png     drawn from it at the end: an animated PNG (plots/apng.h) of attention taking shape
 *
 *   {"type":"watch","source":["jane",…],"given":true,"layer":2,"heads":4}
 *   {"type":"look","update":25,"loss":5.1,"says":"la la","target":["jane",…],"share":[[…],…]}
 *
 * share has for each head of the decoder layer its encoder-decoder attention row by row, in
 * thousandths. loss is the training loss of that update; at update 0 it is null.
 *
 * A sentence may come with its translation, "SENTENCE ||| TRANSLATION": then the rows are that
 * translation's words in every look. Otherwise they are what the model itself says at the time.
 *
 * Most happens early, so there are looks at updates 0, 10, 20, … 50, and then each a quarter later
 * than the one before; and at every validation. Which updates these are depends on nothing else, and
 * a look changes nothing in the training. A run that was killed goes on from its last checkpoint, and
 * drops the looks of later updates, as metrics.jsonl does its lines. */
#ifndef COMMANDS_TRAIN_WATCH_H
#define COMMANDS_TRAIN_WATCH_H

#include "commands/train/run.h"

enum { WATCH_WORDS = 40 };  // tokens of either side, </s> included, at most

typedef struct WatchLook {
    long long update;
    double loss;  // NaN: none
    char *says;   // what the model says
    int rows;
    char **word;   // [rows]
    float *share;  // [heads,rows,columns]
} WatchLook;

typedef struct Watch {
    char *path;  // of watch.jsonl; NULL: nothing is watched
    FILE *file;
    int *source, *target;      // ids; target NULL: not given
    int columns, target_rows;  // tokens of the source; of the given target
    char **source_word;        // [columns]
    int layer, heads;
    WatchLook *snapshot;  // [count]
    int count;
} Watch;

/* After run_begin. False also if the sentence is too long to be looked at. */
bool watch_open(Watch *watch, Run *run, Error *error);

/* Whether there is a look after this update, validations apart. */
bool watch_due(long long update);

/* Looks, unless it has already looked after this update. loss: the update's, a token, or NaN. */
bool watch_look(Watch *watch, Run *run, double loss, Error *error);

/* watch.png; nothing if there were fewer than two looks. */
bool watch_draw(const Watch *watch, const Run *run, Error *error);

void watch_close(Watch *watch);  // fine on {0}

#endif
