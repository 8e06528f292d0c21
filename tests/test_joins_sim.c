// COMPILE: -O0
#include "test_joins.c"
