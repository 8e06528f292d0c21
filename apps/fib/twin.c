#include "fib.h"

#if defined(__clang__)
#define FIB_PLAIN __attribute__((noinline, disable_tail_calls))
#else
#define FIB_PLAIN __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#endif

FIB_PLAIN uint64_t fib_twin(uint32_t n) { return n < 2 ? n : fib_twin(n - 1) + fib_twin(n - 2); }
