/* Fibonacci numbers by the recursion of their definition, without a cut-off: a task per call and a join per addition.
 * It measures nothing but the cost of a task. Plain C11 that is also C++17 and CUDA.
 *
 * An entry is a call with the index range [0, 2): its two callees. */
#ifndef BALLAST_FIB_H
#define BALLAST_FIB_H

#include <stdint.h>

#define FIB_MOST 60 /* some hours on a GPU; sums of a join have 48 bits, which is enough for 70 */

/* The payload: a call of fib(n). Its children are given it too, and index k calls fib(n - 1 - k). */
typedef struct fib_call {
    uint32_t n;
} fib_call;

/* The n-th number, by additions. */
static inline uint64_t fib_known(uint32_t n) {
    uint64_t value = 0, next = 1;
    while (n-- > 0) {
        uint64_t sum = value + next;
        value = next;
        next = sum;
    }
    return value;
}

/* The sequential twin: plain calls, of which the compiler may not make anything else. */
uint64_t fib_twin(uint32_t n);

#endif
