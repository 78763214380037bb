/* peak.c -- bursts of sgemm on all workers; see peak.h. */
#include "benchmark/peak.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/block.h"
#include "base/clock.h"
#include "base/rng.h"

enum { SIDE = 1024, NUMBERS = SIDE * SIDE };

static const double PRODUCT_FLOPS = 2.0 * SIDE * SIDE * SIDE;

typedef struct PeakWorker {
    float *A, *B, *C;  // [SIDE,SIDE] each, of one block
    double seconds;    // of the last burst
} PeakWorker;

struct Peak {
    Workers *workers;
    int products;         // of the burst under way
    double product_time;  // seconds, of the last burst
    PeakWorker worker[];  // [threads]
};

/* Each worker fills its own matrices, so that they are in memory near it. */
static void fill(void *context, int number)
{
    PeakWorker *worker = &((Peak *)context)->worker[number];
    Rng rng = rng_stream(1, RNG_TEST, (uint64_t)number);
    for (size_t i = 0; i < 2 * (size_t)NUMBERS; i++)
        worker->A[i] = (float)((double)rng_word(&rng) * 0x1p-32 - 0.5);
}

static void multiply(void *context, int number)
{
    const Peak *peak = context;
    PeakWorker *worker = &((Peak *)context)->worker[number];
    double begin = clock_seconds();
    for (int i = 0; i < peak->products; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, worker->A,
                    SIDE, worker->B, SIDE, 0, worker->C, SIDE);
    worker->seconds = clock_seconds() - begin;
}

void peak_prepare(void)
{
    openblas_set_num_threads(1);
}

Peak *peak_create(Workers *workers, Error *error)
{
    size_t threads = (size_t)workers_count(workers);
    peak_prepare();
    Peak *peak = calloc(1, sizeof *peak + threads * sizeof *peak->worker);
    bool good = peak;
    for (size_t i = 0; i < threads && good; i++) {
        PeakWorker *worker = &peak->worker[i];
        worker->A = block_allocate(3 * (size_t)NUMBERS * sizeof *worker->A);
        good = worker->A;
        if (good) worker->B = worker->A + NUMBERS, worker->C = worker->B + NUMBERS;
    }
    if (!good) {
        error_memory(error, "for the matrices of %zu threads", threads);
        if (peak) peak->workers = workers, peak_free(peak);
        return NULL;
    }
    peak->workers = workers;
    workers_run(workers, fill, peak);
    peak_burst(peak, 1);
    return peak;
}

void peak_free(Peak *peak)
{
    if (!peak) return;
    for (int i = 0; i < workers_count(peak->workers); i++) free(peak->worker[i].A);
    free(peak);
}

double peak_burst(Peak *peak, int products)
{
    int threads = workers_count(peak->workers);
    double rate = 0;
    peak->products = products;
    peak->product_time = 0;
    workers_run(peak->workers, multiply, peak);
    for (int i = 0; i < threads; i++) {
        rate += products * PRODUCT_FLOPS / peak->worker[i].seconds;
        peak->product_time += peak->worker[i].seconds / products / threads;
    }
    return rate;
}

int peak_products(const Peak *peak, double seconds)
{
    double products = seconds / peak->product_time;
    return products < 1 ? 1 : products > 1000 ? 1000 : (int)products;
}

const char *peak_library(void)
{
    static char text[128];
    char version[32] = "";
    sscanf(openblas_get_config(), "OpenBLAS %31s", version);
    snprintf(text, sizeof text, "OpenBLAS %s (%s)", version, openblas_get_corename());
    return text;
}
