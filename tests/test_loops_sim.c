#include "test_loops.c"
