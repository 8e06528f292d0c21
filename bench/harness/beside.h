/* Programs that the build puts into the same folder as this tool: comparisons with libraries on which the tool itself
 * must not depend. */
#ifndef BALLAST_BENCH_BESIDE_H
#define BALLAST_BENCH_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Its path; false: there is no such program. */
bool bench_beside(const char *name, char *path, size_t size);
/* Captures its standard output and returns its exit status; -1: it could not be started. Arguments end with NULL. */
int bench_run_beside(char *const *arguments, char *text, size_t size);

#endif
