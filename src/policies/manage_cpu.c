#include "internal.h"

#define BL__MANAGE void bl__manage_cpu
#include "manage_all.inc.h"
