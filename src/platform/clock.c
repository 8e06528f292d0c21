#include "clock.h"

double bl__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct timespec bl__after(double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const time_t whole = (time_t)seconds; /* not floor, for which a program would have to link libm */
    t.tv_sec += whole;
    t.tv_nsec += (long)(1e9 * (seconds - (double)whole));
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}
