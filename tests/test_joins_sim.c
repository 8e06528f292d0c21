#include "test_joins.c"
