#define BL_TARGET_SIM 1
#include "nodes_programs.c"
