/* training.c -- a warm-up, then updates, alternating with bursts of sgemm; see training.h.
 *
 * What is timed is the update alone: cutting the next batch is outside of it (some 0.1 ms), and
 * so are the bursts. */
#include "benchmark/training.h"

#include <stdio.h>

#include "base/clock.h"
#include "benchmark/child.h"
#include "benchmark/peer.h"
#include "commands/train/settings.h"
#include "data/batches.h"
#include "kernels/kind.h"
#include "training/trainer.h"

enum { MOST_BATCHES = 64 };

bool training_case(TrainingCase *plan, const char *preset, const Corpus *corpus,
                   int batch_tokens, int threads, Error *error)
{
    static Settings settings;  // its groups point into it
    char tokens[16],
        *argv[] = {
            "benchmark",      "--preset", (char *)(size_t)preset, "--train-source", "none",
            "--train-target", "none",     "--batch-tokens",       tokens,           NULL};
    snprintf(tokens, sizeof tokens, "%d", batch_tokens);
    bool good = settings_read(&settings, 9, argv, error);
    *plan = (TrainingCase){.corpus = corpus,
                           .model = settings.model,
                           .training = settings.training,
                           .threads = threads};
    plan->model.vocab = corpus->vocab_size[TARGET];
    settings_free(&settings);
    return good;
}

typedef struct Bench {
    Transformer model;
    Workers *workers;
    Trainer *trainer;
    Batches batches;
    Peak *peak;
    Peer peer;
    size_t count;  // batches, which are taken in turn
    long long update;
} Bench;

static bool bench_create(Bench *bench, const TrainingCase *plan, Error *error)
{
    const TrainingConfig *training = &plan->training;
    *bench = (Bench){0};
    peak_prepare();
    if (!kind_use_openblas(plan->openblas, error) ||
        !transformer_create(&bench->model, &plan->model, error) ||
        !(bench->workers = workers_start(plan->threads, error)) ||
        !(bench->trainer =
              trainer_create(&bench->model, training, NULL, bench->workers, error)) ||
        !batches_init(&bench->batches, plan->corpus, training->seed, training->batch_tokens,
                      error))
        return false;
    bench->count = batches_updates(&bench->batches, 0);
    if (bench->count > 1) bench->count--;  // the last of an epoch is not full
    if (bench->count > MOST_BATCHES) bench->count = MOST_BATCHES;
    params_initialise(&bench->model.params, bench->model.block, training->seed);
    return true;
}

static void bench_free(Bench *bench)
{
    peer_stop(&bench->peer);
    peak_free(bench->peak);
    batches_free(&bench->batches);
    trainer_free(bench->trainer);
    workers_stop(bench->workers);
    transformer_free(&bench->model);
}

/* ---- one update ---- */

typedef struct Timed {
    UpdateStats stats;
    double seconds;
} Timed;

static bool update(Timed *timed, Bench *bench, Error *error)
{
    int pairs;
    size_t u = (size_t)bench->update % bench->count;
    if (!batches_update(&bench->batches, &pairs, 0, u, error)) return false;
    bench->update++;
    double begin = clock_seconds();
    if (!trainer_update(bench->trainer, bench->update, bench->batches.pair, pairs,
                        &timed->stats, error))
        return false;
    timed->seconds = clock_seconds() - begin;
    return true;
}

/* ---- PyTorch ---- */

/* Starts it; its first update warms it up. */
static bool start_peer(Bench *bench, const TrainingCase *plan, Error *error)
{
    double seconds, tokens, places;
    return peer_start(&bench->peer, plan->python, &plan->model, &plan->training, plan->threads,
                      &bench->batches, (int)bench->count, error) &&
           peer_update(&bench->peer, &seconds, &tokens, &places, error);
}

/* One update of the same batch, unless it has had its time. */
static bool update_peer(PeerResult *result, Bench *bench, const TrainingCase *plan,
                        Error *error)
{
    double seconds, tokens, places;
    if (result->updates >= 1 && result->seconds >= plan->seconds) return true;
    if (!peer_update(&bench->peer, &seconds, &tokens, &places, error)) return false;
    result->updates++;
    result->seconds += seconds;
    result->tokens += tokens;
    result->places += places;
    return true;
}

static bool measure(TrainingResult *result, Bench *bench, const TrainingCase *plan,
                    Error *error)
{
    static RateMeter meter;
    Timed timed;
    if (!update(&timed, bench, error) || !update(&timed, bench, error))
        return false;                // warm up
    result->memory = memory_most();  // before the sgemm measurement allocates its own
    if (!(bench->peak = peak_create(bench->workers, error))) return false;
    if (plan->python && !start_peer(bench, plan, error)) return false;
    rate_begin(&meter, bench->peak,
               plan->model.precision == PRECISION_BF16 ? ARITHMETIC_BF16 : ARITHMETIC_FLOAT,
               timed.seconds);
    for (int n = 0; n < MOST_PIECES; n++) {
        if (n >= LEAST_UPDATES && meter.seconds >= plan->seconds) break;
        if (!update(&timed, bench, error)) return false;
        rate_add(&meter, timed.stats.flops, timed.seconds);
        result->tokens += timed.stats.tokens;
        if (plan->python && !update_peer(&result->peer, bench, plan, error)) return false;
    }
    result->rate = rate_end(&meter);
    result->tokens_per_second = (double)result->tokens / result->rate.seconds;
    PeerResult *peer = &result->peer;
    if (peer->updates) {
        peer->tokens_per_second = peer->tokens / peer->seconds;
        peer->padding = 1 - peer->tokens / peer->places;
        peer->ratio = result->tokens_per_second / peer->tokens_per_second;
    }
    return true;
}

bool training_work(const void *plan, void *result, Error *error)
{
    Bench bench;
    memory_reset();
    bool good = bench_create(&bench, plan, error) && measure(result, &bench, plan, error);
    bench_free(&bench);
    return good;
}
