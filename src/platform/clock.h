/* The clock of the library, its tests and its verification. */
#ifndef BALLAST_CLOCK_H
#define BALLAST_CLOCK_H

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
double bl__now(void); /* seconds; it never goes back */
/* On the same clock, so many seconds from now: for pthread_cond_timedwait. */
struct timespec bl__after(double seconds);
#ifdef __cplusplus
}
#endif

#endif
