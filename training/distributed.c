/* distributed.c -- the ranks of one training, by MPI; see distributed.h.
 *
 * Errors are returned, not fatal (MPI_ERRORS_RETURN): they become a sentence. After an error
 * MPI promises nothing (chapter 8.3), so the only call that follows is MPI_Abort. If a rank is
 * killed, mpirun ends the others.
 *
 * Only the main thread calls MPI (MPI_THREAD_FUNNELED). */
#include "training/distributed.h"

#include <unistd.h>

struct Distributed distributed = {.ranks = 1};
static char machine[64];  // this rank's

/* What Open MPI's mpirun and the PMI of srun put into the environment of a rank. */
static bool is_rank(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

#ifdef WITH_MPI

#include <mpi.h>

_Static_assert(sizeof(real) == sizeof(float), "blocks travel as MPI_FLOAT");
const bool distributed_possible = true;

/* A collective call; with one rank there is nothing to do. True if it succeeds. */
#define COLLECTIVE(call) (distributed.ranks == 1 || succeeded(call, error))

static bool succeeded(int code, Error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS) return true;
    distributed.over = distributed.broken = true;
    MPI_Error_string(code, text, &length);
    return error_set(error,
                     "rank %d lost contact with another rank: %s; the same command resumes "
                     "from the last checkpoint",
                     distributed.rank, text);
}

bool distributed_start(Error *error)
{
    int level;
    if (!is_rank()) return true;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return error_set(error, "MPI does not start, though this process is a rank of a job");
    distributed.started = true;
    gethostname(machine, sizeof machine - 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &distributed.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &distributed.ranks);
    bool good = true;
    if (level < MPI_THREAD_FUNNELED) good = error_set(error, "this MPI does not allow threads");
    else if (distributed.ranks > DISTRIBUTED_MAX_RANKS)
        good = error_set(error, "%d ranks are more than the %d that can train together",
                         distributed.ranks, DISTRIBUTED_MAX_RANKS);
    return distributed_agree(good, error);
}

#else  // one process

#define COLLECTIVE(call) true
const bool distributed_possible = false;
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

bool distributed_start(Error *error)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("PMIX_RANK");
    if (!is_rank() || (size && !strcmp(size, "1"))) return true;
    if (rank || (rank = getenv("PMI_RANK"))) distributed.rank = atoi(rank);
    return error_set(error, "this program was built without MPI and would train alone on every "
                            "rank: build it with make MPI=1, or start it without mpirun");
}

#endif

void distributed_stop(void)
{
#ifdef WITH_MPI
    if (distributed.broken) MPI_Abort(MPI_COMM_WORLD, 1);
    if (distributed.started) MPI_Finalize();
#endif
}

bool distributed_agree(bool good, Error *error)
{
    if (distributed.ranks == 1) return good;
    if (distributed.over) return false;
    int first = good ? distributed.ranks : distributed.rank;
    if (!distributed_least(&first, error)) return false;
    if (first == distributed.ranks) return true;
    distributed.over = true;
    if (first == distributed.rank && first > 0)
        error_prefix(error, "rank %d on %s", distributed.rank, machine);
    (void)COLLECTIVE(
        MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, first, MPI_COMM_WORLD));
    return false;
}

bool distributed_share(void *bytes, size_t size, Error *error)
{
    enum { MOST = 1 << 30 };
    for (char *next = bytes; size;) {
        int count = size < MOST ? (int)size : MOST;
        if (!COLLECTIVE(MPI_Bcast(next, count, MPI_BYTE, 0, MPI_COMM_WORLD))) return false;
        next += count;
        size -= (size_t)count;
    }
    return true;
}

bool distributed_sum(double *x, size_t count, Error *error)
{
    return COLLECTIVE(
        MPI_Allreduce(MPI_IN_PLACE, x, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

bool distributed_least(int *x, Error *error)
{
    return COLLECTIVE(MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
}

/* For MPI: how many numbers this rank exchanges with each rank, and where they are. */
static struct Counts {
    int count[DISTRIBUTED_MAX_RANKS], place[DISTRIBUTED_MAX_RANKS];
} sent, got;

/* Those of a block's parts; returns this rank's. */
static int count_parts(struct Counts *counts, const size_t *part)
{
    for (int r = 0; r < distributed.ranks; r++) {
        counts->count[r] = (int)(part[r + 1] - part[r]);
        counts->place[r] = (int)part[r];
    }
    return counts->count[distributed.rank];
}

bool distributed_exchange(real *received, const real *block, int senders, const size_t *part,
                          Error *error)
{
    int own = count_parts(&sent, part);
    for (int r = 0; r < distributed.ranks; r++) {
        if (r == distributed.rank || distributed.rank >= senders) sent.count[r] = 0;
        got.count[r] = r != distributed.rank && r < senders ? own : 0;
        got.place[r] = got.count[r] ? r * own : 0;
    }
    return COLLECTIVE(MPI_Alltoallv(block, sent.count, sent.place, MPI_FLOAT, received,
                                    got.count, got.place, MPI_FLOAT, MPI_COMM_WORLD));
}

bool distributed_allgather(real *block, const size_t *part, Error *error)
{
    count_parts(&got, part);
    return COLLECTIVE(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, block, got.count, got.place,
                                     MPI_FLOAT, MPI_COMM_WORLD));
}

bool distributed_gather(real *own, const size_t *part, Error *error)
{
    int count = count_parts(&got, part);
    return COLLECTIVE(MPI_Gatherv(distributed.rank ? own : MPI_IN_PLACE, count, MPI_FLOAT, own,
                                  got.count, got.place, MPI_FLOAT, 0, MPI_COMM_WORLD));
}

bool distributed_scatter(real *own, const size_t *part, Error *error)
{
    int count = count_parts(&sent, part);
    return COLLECTIVE(MPI_Scatterv(own, sent.count, sent.place, MPI_FLOAT,
                                   distributed.rank ? own : MPI_IN_PLACE, count, MPI_FLOAT, 0,
                                   MPI_COMM_WORLD));
}
