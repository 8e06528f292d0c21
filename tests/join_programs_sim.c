#define BL_TARGET_SIM 1
#include "join_programs.c"
