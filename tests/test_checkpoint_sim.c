#include "test_checkpoint.c"
