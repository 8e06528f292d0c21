/* Processes that share a list of jobs, so that a mutant that crashes costs one job and not the whole run. */
#ifndef BALLAST_PROVE_WORKERS_H
#define BALLAST_PROVE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct workers_plan {
    uint32_t jobs, workers;
    void (*work)(void *arg, uint32_t job);
    void (*crashed)(void *arg, uint32_t job); /* the process that worked on it has died */
    void (*progress)(void *arg, uint32_t done);
    void *arg;
} workers_plan;

void *workers_share(size_t bytes); /* zeroed memory shared by all processes; NULL: none */
bool workers_run(const workers_plan *plan);

#endif
