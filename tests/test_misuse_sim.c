// COMPILE: -O0
#include "test_misuse.c"
