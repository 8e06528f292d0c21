#define BL_TARGET_SIM 1
#include "internal.h"

#define BL__MANAGE void bl__manage_sim
#include "manage_all.inc.h"
