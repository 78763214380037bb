/* peak.c -- bursts of sgemm on all workers; see peak.h. */
#include "benchmark/peak.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/block.h"
#include "base/clock.h"
#include "base/rng.h"
#include "kernels/amx.h"
#include "kernels/bf16.h"
#include "kernels/int8.h"
#include "kernels/kind.h"

enum { SIDE = 1024, NUMBERS = SIDE * SIDE };

static const double PRODUCT_FLOPS = 2.0 * SIDE * SIDE * SIDE;

typedef struct PeakWorker {
    float *A, *B, *C;   // [SIDE,SIDE] each, of one block
    double seconds;     // of the last burst
    double operations;  // of peak_tile
} PeakWorker;

struct Peak {
    Workers *workers;
    int products;  // of the burst under way
    Arithmetic arithmetic;
    double product_time;  // seconds, of the last burst
    PeakWorker worker[];  // [threads]
};

/* The workers fill the matrices, so that they are in memory near them. */
static bool fill(void *context, size_t number, int thread, Error *error)
{
    (void)thread, (void)error;
    PeakWorker *worker = &((Peak *)context)->worker[number];
    Rng rng = rng_stream(1, RNG_TEST, number);
    for (size_t i = 0; i < 2 * (size_t)NUMBERS; i++)
        worker->A[i] = (float)((double)rng_word(&rng) * 0x1p-32 - 0.5);
    return true;
}

static bool multiply(void *context, size_t number, int thread, Error *error)
{
    (void)thread, (void)error;
    const Peak *peak = context;
    PeakWorker *worker = &((Peak *)context)->worker[number];
    double begin = clock_seconds();
    for (int i = 0; i < peak->products; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, worker->A,
                    SIDE, worker->B, SIDE, 0, worker->C, SIDE);
    worker->seconds = clock_seconds() - begin;
    return true;
}

/* One tile of floats or of pairs, as gemm.c multiplies them. Returns the operations. */
static double tile(const PeakWorker *worker, Arithmetic arithmetic)
{
    enum { K = 128 };
    char kind[KIND_NAME];
    kind_describe(kind);
    bool wide = strncmp(kind, "avx512", 6) == 0, pairs = arithmetic == ARITHMETIC_BF16;
    int rows = wide ? 14 : 6, columns = wide ? 32 : strcmp(kind, "avx2") == 0 ? 16 : 8;
    if (pairs && kind_has_amx()) {
        amx_begin();
        amx_multiply(AMX_BF16, worker->C, 4 * AMX_COLUMNS, worker->C, 0, worker->A, 4 * K,
                     worker->B, AMX_ROWS, K);
        amx_end();
        return 4.0 * AMX_ROWS * AMX_COLUMNS * K;
    }
    Tile tile = {.mode = pairs ? BF16 : SET,
                 .C = worker->C,
                 .ldc = (size_t)columns,
                 .A = {worker->A, K, 1},
                 .B = worker->B,
                 .ldb = (size_t)columns,
                 .k = K,
                 .scale = 1};
    tile_multiply(&tile, rows, columns);
    return 2.0 * rows * columns * K * (1 + pairs);
}

/* One panel of int8. */
static double panel(const PeakWorker *worker)
{
    enum { GROUPS = 64 };
    const Int8Kernels *kernel = int8_kernels;
    while (!int8_runs(kernel, INT8_ROWS, GROUPS)) kernel++;
    if (kernel->amx) amx_begin();
    kernel->multiply((int32_t *)worker->C + INT8_PANEL, (const uint8_t *)worker->A,
                     (size_t)GROUPS * INT8_GROUP, (const int8_t *)worker->B,
                     (const int32_t *)worker->C, kernel->rows, GROUPS);
    if (kernel->amx) amx_end();
    return 2.0 * kernel->rows * INT8_PANEL * INT8_GROUP * GROUPS;
}

static bool multiply_tiles(void *context, size_t number, int thread, Error *error)
{
    (void)thread, (void)error;
    const Peak *peak = context;
    PeakWorker *worker = &((Peak *)context)->worker[number];
    double begin = clock_seconds(), most = peak->products * peak->product_time;
    worker->operations = 0;
    do {
        for (int i = 0; i < 100; i++)
            worker->operations += peak->arithmetic == ARITHMETIC_INT8
                                      ? panel(worker)
                                      : tile(worker, peak->arithmetic);
        worker->seconds = clock_seconds() - begin;
    } while (worker->seconds < most);
    return true;
}

void peak_restart(char **arguments)
{
    bool slow = strcmp(openblas_get_corename(), "Prescott") == 0 && kind_runs(1);
    if (!slow || getenv("OPENBLAS_CORETYPE")) return;
    setenv("OPENBLAS_CORETYPE", kind_runs(2) ? "SkylakeX" : "Haswell", 1);
    execv("/proc/self/exe", arguments);
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
    workers_each(workers, threads, fill, peak, NULL);
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
    workers_each(peak->workers, (size_t)threads, multiply, peak, NULL);
    for (int i = 0; i < threads; i++) {
        rate += products * PRODUCT_FLOPS / peak->worker[i].seconds;
        peak->product_time += peak->worker[i].seconds / products / threads;
    }
    return rate;
}

double peak_tile(Peak *peak, Arithmetic arithmetic)
{
    double rate = 0;
    peak->arithmetic =
        arithmetic == ARITHMETIC_BF16 && !bf16_pairs() ? ARITHMETIC_FLOAT : arithmetic;
    int threads = workers_count(peak->workers);
    workers_each(peak->workers, (size_t)threads, multiply_tiles, peak, NULL);
    for (int i = 0; i < threads; i++)
        rate += peak->worker[i].operations / peak->worker[i].seconds;
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
