/* The programs of test_nodes_apart on the simulated machine. */
#define BL_TARGET_SIM 1
#include "nodes_program.h"
