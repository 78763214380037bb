/* pipeline.c -- passes on several threads enter every stage in the order of their numbers. */
#include <sched.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "base/workers.h"
#include "model/pipeline.h"
#include "tests/fixtures/test.h"

enum { PASSES = 60, STAGES = 9 };

typedef struct Line {
    Pipeline pipeline;
    atomic_int next;
    int log[STAGES][PASSES], count[STAGES];  // only the order guards them
    int stop;  // the pass that ends before its stages do; -1: none
} Line;

static void work_for(Rng *rng)
{
    for (uint32_t i = rng_below(rng, 20); i > 0; i--) sched_yield();
}

/* Some passes enter single stages only, some several at once, as the loss of many rows does. */
static void passes(void *context, int worker)
{
    (void)worker;
    Line *line = context;
    for (int k; (k = atomic_fetch_add(&line->next, 1)) < PASSES;) {
        Rng rng = rng_stream(3, RNG_TEST, (uint32_t)k);
        PipelinePass place = {.pipeline = &line->pipeline, .number = k};
        work_for(&rng);
        for (int s = 0; s < STAGES && !(k == line->stop && s > 2);) {
            int several = s == 0 && k % 3 == 1 ? 5 : 1;
            pipeline_next(&place, several);
            for (; several > 0; several--, s++) {
                line->log[s][line->count[s]++] = k;
                work_for(&rng);
            }
        }
        pipeline_end(&place);
    }
}

static void run(Line *line, int threads, int stop)
{
    Error error;
    Workers *workers = workers_start(threads, &error);
    assert_non_null(workers);
    assert_true(pipeline_begin(&line->pipeline, PASSES, &error));
    memset(line->count, 0, sizeof line->count);
    atomic_store(&line->next, 0);
    line->stop = stop;
    workers_run(workers, passes, line);
    workers_stop(workers);
}

TEST(test_stages_see_passes_in_order)
{
    static Line line;
    pipeline_init(&line.pipeline);
    for (int threads = 1; threads <= 5; threads++) {
        run(&line, threads, -1);
        for (int s = 0; s < STAGES; s++) {
            assert_int_equal(line.count[s], PASSES);
            for (int k = 0; k < PASSES; k++) assert_int_equal(line.log[s][k], k);
        }
    }
    pipeline_free(&line.pipeline);
}

/* After a pass that fails, the later ones still finish. */
TEST(test_a_failed_pass_blocks_no_other)
{
    static Line line;
    pipeline_init(&line.pipeline);
    run(&line, 3, 17);
    assert_int_equal(line.count[0], PASSES);
    pipeline_free(&line.pipeline);
}

TEST(test_alone)
{
    pipeline_next(NULL, 1);
    pipeline_end(NULL);
}

TEST_MAIN("pipeline", NULL, NULL)
