/* Litmus tests: whether the machine keeps the guarantees that the queues rely on, with the platform's operations.
 *
 * A test is a few roles that access two words. One outcome of each is of interest: if the orders forbid it, it must
 * never occur; if they allow it, it is counted, which shows how weak the machine is. Threads run the roles and go
 * through many pairs of words in parallel.
 *
 *   litmus_roles.h   the roles, the same text on every target
 *   litmus.c         threads of this machine, and the table of the tests
 *   litmus_cuda.cu   a GPU: roles in different blocks; in different warps of a block; the host and a kernel
 *
 * tests/test_memory_model_sim.c has the same shapes for the simulated machine, with every outcome. */
#ifndef BALLAST_LITMUS_H
#define BALLAST_LITMUS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum litmus_kind {
    LITMUS_MP,
    LITMUS_MP_DATA,
    LITMUS_MP_HEAVY,
    LITMUS_MP_RELAXED,
    LITMUS_SB,
    LITMUS_SB_FENCE,
    LITMUS_SB_FIRST,
    LITMUS_SB_HEAVY,
    LITMUS_SB_RELAXED,
    LITMUS_LB,
    LITMUS_LB_RELAXED,
    LITMUS_IRIW,
    LITMUS_IRIW_ACQUIRE,
    LITMUS_WRITES,
    LITMUS_WRITES_RELAXED,
    LITMUS_COHERENCE,
    LITMUS_KINDS
} litmus_kind;

typedef struct litmus_test {
    const char *name, *text;
    uint32_t roles;
    bool forbidden; /* the outcome of interest is forbidden; otherwise allowed */
} litmus_test;

extern const litmus_test litmus_tests[LITMUS_KINDS];

enum { LITMUS_ROLES = 4, LITMUS_APART = 32 }; /* words between two pairs, and more between the two words of a pair */

/* The values seen in a pair of words: up to two loads of each role, and both words at the end. */
typedef struct litmus_seen {
    uint32_t load[LITMUS_ROLES][2];
} litmus_seen;

typedef struct litmus_count {
    uint64_t runs, odd; /* odd: runs with the outcome of interest */
} litmus_count;

/* Runs the roles on threads of this machine, for this time; no runs: the machine lacks the operation. False: out of
 * memory or threads. */
bool litmus_cpu(litmus_kind kind, double seconds, litmus_count *count);

/* Where the roles of a test run on a GPU. */
typedef enum litmus_place { LITMUS_BLOCKS, LITMUS_WARPS, LITMUS_PLACES } litmus_place;
extern const char *const litmus_places[LITMUS_PLACES];

/* NULL: done; otherwise what is wrong with the GPU, or that this build has no CUDA. */
const char *litmus_cuda(litmus_kind kind, litmus_place place, double seconds, litmus_count *count);
/* Block scope: plain words in shared and global memory, written before bl_block_sync and read after it. */
const char *litmus_cuda_block(double seconds, litmus_count *count);
/* System scope: host and kernel each increment their own word (bl_store64_host) and read the other's, which must never
 * decrease, and must advance. */
const char *litmus_cuda_host(double seconds, litmus_count *count);

/* For those two: the host's side, in C. One step; returns whether the other's count has decreased. */
bool litmus_host_step(uint64_t *mine, const uint64_t *other, uint64_t *last);
void litmus_host_stop(uint64_t *stop);

#ifdef __cplusplus
}
#endif

#endif
