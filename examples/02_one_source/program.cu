/* Defines queens_cuda(). */
#include "task.h"
