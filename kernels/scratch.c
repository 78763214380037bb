/* scratch.c -- memory of a thread for a kernel's copies; see scratch.h. */
#include "kernels/scratch.h"

#include <pthread.h>

static pthread_key_t own;  // frees a thread's memory when the thread ends
static _Alignas(BLOCK_ALIGNMENT) unsigned char common[SCRATCH_BYTES];
static pthread_mutex_t common_lock = PTHREAD_MUTEX_INITIALIZER;

static void create_key(void)
{
    pthread_key_create(&own, free);
}

void *scratch_take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local void *scratch;
    if (scratch) return scratch;
    pthread_once(&once, create_key);
    void *memory = aligned_alloc(BLOCK_ALIGNMENT, SCRATCH_BYTES);
    if (memory && !pthread_setspecific(own, memory)) return scratch = memory;
    free(memory);
    pthread_mutex_lock(&common_lock);
    return common;
}

void scratch_give(void *scratch)
{
    if (scratch == common) pthread_mutex_unlock(&common_lock);
}
