/* A full fence in all threads of the process at once. */
#ifndef BALLAST_FENCE_H
#define BALLAST_FENCE_H

#include <stdbool.h>

/* False: this system has none. Must be asked before bl__fence_all_threads is called. */
bool bl__can_fence_all_threads(void);
void bl__fence_all_threads(void);

#endif
