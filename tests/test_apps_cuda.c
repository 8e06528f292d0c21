/* test_apps.c on a GPU, if there is one. */
#define APPS_ON_CUDA
#include "test_apps.c"
