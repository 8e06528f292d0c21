/* Files of known data, named "$BALLAST_DATA/graphs/x.txt.gz", independent of where this machine has them. */
#ifndef BALLAST_BENCH_DATA_H
#define BALLAST_BENCH_DATA_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_WHY_SIZE = 160 };

/* Copies words that name no such file unchanged. False: BALLAST_DATA is not set or has no such file; `why` is a line
 * that says so. */
bool bench_data_path(char *path, size_t size, const char *word, size_t length, char why[BENCH_WHY_SIZE]);
/* Whether every such file in these blank-separated words exists. */
bool bench_data_there(const char *words, char why[BENCH_WHY_SIZE]);

#endif
