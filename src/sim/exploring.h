/* What the simulated machine knows of an exploration: whom to hand its operations to. The explorer itself
 * (verify/explorer) is a library of its own, which the prover and tests link. */
#ifndef BALLAST_SIM_EXPLORING_H
#define BALLAST_SIM_EXPLORING_H

#include "ballast/platform/sim.h"

typedef struct bl__explorer bl__explorer;

/* The operations of platform/sim.h, in an exploration. */
typedef struct bl__exploration_ops {
    uint64_t (*load)(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits);
    void (*store)(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t v);
    uint64_t (*rmw)(bl__explorer *x, bl__sim_site *site, bl__sim_op op, void *p, unsigned bits, uint64_t v);
    bool (*cas)(bl__explorer *x, bl__sim_site *site, void *p, unsigned bits, uint64_t *expected, uint64_t v);
    bool (*cas128)(bl__explorer *x, bl__sim_site *site, void *p, void *expected, const void *v);
    void (*fence)(bl__explorer *x, bl__sim_site *site);
    void (*wait)(bl__explorer *x, bl__sim_site *site, const void *p, unsigned bits, uint64_t seen);
    void (*yield)(bl__explorer *x, bl__sim_site *site);
    void (*data)(bl__explorer *x, bl__sim_site *site, const void *p, uint32_t words);
    uint32_t (*bump)(bl__explorer *x, bl__sim_site *site);
    uint64_t (*clock)(bl__explorer *x);
    uint32_t (*lane)(const bl__explorer *x);
    const uint32_t *(*exchange)(bl__explorer *x, uint32_t v);
    void (*block_sync)(bl__explorer *x);
} bl__exploration_ops;

typedef struct bl__exploration {
    const bl__exploration_ops *ops; /* NULL unless fibers of an exploration run */
    bl__explorer *x;
} bl__exploration;

extern _Thread_local bl__exploration bl__exploring;

#endif
