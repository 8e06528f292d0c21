// COMPILE: -O0
#include "test_reduce.c"
