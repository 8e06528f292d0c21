/* Particles: raw floats. */
#include "fuzz_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_points("points.f32le", data, size); }
