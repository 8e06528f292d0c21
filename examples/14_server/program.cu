/* Defines ways_cuda(). */
#include "task.h"
