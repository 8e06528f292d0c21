#include "test_reduce.c"
