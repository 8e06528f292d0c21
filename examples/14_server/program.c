/* Defines ways_cpu(). */
#include "task.h"
