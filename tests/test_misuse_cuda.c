/* test_misuse.c on a GPU, if there is one. */
#ifdef BL_HAVE_CUDA
#define MISUSE_ON_CUDA
#include "test_misuse.c"
#else
#include "check.h"
int main(void) { return CHECK_SKIPPED; }
#endif
