/* The processes of one job, mpirun ballast run ...: rank 0 prints, for all. Without mpirun there is one process, and
 * these functions do nothing. */
#ifndef BALLAST_CLI_MPI_JOB_H
#define BALLAST_CLI_MPI_JOB_H

#include <ballast/link.h>
#include <stdbool.h>

/* First of all: from now on only rank 0 prints. */
void ranks_find(void);
bool ranks_are_several(void);
bool ranks_is_first(void);

/* Collective, after ranks_find. Initialises MPI. Returns an exit status, after a line on standard error. */
int ranks_start(void);
/* Collective: the exit status of the first rank that has one other than 0, after the line that it said. `what`, if not
 * NULL, must be the same text in all: otherwise a line names the rank, and the status is that of wrong usage. */
int ranks_agree(int status, const char *what);
/* Collective: bl_open. */
int ranks_open(bl_context **context, const bl_config *config);
/* Collective: calls `add` with the `bytes` of each other rank, in rank 0. */
int ranks_collect(const void *mine, size_t bytes, void (*add)(void *arg, const void *other), void *arg);
/* Collective, before the process ends; waits for all. */
void ranks_end(void);

#endif
