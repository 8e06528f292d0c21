/* Linux has had membarrier for one process since 4.14. A process registers for it once; containers may forbid it. */
#include "fence.h"

#include <pthread.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__linux__) && defined(__NR_membarrier)
/* From linux/membarrier.h, which not every C library brings along. */
enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };

static bool works;

static void try_once(void) {
    works = syscall(__NR_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
            syscall(__NR_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool bl__can_fence_all_threads(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, try_once);
    return works;
}

/* Without the registration the system refuses the fence; and it may at any time (no memory, a filter of system calls
 * set since). */
bool bl__fence_all_threads(void) {
    return bl__can_fence_all_threads() && syscall(__NR_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0;
}

#else

bool bl__can_fence_all_threads(void) { return false; }
bool bl__fence_all_threads(void) { return false; }

#endif
