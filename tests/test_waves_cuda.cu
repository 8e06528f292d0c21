#include "test_waves.c"
