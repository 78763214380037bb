/* pthread.h -- the names of POSIX threads for a program with one thread: WASI has no threads. */
#pragma once

#include <stddef.h>

typedef int pthread_mutex_t, pthread_cond_t, pthread_once_t;
typedef const void *pthread_key_t;
#define PTHREAD_MUTEX_INITIALIZER        0
#define PTHREAD_ONCE_INIT                0
#define pthread_mutex_init(lock, how)    ((void)(lock))
#define pthread_mutex_destroy(lock)      ((void)(lock))
#define pthread_mutex_lock(lock)         ((void)(lock))
#define pthread_mutex_unlock(lock)       ((void)(lock))
#define pthread_cond_init(cond, how)     ((void)(cond))
#define pthread_cond_destroy(cond)       ((void)(cond))
#define pthread_cond_wait(cond, lock)    ((void)(cond))
#define pthread_cond_broadcast(cond)     ((void)(cond))
#define pthread_once(once, run)          ((void)(once), run())
#define pthread_key_create(key, release) ((void)(key), (void)(release))
#define pthread_setspecific(key, value)  (*(const void **)&(key) = (value), 0)
