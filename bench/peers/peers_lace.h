/* Shared by the peers written with Lace. */
#ifndef BALLAST_BENCH_PEERS_LACE_H
#define BALLAST_BENCH_PEERS_LACE_H

#include <lace.h>

#pragma GCC diagnostic ignored "-Wconversion" /* for what its macros expand to in these files */

#endif
