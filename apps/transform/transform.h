/* x -> f(x) over an array of floats, a chunk of it per task (Toss and Gautier 2012, section 4.2): what the task code
 * and the host code share. Plain C11 that is also C++17 and CUDA.
 *
 * f(x) = x * x: one multiplication, which every device rounds alike, so results are bitwise identical. The inputs lie
 * in [1, 2), where nothing is denormal. In the irregular patterns only every `step`-th chunk has work, the last of each
 * `step`; the others stay 0.
 */
#ifndef BALLAST_TRANSFORM_H
#define BALLAST_TRANSFORM_H

#include <stdint.h>

#ifdef __cplusplus
#define TRANSFORM_ALIGN16 alignas(16)
#else
#define TRANSFORM_ALIGN16 _Alignas(16)
#endif

/* Four elements, which a GPU moves with one access. A chunk is a whole number of quads; the last quad is padded with
 * zeros. */
typedef struct transform_quad {
    TRANSFORM_ALIGN16 float x[4];
} transform_quad;
#undef TRANSFORM_ALIGN16

typedef struct transform_shared {
    const transform_quad *in;
    transform_quad *out;
    uint64_t quads; /* in all */
    uint32_t chunk; /* quads per task */
    uint32_t step;  /* task i has work if i mod step = step - 1 */
} transform_shared;

#endif
