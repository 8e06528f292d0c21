/* A full fence in all threads of the process at once. */
#ifndef BALLAST_FENCE_H
#define BALLAST_FENCE_H

#include <ballast/platform/cpu.h>
#include <stdbool.h>

/* False: this system has none. */
bool bl__can_fence_all_threads(void);

#endif
