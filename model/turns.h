/* turns.h -- threads that add their gradients to one block, stage by stage, each in its turn.
 *
 * Backward comes down through the network in stages: the chunks of the output layer, the sublayers
 * of the decoder, those of the encoder, the embeddings. Pass number 0, 1, 2, … adds to the tensors
 * of a stage after the pass before it has. So every number is the sum of the same terms in the
 * same order as on one thread, while the threads are at work on different stages: a pipeline, in
 * which a pass follows the one before it at the distance of a stage.
 *
 * A tensor must belong to one stage. Where the output layer and the embeddings are one matrix, the
 * embeddings need a block of their own (training/gradients.h). */
#ifndef MODEL_TURNS_H
#define MODEL_TURNS_H

#include <pthread.h>

#include "base/error.h"

/* Of one block. */
typedef struct Turns {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int *left;    // [passes] how many stages each has left
    size_t room;  // for so many passes
} Turns;

/* One pass. In its place NULL, everywhere: the pass is alone and waits for nobody. */
typedef struct Turn {
    Turns *turns;
    int number;   // of the pass
    int entered;  // stages so far, 0 at first
} Turn;

void turns_init(Turns *turns);
void turns_free(Turns *turns);

/* The next pass is number 0 again, of `passes`; nobody may be at work. */
bool turns_begin(Turns *turns, int passes, Error *error);

/* Leaves what the pass is in, and enters the next stages: when the pass before it has left them. */
void turn_next(Turn *turn, int stages);

/* Leaves all stages: last of all, whether backward came to its end or not. */
void turn_end(Turn *turn);

#endif
