/* Tests of workers.h: a loop over items on no, one and several threads, and after fork(). */
#include "base/workers.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fixtures/test.h"

enum { ITEMS = 1000, THREADS = 3, NEVER = ITEMS };

typedef struct Count {
    atomic_int calls[ITEMS], by[THREADS];
    size_t fails;
} Count;

static bool count(void *context, size_t item, int worker, Error *error)
{
    Count *c = context;
    atomic_fetch_add(&c->by[worker], 1);
    atomic_fetch_add(&c->calls[item], 1);
    return item != c->fails || error_set(error, "item %zu", item);
}

TEST(each_item_is_taken_once_and_the_first_failure_ends_the_loop)
{
    for (int threads = 0; threads <= THREADS; threads++)
        for (size_t fails = 5; fails <= NEVER; fails += NEVER - 5) {
            Error error = {""};
            Count c = {.fails = fails};
            Workers *workers = threads ? workers_start(threads, &error) : NULL;
            assert_int_equal(workers_each(workers, ITEMS, count, &c, &error), fails == NEVER);
            assert_string_equal(error.text, fails == NEVER ? "" : "item 5");
            for (size_t i = 0; i < ITEMS; i++)
                assert_in_range(atomic_load(&c.calls[i]), i <= 5 || fails == NEVER, 1);
            workers_stop(workers);
            if (threads < 2 && fails != NEVER) assert_int_equal(atomic_load(&c.calls[6]), 0);
        }
}

TEST(a_forked_process_waits_for_no_thread)
{
    Error error = {""};
    Count c = {.fails = NEVER};
    Workers *workers = workers_start(THREADS, &error);
    pid_t child = fork();
    if (!child) alarm(60);
    bool good = workers_each(workers, ITEMS, count, &c, &error);
    workers_stop(workers);
    if (!child) _exit(good || !strstr(error.text, "started before a fork"));
    int status;
    assert_true(good);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST_MAIN("workers", NULL, NULL)
