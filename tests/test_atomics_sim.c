/* test_atomics.c on the simulated machine. */
#include "test_atomics.c"
