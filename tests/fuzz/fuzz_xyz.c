/* Particles: lines of three numbers. */
#include "fuzz_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_points("points.xyz", data, size); }
