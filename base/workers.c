/* workers.c -- a pool of threads; see workers.h. */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#ifdef __SSE2__
#include <immintrin.h>
#else
#define _mm_getcsr()     0
#define _mm_setcsr(mode) ((void)(mode))
#endif

/* ---- denormal numbers: those below 1.2e-38 are treated as zeros ----
 *
 * A multiply-add of such denormal numbers takes a hundred times as long. Sharp attention is
 * full of them: a probability of 1e-30 times a gradient of 1e-9. They are added to far larger
 * numbers, so nothing is lost, and training is twice as fast without them (docs/speed.md). */

/* Returns the mode before. */
static unsigned denormals_off(void)
{
    enum { FLUSH_RESULTS_TO_ZERO = 0x8000, TAKE_INPUTS_FOR_ZERO = 0x0040 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_RESULTS_TO_ZERO | TAKE_INPUTS_FOR_ZERO);
    return before;
}

/* ---- the threads ---- */

typedef struct Thread {
    Workers *workers;
    int number;
    pthread_t id;
} Thread;

/* A loop over items. */
typedef struct Loop {
    size_t count;
    WorkersItem *work;
    void *context;
    atomic_size_t next;
    atomic_bool failed;
    Error *error;
} Loop;

struct Workers {
    pthread_mutex_t starting;       // held until all threads are there
    pthread_barrier_t begin, done;  // of a loop, for all threads and the caller
    Loop *loop;                     // NULL ends the threads
    pid_t process;                  // that has the threads: fork() copies none
    int count;                      // the caller included
    Thread thread[];                // [count], of which number 0 is the caller
};

static void take_items(Loop *loop, int worker)
{
    Error error;
    for (size_t item; !atomic_load(&loop->failed) &&
                      (item = atomic_fetch_add(&loop->next, 1)) < loop->count;)
        if (!loop->work(loop->context, item, worker, &error) &&
            !atomic_exchange(&loop->failed, true) && loop->error)
            *loop->error = error;
}

static void *thread_main(void *argument)
{
    Thread *thread = argument;
    Workers *workers = thread->workers;
    denormals_off();
    pthread_mutex_lock(&workers->starting);
    pthread_mutex_unlock(&workers->starting);
    for (;;) {
        pthread_barrier_wait(&workers->begin);
        if (!workers->loop) return NULL;
        take_items(workers->loop, thread->number);
        pthread_barrier_wait(&workers->done);
    }
}

Workers *workers_start(int threads, Error *error)
{
    Workers *workers = calloc(1, sizeof *workers + (size_t)threads * sizeof(Thread));
    if (!workers) return error_memory(error, "to start %d threads", threads), NULL;
    pthread_mutex_init(&workers->starting, NULL);
    pthread_mutex_lock(&workers->starting);
    workers->count = 1;
    workers->process = getpid();

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    while (workers->count < threads && !failure) {
        Thread *thread = &workers->thread[workers->count];
        *thread = (Thread){.workers = workers, .number = workers->count};
        failure = pthread_create(&thread->id, NULL, thread_main, thread);
        workers->count += !failure;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_barrier_init(&workers->begin, NULL, (unsigned)workers->count);
    pthread_barrier_init(&workers->done, NULL, (unsigned)workers->count);
    pthread_mutex_unlock(&workers->starting);
    if (failure) {
        error_set(error, "cannot start thread %d of %d: %s; try fewer `threads`",
                  workers->count + 1, threads, strerror(failure));
        workers_stop(workers);
        return NULL;
    }
    return workers;
}

bool workers_each(Workers *workers, size_t count, WorkersItem *work, void *context,
                  Error *error)
{
    Loop loop = {.count = count, .work = work, .context = context, .error = error};
    if (workers && workers->process != getpid())
        return error_set(error,
                         "the threads were started before a fork: start new ones after it");
    if (!workers) {
        take_items(&loop, 0);
        return !atomic_load(&loop.failed);
    }
    unsigned mode = denormals_off();
    workers->loop = &loop;
    pthread_barrier_wait(&workers->begin);
    take_items(&loop, 0);
    pthread_barrier_wait(&workers->done);
    _mm_setcsr(mode);
    return !atomic_load(&loop.failed);
}

int workers_count(const Workers *workers)
{
    return workers->count;
}

void workers_stop(Workers *workers)
{
    if (!workers || workers->process != getpid()) {
        free(workers);
        return;
    }
    workers->loop = NULL;
    pthread_barrier_wait(&workers->begin);
    for (int t = 1; t < workers->count; t++) pthread_join(workers->thread[t].id, NULL);
    pthread_barrier_destroy(&workers->begin);
    pthread_barrier_destroy(&workers->done);
    pthread_mutex_destroy(&workers->starting);
    free(workers);
}

int workers_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}
