/* Defines queens_cpu(). */
#include "task.h"
