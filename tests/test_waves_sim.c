// COMPILE: -O0
#include "test_waves.c"
