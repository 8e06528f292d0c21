/* The clock of the library, its tests and its verification. */
#ifndef BALLAST_CLOCK_H
#define BALLAST_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif
double bl__now(void); /* seconds; it never goes back */
#ifdef __cplusplus
}
#endif

#endif
