/* What the peers written with Lace share. */
#ifndef BALLAST_BENCH_PEERS_LACE_H
#define BALLAST_BENCH_PEERS_LACE_H

#include <lace.h>

#pragma GCC diagnostic ignored "-Wconversion" /* what its macros write into these files */

#endif
