/* distributed.h -- several processes, the ranks of mpirun or srun, that train one model.
 *
 * A single process is rank 0 of 1; every function here then returns at once. MPI is used only
 * if the environment says that mpirun or srun started this process.
 *
 * All functions but distributed_start and distributed_stop are collective: every rank calls them, in the same order,
 * from its main thread. An operation that can fail on one rank alone (a file, memory) must not
 * be followed by a collective call without distributed_agree() between them, or the other ranks
 * would wait for a rank that has returned:
 *
 *     if (!distributed_agree(read_corpus(…, error), error)) return false;
 *
 * A rank may instead return its failure to main, which calls distributed_agree at its end; that
 * call meets the next distributed_agree of the other ranks. After one distributed_agree has
 * returned false, all later ones return false at once.
 *
 * Source: the MPI standard, version 3.1 (2015), chapters 5 (collectives) and 8 (errors). */
#pragma once

#include "base/error.h"
#include "base/real.h"

enum { DISTRIBUTED_MAX_RANKS = 4096 };

/* To read. */
extern struct Distributed {
    int rank, ranks;  // 0 .. ranks-1; rank 0 prints, saves and decides
    bool broken;      // a call of MPI failed: this rank prints its own error
    bool over;        // a distributed_agree returned false
    bool started;     // MPI is
} distributed;
extern const bool distributed_possible;  // built with MPI

/* Call it first. False if mpirun started this process, but MPI is missing or does not work. */
bool distributed_start(Error *error);

/* Call it last. If contact with a rank was lost, it ends the whole job with status 1. */
void distributed_stop(void);

/* Whether `good` is true on every rank. If not, every rank gets the error of the lowest rank
 * for which it is false, with its number and machine. */
bool distributed_agree(bool good, Error *error);

/* Broadcast: bytes [size] (=) those of rank 0. */
bool distributed_share(void *bytes, size_t size, Error *error);

/* x [count] (=) the sum over the ranks, with the same bits on every rank. The bits do not
 * depend on the number of ranks if for each i at most one rank has a number other than 0. */
bool distributed_sum(double *x, size_t count, Error *error);

/* *x (=) the least over the ranks. */
bool distributed_least(int *x, Error *error);

/* ---- blocks ----
 *
 * A block of part[ranks] numbers is divided into parts: rank r's part is numbers part[r] ..
 * part[r+1]-1. A block has at most INT_MAX numbers, the limit of MPI 3.1. */

/* Each rank r < senders sends part q of its block to rank q, other than itself: received
 * [r][own part] (=). */
bool distributed_exchange(real *received, const real *block, int senders, const size_t *part,
                          Error *error);

/* block (=) on every rank: part r is copied from rank r. */
bool distributed_allgather(real *block, const size_t *part, Error *error);

/* Sends all parts to rank 0 (gather), or from it to their ranks (scatter). `own` is this rank's
 * part; on rank 0, whose part is the first, it is the whole block. */
typedef bool DistributedSend(real *own, const size_t *part, Error *error);
DistributedSend distributed_gather, distributed_scatter;
