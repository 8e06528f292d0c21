/* Built without CUDA: there is no GPU. */
#include "bench_device.h"

bool bench_open_cuda(bench_device *d, int number) {
    (void)d, (void)number;
    return false;
}
