/* parts.h -- where a thread's time goes: linear layers, attention, loss, waiting, ….
 *
 * Each thread has a clock of its own, which is always on one part. A function that is a part of
 * the work switches it on entry and back on return:
 *
 *     Part before = parts_enter(PART_LOSS);
 *     …
 *     parts_leave(before);
 *
 * What a part calls counts for the innermost, but for what PART_ENCODER calls: that counts for it,
 * so that decoding can tell it from the same layers in the decoder. A switch takes some 25 ns, so it
 * belongs around work on a micro-batch, not on a row. */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

typedef enum {
    PART_OTHER,  // whatever switches no clock
    PART_EMBEDDING,
    PART_LINEAR,     // products of activations and weights, biases, activation functions
    PART_ATTENTION,  // what attention does between its linear layers
    PART_LOSS,       // the output layer, softmax, loss and their gradients
    PART_NORM,       // residual sums, layer norms, and the random numbers of dropout
    PART_OPTIMIZER,  // zeroing and summing gradients, norm, Adam
    PART_WAITING,    // for another thread
    PART_ENCODER,  // when translating: all of the encoder, the source's keys and values included
    PART_SEARCH,   // when translating: choosing tokens and hypotheses
    PARTS
} Part;

/* "embedding", "linear", …: PARTS names. */
extern const char *const part_names[PARTS];

/* From now on the calling thread works on part; returns what it worked on before. */
Part parts_enter(Part part);
void parts_leave(Part before);

/* seconds [PARTS] (+=) what the calling thread's clock counted since its last reading. */
void parts_read(double seconds[PARTS]);

#endif
