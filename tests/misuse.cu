/* The programs of test_misuse_cuda.c. */
#include "misuse.h"
