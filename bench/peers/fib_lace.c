/* fib with Lace. */
#include "fib_peers.h"

#include "peers_lace.h"

TASK_1(uint64_t, call, uint32_t, n) {
    if (n < 2)
        return n;
    SPAWN(call, n - 1);
    uint64_t second = CALL(call, n - 2);
    return SYNC(call) + second;
}

uint64_t fib_lace(uint32_t n, uint32_t threads) {
    (void)threads; /* those that were started */
    return RUN(call, n);
}
