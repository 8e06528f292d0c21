#include "nodes_programs.c"
