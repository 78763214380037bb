/* openblas.c -- loading OpenBLAS, and its memory; see openblas.h. */
#include "kernels/openblas.h"

#if HAS_OPENBLAS
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "base/workers.h"

/* What the memory of a product is at most, on any processor. */
static const size_t MOST_MEMORY = (size_t)512 << 20;
enum { MOST_PRODUCTS = 64 };  // at a time; the library has places for some more

static struct {
    pthread_mutex_t lock;
    bool loaded;
    char name[OPENBLAS_NAME];
    sem_t memory;  // counts the products that may begin
    __typeof__(cblas_sgemm) *sgemm;
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The library's, but in no header: the memory of one product. */
typedef void *Allocate(int);
typedef void Free(void *);

/* Loads it with one thread, whatever the environment says. Returns NULL, with an error, if there
 * is none. */
static void *open_library(Error *error)
{
    static const char VARIABLE[] = "OPENBLAS_NUM_THREADS";
    const char *now = getenv(VARIABLE);
    char *before = now ? strdup(now) : NULL;
    setenv(VARIABLE, "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (before) setenv(VARIABLE, before, 1);
    else unsetenv(VARIABLE);
    free(before);
    if (!library)
        error_set(error,
                  "cannot load OpenBLAS: %s; install libopenblas0, or set QKV_KERNEL to "
                  "other kernels, such as 'plain'",
                  dlerror());
    return library;
}

/* Whether this process may map so much more. */
static bool can_map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at != MAP_FAILED && munmap(at, size) == 0;
}

/* Makes the library map the memory of as many products as there are processors, and keep it. For
 * the second and the next ones, as much again must be left to the program. */
static bool reserve(Allocate *allocate, Free *release, Error *error)
{
    void *at[MOST_PRODUCTS];
    int wanted = at_most(workers_processors(), MOST_PRODUCTS), count = 0;
    if (!can_map(MOST_MEMORY)) return error_memory(error, "for OpenBLAS");
    do at[count++] = allocate(0);
    while (count < wanted && can_map(2 * MOST_MEMORY));
    for (int i = 0; i < count; i++) release(at[i]);
    sem_init(&blas.memory, 0, (unsigned)count);
    return true;
}

static bool load(Error *error)
{
    void *library = open_library(error);
    if (!library) return false;
    __typeof__(openblas_get_num_threads) *threads = dlsym(library, "openblas_get_num_threads");
    __typeof__(openblas_get_config) *config = dlsym(library, "openblas_get_config");
    __typeof__(openblas_get_corename) *core = dlsym(library, "openblas_get_corename");
    Allocate *allocate = dlsym(library, "blas_memory_alloc");
    Free *release = dlsym(library, "blas_memory_free");
    blas.sgemm = dlsym(library, "cblas_sgemm");
    if (!blas.sgemm || !threads || !config || !core || !allocate || !release)
        return error_set(error, "libopenblas.so.0 lacks a function of OpenBLAS");
    if (threads() != 1)
        return error_set(error,
                         "this program already has an OpenBLAS of %d threads: set "
                         "OPENBLAS_NUM_THREADS=1, or QKV_KERNEL to other kernels, such as "
                         "'plain'",
                         threads());
    char version[24] = "";
    sscanf(config(), "OpenBLAS %23s", version);
    snprintf(blas.name, sizeof blas.name, "%s-%.23s", version, core());
    for (char *c = blas.name; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) || *c == '.' ? tolower((unsigned char)*c) : '-');
    return reserve(allocate, release, error);
}

bool openblas_load(Error *error)
{
    pthread_mutex_lock(&blas.lock);
    bool good = blas.loaded || load(error);
    blas.loaded = good;
    pthread_mutex_unlock(&blas.lock);
    return good;
}

const char *openblas_name(void)
{
    return blas.name;
}

void openblas_multiply(GemmMode mode, real *C, size_t ldc, Strided A, Strided B,
                       const real *bias, int m, int n, int k, real scale)
{
    bool add = mode & ADD, a = A.column == 1, b = B.column == 1;
    for (int i = 0; bias && i < m; i++)
        for (int j = 0; j < n; j++) {
            real *c = C + (size_t)i * ldc + (size_t)j;
            *c = add ? *c + bias[j] : bias[j];
        }
    while (sem_wait(&blas.memory) != 0) {}  // a signal
    blas.sgemm(CblasRowMajor, a ? CblasNoTrans : CblasTrans, b ? CblasNoTrans : CblasTrans, m,
               n, k, scale, A.at, (int)(a ? A.row : A.column), B.at,
               (int)(b ? B.row : B.column), add || bias ? 1 : 0, C, (int)ldc);
    sem_post(&blas.memory);
}
#endif
