/* check.h -- derivatives written by hand against central differences, in double.
 *
 *   loss       <Y, R> with R fixed and random, so that no two elements of Y count alike
 *   numeric    n = (8 (loss(x+h) - loss(x-h)) - (loss(x+2h) - loss(x-2h))) / 12h     h = 1e-4
 *   error      |a - n| / max(1e-3, largest |n| of the tensor)                        < 1e-6
 *
 * The error is relative to the tensor: relative to each element, the noise of the difference
 * (1e-11) would drown the elements that are nearly zero; relative to 1, a tensor of small
 * gradients could be wrong altogether. Every element of every tensor is compared.
 *
 * Two central differences cancel the h² of one, which alone left 6e-7 where a LayerNorm is steep.
 * What backward writes is filled with numbers beforehand: (+=) must leave their sum, (=) must
 * not leave a trace of them. */
#ifndef TESTS_GRADIENTS_CHECK_H
#define TESTS_GRADIENTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"
#include "base/real.h"
#include "base/rng.h"
#include "model/gemm.h"
#include "model/params.h"
#include "tests/test.h"

static const double STEP = 1e-4, LIMIT = 1e-6, SMALLEST_SCALE = 1e-3;

/* Sentences of 1, 2 and 5 tokens, and sources of other lengths for them. */
static const int target_start[] = {0, 1, 3, 8}, source_start[] = {0, 3, 4, 10};
static const int target_id[] = {0, 4, 0, 7, 3, 7, 2, 0},
                 source_id[] = {5, 9, 0, 0, 2, 8, 5, 5, 1, 0};
static const Packed target_rows = {3, 8, target_id, target_start};
static const Packed source_rows = {3, 10, source_id, source_start};

/* ---- numbers ---- */

static void *taken[256];
static int taken_count;

/* `count` numbers uniform in ±1, others in every call. Freed by check_teardown. */
static inline real *numbers(size_t count)
{
    assert_true(taken_count < (int)(sizeof taken / sizeof *taken));
    real *x = malloc(count * sizeof *x);
    assert_non_null(x);
    Rng rng = rng_stream(1, RNG_TEST, (uint64_t)taken_count);
    for (size_t i = 0; i < count; i++) x[i] = (real)(2 * rng_uniform(&rng) - 1);
    taken[taken_count++] = x;
    return x;
}

static inline real *copy_of(const real *x, size_t count)
{
    real *copy = numbers(count);
    memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static inline int check_teardown(void **state)
{
    (void)state;
    while (taken_count > 0) free(taken[--taken_count]);
    return 0;
}

static inline double inner(const real *Y, const real *R, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)Y[i] * (double)R[i];
    return sum;
}

/* ---- the check ---- */

typedef struct Check {
    const char *layer;
    double (*loss)(void *context);  // runs forward
    void *context;
    long long elements;
    double worst;
    char worst_at[256];
} Check;

/* loss(x + step) - loss(x - step) */
static inline double difference(const Check *check, real *x, double step)
{
    real kept = *x;
    *x = kept + (real)step;
    double above = check->loss(check->context);
    *x = kept - (real)step;
    double below = check->loss(check->context);
    *x = kept;
    return above - below;
}

/* x, a tensor that the loss depends on; after, what backward left; before, what was there if it
 * adds (+=), or NULL if it sets (=). */
static inline void check_tensor(Check *check, const char *name, real *x, const real *after,
                                const real *before, size_t count)
{
    double *numeric = malloc(count * sizeof *numeric), largest = 0;
    assert_non_null(numeric);
    for (size_t i = 0; i < count; i++) {
        double near = difference(check, x + i, STEP), far = difference(check, x + i, 2 * STEP);
        numeric[i] = (8 * near - far) / (12 * STEP);
        largest = fmax(largest, fabs(numeric[i]));
    }
    /* The bias of the keys adds the same q·b to all scores of a row, which the softmax does not
     * see. Nothing else may be flat: a loss that does not move would agree with no gradient. */
    if (largest < SMALLEST_SCALE && !strstr(name, "k_proj.bias"))
        fail_msg("%s: the loss does not depend on %s", check->layer, name);
    for (size_t i = 0; i < count; i++) {
        double analytic = after[i] - (before ? before[i] : 0);
        double error = fabs(analytic - numeric[i]) / fmax(SMALLEST_SCALE, largest);
        if (!(error <= check->worst)) {
            check->worst = error;
            snprintf(check->worst_at, sizeof check->worst_at, "%s[%zu]: %.9g, should be %.9g",
                     name, i, analytic, numeric[i]);
        }
        check->elements++;
    }
    free(numeric);
}

static inline void check_report(const Check *check)
{
    print_message("%s: %lld elements, worst error %.1e at %s\n", check->layer, check->elements,
                  check->worst, check->worst_at);
    if (!(check->worst < LIMIT)) fail_msg("%s: error %.3e", check->layer, check->worst);
}

/* Backward must not have touched this. */
static inline void check_untouched(const real *after, const real *before, size_t count)
{
    assert_memory_equal(after, before, count * sizeof *after);
}

/* Every tensor of the table whose name begins with prefix. Backward must have left all others
 * alone. weights, after and before are blocks of params. */
static inline void check_params(Check *check, const Params *params, const char *prefix,
                                real *weights, const real *after, const real *before)
{
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        const real *now = after + tensor->offset, *then = before + tensor->offset;
        if (!strncmp(tensor->name, prefix, strlen(prefix)))
            check_tensor(check, tensor->name, weights + tensor->offset, now, then,
                         tensor->count);
        else check_untouched(now, then, tensor->count);
    }
}

#endif
