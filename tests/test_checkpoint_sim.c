// COMPILE: -O0
#include "test_checkpoint.c"
