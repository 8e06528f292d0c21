/* The cores that this process may use: how many, and which of them bound workers have taken. */
#ifndef BALLAST_CPUS_H
#define BALLAST_CPUS_H

#include <stdint.h>

/* Cores in the calling thread's affinity mask, or the CPU quota where that is less. */
uint32_t bl__cpus_usable(void);

/* The workers that a context has unless told otherwise: those cores, or BALLAST_WORKERS where that is less. 0: that
 * variable is set to something else than a positive number. */
uint32_t bl__cpus_default(void);

/* CPUs that the control groups of this process allow, version 1 or 2 and all levels, rounded up; UINT32_MAX: no
 * limit. `root`: where proc and sys lie, "" for this machine. */
uint32_t bl__cpus_quota(const char *root);

/* Takes the core of the calling thread's mask that the fewest bound workers of this process have; the units of one
 * physical core come last. Returns its number, or -1. Give it back when the worker has ended. */
int bl__cpus_take(void);
void bl__cpus_give_back(int cpu);

/* The calling thread stays on that core. */
void bl__cpus_stay_on(int cpu);

#endif
