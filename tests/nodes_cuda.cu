/* The programs of test_nodes_cuda on a GPU. */
#include "nodes_program.h"
