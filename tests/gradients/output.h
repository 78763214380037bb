/* output.h -- an output layer's numbers and gradients, for the checks of the losses. */
#ifndef TESTS_GRADIENTS_OUTPUT_H
#define TESTS_GRADIENTS_OUTPUT_H

#include "model/loss.h"
#include "tests/gradients/check.h"

/* More rows than a block has; more classes than a chunk has. */
enum { D = 4, MANY_ROWS = LOSS_ROWS + 10, MANY_CLASSES = 260 };

typedef struct Output {
    int M, V;
    real *X, *E, *bias;                    // [M,D] [V,D] [V]
    real *dX, *dE, *dE0, *dbias, *dbias0;  // 0: what is there before
    int target[MANY_ROWS];
    double smoothing, scale;
} Output;

static inline Output output_make(int M, int V, double smoothing)
{
    Output o = {M,
                V,
                numbers(M * D),
                numbers(V * D),
                numbers(V),
                .dX = numbers(M * D),
                .dE = numbers(V * D),
                .dbias = numbers(V),
                .smoothing = smoothing,
                .scale = 0.7};
    o.dE0 = copy_of(o.dE, V * D);
    o.dbias0 = copy_of(o.dbias, V);
    return o;
}

static inline void output_check(const char *layer, double (*loss)(void *), void *context,
                                const Output *o, bool learn_bias)
{
    int M = o->M, V = o->V;
    Check check = {.layer = layer, .loss = loss, .context = context};
    check_tensor(&check, "X", o->X, o->dX, NULL, M * D);
    check_tensor(&check, "E", o->E, o->dE, o->dE0, V * D);
    check_untouched(o->dE + (V - 1) * D, o->dE0 + (V - 1) * D, D);  // <pad>
    if (learn_bias) check_tensor(&check, "bias", o->bias, o->dbias, o->dbias0, V);
    else check_untouched(o->dbias, o->dbias0, V);
    check_report(&check);
}

#endif
