/* pictures.h -- the pictures of its training that a run leaves in its folder, and what is recorded
 * for them.
 *
 * train.c calls the recorders on rank 0. A function that a picture does not
 * need is NULL; one that fails does not end the training. */
#pragma once

#include "commands/train/run.h"
#include "commands/train/validation.h"

typedef struct Recorder {
    const char *picture;                   // "watch.png"
    bool (*open)(Run *run, Error *error);  // after run_begin; a failure ends the run
    /* Before the first update and after each one, of which `loss` is the mean per token, or NaN.
     * validates: a validation follows. */
    bool (*record)(Run *run, double loss, bool validates, Error *error);
    /* Draws after a validation with a new best model, whose weights the run's model still has. */
    bool (*best)(Run *run, const Validation *validation, Error *error);
    bool (*draw)(Run *run, Error *error);  // after each validation
    bool (*end)(Run *run, Error *error);   // when the training ends: draws for the last time
    void (*close)(void);
} Recorder;

/* Calls draw(run, path) in a child process (command_draw), in which the network does not run, and
 * waits for it. `name` is that of the file in the run's folder. */
typedef bool Draw(const Run *run, const char *path, Error *error);
bool pictures_draw(Draw *draw, const char *name, Run *run, Error *error);

extern const Recorder weights_recorder;  // how W_Q, W_K and W_V are trained (weights.c)
extern const Recorder watch_recorder;    // the attention of --watch's sentence (watch.c)

/* These, with the loss, BLEU and learning rate so far, and the attention of the best model. */
enum { RECORDERS = 4 };
extern const Recorder *const recorders[RECORDERS];
