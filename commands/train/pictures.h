/* pictures.h -- the pictures of its training that a run leaves in its folder, and what is recorded
 * for them: on rank 0. A failure does not end the training, except that of Recorder.open. */
#pragma once

#include "commands/train/run.h"

/* Calls draw(run, path) in a child process (command_draw), in which the network does not run, and
 * waits for it. `name` is that of the file in the run's folder. */
typedef bool Draw(const Run *run, const char *path, Error *error);
bool pictures_draw(Draw *draw, const char *name, Run *run, Error *error);

/* loss.png: loss, BLEU and learning rate, from the metrics so far; and attention.png, if there is a
 * new snapshot for it. */
bool pictures_validation(Run *run, Error *error);

/* Takes the snapshot of a translation for attention.png. Call it after the validation of a new best
 * model, whose weights the run's model still has. */
bool pictures_attention(Run *run, Error *error);

/* A picture of what is recorded while the model learns. */
typedef struct Recorder {
    bool (*open)(Run *run, Error *error);  // before run_begin: writes nothing
    /* Before the first update and after each one, of which `loss` is the mean per token, or NaN.
     * validates: a validation follows. */
    bool (*record)(Run *run, double loss, bool validates, Error *error);
    bool (*save)(Run *run, Error *error);  // all that is recorded, in a file
    bool (*end)(Run *run, Error *error);   // when the training ends: draws
    void (*close)(void);                   // or NULL
} Recorder;

extern const Recorder weights_recorder;  // how W_Q, W_K and W_V are trained (weights.c)
extern const Recorder watch_recorder;    // the attention of --watch's sentence (watch.c)
