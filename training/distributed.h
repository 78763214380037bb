/* distributed.h -- several processes, the ranks of mpirun or srun, that train one model.
 *
 * One process is rank 0 of 1: every function here then returns at once, and without MPI at build
 * time there is nothing else. MPI is touched only if the environment says that mpirun (or srun)
 * started this process.
 *
 * All but the first three functions are collective: every rank calls them, in the same order, from
 * its main thread. What can go wrong on one rank alone (a file, memory) is told to all by
 * distributed_agree. So that no rank waits for one that has left, there is one rule:
 *
 *     between anything that can fail on one rank and the next collective call stands an agree:
 *
 *         if (!distributed_agree(read_corpus(…, error), error)) return false;
 *
 * A rank may also return its failure to main, which ends with an agree: it meets the one that the
 * others come to next. After one agree said no, all others do, without asking.
 *
 * Source: the MPI standard, version 3.1 (2015), chapters 5 (collectives) and 8 (errors). */
#ifndef TRAINING_DISTRIBUTED_H
#define TRAINING_DISTRIBUTED_H

#include "base/error.h"
#include "base/real.h"

#include <stddef.h>

enum { DISTRIBUTED_MAX_RANKS = 4096 };

int distributed_rank(void);  // 0 .. ranks-1; rank 0 speaks, saves and decides
int distributed_ranks(void);
bool distributed_possible(void);  // built with MPI

/* First of all calls. False: started by mpirun, but MPI is not there or does not work. */
bool distributed_start(Error *error);

/* Last of all: leaves MPI; if contact with a rank was lost, ends the whole job with status 1. */
void distributed_stop(void);

/* Whether all is good on every rank. If not, error is everywhere the one of the lowest rank for
 * which it was not, with its number and machine. */
bool distributed_agree(bool good, Error *error);

/* Whether contact was lost, so that this rank must speak for itself. */
bool distributed_broken(void);

/* Rank 0's bytes, to all. */
bool distributed_share(void *bytes, size_t size, Error *error);

/* x [count] (=) sums over the ranks. They have the same bits on every rank, and the same whatever
 * the number of ranks if for each i at most one rank has another number than 0 there. */
bool distributed_sum(double *x, size_t count, Error *error);

bool distributed_least(int *x, Error *error);
bool distributed_greatest(int *x, Error *error);

/* ---- blocks ---- A block of part[ranks] numbers is cut into parts: rank r's is numbers part[r] ..
 * part[r+1]-1. A block is at most INT_MAX numbers, which is as far as MPI 3.1 counts. */

/* Each rank r with sends[r] gives part q of its block to rank q: received [r][own part] (=). The
 * block of a rank that does not send may be NULL. A rank sends nothing to itself. */
bool distributed_exchange(real *received, const real *block, const bool *sends,
                          const size_t *part, Error *error);

/* block (=): each rank's own part of it, to all. */
bool distributed_allgather(real *block, const size_t *part, Error *error);

/* The parts to rank 0, and from it. own is the rank's part alone; on rank 0, whose part is the
 * first, it is the whole block. */
bool distributed_gather(real *own, const size_t *part, Error *error);
bool distributed_scatter(real *own, const size_t *part, Error *error);

#endif
