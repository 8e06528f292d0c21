#include "test_misuse.c"
