/* test_apps.c on a GPU, where there is one. */
#define APPS_ON_CUDA
#include "test_apps.c"
