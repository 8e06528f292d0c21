/* Particles: PLY, as text and in both byte orders. */
#include "fuzz_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_points("points.ply", data, size); }
