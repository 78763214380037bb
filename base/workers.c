/* workers.c -- a pool of threads; see workers.h. */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    Loop *loop;
    unsigned long round;  // counts the loops
    int busy;             // threads still at work in this round
    bool stopping;
    pid_t process;    // that has the threads: fork() copies none
    int count;        // the caller included
    Thread thread[];  // [count], of which number 0 is the caller
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
    for (unsigned long round = 1;; round++) {
        pthread_mutex_lock(&workers->lock);
        while (workers->round < round && !workers->stopping)
            pthread_cond_wait(&workers->start, &workers->lock);
        bool stopping = workers->stopping;
        pthread_mutex_unlock(&workers->lock);
        if (stopping) return NULL;

        take_items(workers->loop, thread->number);

        pthread_mutex_lock(&workers->lock);
        if (--workers->busy == 0) pthread_cond_signal(&workers->done);
        pthread_mutex_unlock(&workers->lock);
    }
}

Workers *workers_start(int threads, Error *error)
{
    Workers *workers = calloc(1, sizeof *workers + (size_t)threads * sizeof(Thread));
    if (!workers) return error_memory(error, "to start %d threads", threads), NULL;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->start, NULL);
    pthread_cond_init(&workers->done, NULL);
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
    pthread_mutex_lock(&workers->lock);
    workers->loop = &loop;
    workers->busy = workers->count - 1;
    workers->round++;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->lock);

    unsigned mode = denormals_off();
    take_items(&loop, 0);
    _mm_setcsr(mode);

    pthread_mutex_lock(&workers->lock);
    while (workers->busy) pthread_cond_wait(&workers->done, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
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
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->start);
    pthread_mutex_unlock(&workers->lock);
    for (int t = 1; t < workers->count; t++) pthread_join(workers->thread[t].id, NULL);
    pthread_mutex_destroy(&workers->lock);
    pthread_cond_destroy(&workers->start);
    pthread_cond_destroy(&workers->done);
    free(workers);
}

int workers_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}
