/* Fibonacci numbers by the recursion of their definition, without a cut-off: a task per call and a join per addition.
 * It measures only the cost of a task. Plain C11 that is also C++17 and CUDA.
 *
 * An entry is a call with the index range [0, 2): its two callees. */
#ifndef BALLAST_FIB_H
#define BALLAST_FIB_H

#include <stdint.h>

#define FIB_MOST 60 /* some hours on a GPU; a join's sums have 48 bits, enough for n = 70 */

/* The payload: a call of fib(n). Its children receive it too; the child with index k calls fib(n - 1 - k). */
typedef struct fib_call {
    uint32_t n;
} fib_call;

/* The n-th number, by repeated addition. */
static inline uint64_t fib_known(uint32_t n) {
    uint64_t value = 0, next = 1;
    while (n-- > 0) {
        uint64_t sum = value + next;
        value = next;
        next = sum;
    }
    return value;
}

/* The sequential twin: plain calls, which the compiler must not transform. */
uint64_t fib_twin(uint32_t n);

#endif
