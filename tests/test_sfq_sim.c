/* test_sfq.c on the simulated machine: the same clients, thousands of schedules each. */
#include "test_sfq.c"
