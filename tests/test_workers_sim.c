/* test_workers.c on the simulated machine. */
#include "test_workers.c"
