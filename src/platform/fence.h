/* A full fence in all threads of the process at once. */
#ifndef BALLAST_FENCE_H
#define BALLAST_FENCE_H

#include <stdbool.h>

/* False: this system has none. */
bool bl__can_fence_all_threads(void);
/* False: this system has none, or refused it this time (no memory, a filter of system calls set since). */
bool bl__fence_all_threads(void);

#endif
