/* Queue verification, shared by `ballast verify` and the tests.
 *
 *     contract_cases.inc.h     template, the same source on every target: the cases of the contract
 *     history.inc.h            template, likewise: the recorder of histories
 *     queue.inc.h              template: both for one queue and target, and its row
 *     cpu.c, sim.c, cuda.cu    the targets: how to start their threads
 *     contract_cases.c         the host's side of contract_cases.inc.h: memory, the cases and their sizes, messages
 *                              about failures
 *     history.c                the host's side of history.inc.h: shapes from seeds, batches, and the findings of
 *                              the histories
 *     linearize.c              the search
 *     litmus.h                 litmus tests: the guarantees of the machine itself
 *     verify.c                 all of it for one queue, and the verdict
 *
 * For one host thread at a time. */
#ifndef BALLAST_VERIFY_H
#define BALLAST_VERIFY_H

#include "client.h"

#include <ballast/queues/contract.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VERIFY_TEXT = 256 };

/* ---- targets and queues ---- */

typedef void (*verify_code)(void); /* the target defines the actual type */

typedef struct verify_queue {
    const char *name;
    int kind;
    uint32_t flags, least;
    int by_handle;
    size_t (*bytes)(bl_shape shape);
    verify_code contract, history; /* history: NULL for a ceiling */
} verify_queue;

/* How the threads of a case are placed on the target. CPU, sim: only their number. */
typedef struct verify_layout {
    const char *text;
    uint32_t threads;
    uint32_t block, stride; /* GPU: lanes of a block, of which every stride-th takes part */
} verify_layout;

/* How the threads of a history are placed on a GPU; other targets make no difference. */
typedef enum verify_spread { VERIFY_LANES, VERIFY_WARPS, VERIFY_BLOCKS } verify_spread;

typedef struct verify_target {
    const char *name;
    const char *time;                 /* the unit of bl_time() */
    const verify_queue *const *queue; /* NULL ends it */
    const verify_layout *layout;      /* crowds, from small to large; NULL text ends it */
    verify_code pool;                 /* contract_pool_case */
    uint64_t patience;                /* ticks of bl_clock() without progress after which a thread gives up */
    uint32_t steps, items;            /* sizes of cases that take a few milliseconds: for one thread, for a crowd */
    uint32_t cells;                   /* histories per batch */
    uint32_t spreads, clocks;         /* how many values of verify_spread, and how many clocks, it distinguishes */
    uint32_t meets;                   /* threads must wait for each other at the start, or they hardly ever overlap */

    void *(*alloc)(size_t bytes); /* NULL: no memory */
    void (*release)(void *memory);
    void (*fill)(void *memory, int byte, size_t bytes);
    void (*copy)(void *to, const void *from, size_t bytes); /* between the target's memory and the host's */
    /* Both start all threads and wait. False: it never ends. If its threads cannot be stopped, the target is in
     * trouble, and nothing that they may still use must be released. */
    bool (*run)(verify_code code, contract_client *there, contract_case what, const contract_client *c,
                const verify_layout *layout);
    bool (*record)(verify_code code, history_batch *there, bool set_up, const history_batch *b, verify_spread spread);
    const char *(*trouble)(void); /* NULL while the target can be used */
} verify_target;

/* Threads that a case needs. */
static inline uint32_t verify_threads(const contract_client *c, contract_case what) {
    return what <= CONTRACT_AUDIT ? 1 : c->threads;
}

extern const verify_target verify_cpu, verify_sim;
const verify_target *verify_cuda(int device); /* NULL: no such GPU, or a build without CUDA */
const verify_queue *verify_find(const verify_target *target, const char *name);

/* sim: replay and record of future runs. The seeds are those of the clients. */
extern struct bl_sim_options verify_sim_options;

/* ---- the contract: contract_cases.c ---- */

typedef struct contract_run {
    const verify_target *target;
    const verify_queue *queue; /* NULL: the pool of handles */
    verify_layout layout;
    FILE *out;   /* if set: every failure is printed to it */
    char *doing; /* if set: VERIFY_TEXT bytes that describe the current case */
    uint64_t cases, operations;
    uint32_t failures;
    char first[2 * VERIFY_TEXT]; /* the first failure in words */
} contract_run;

contract_run contract_open(const verify_target *target, const verify_queue *queue);
contract_client contract_shape(const contract_run *r, uint32_t capacity, uint32_t words, uint32_t start, uint32_t seed,
                               uint32_t items);

bool contract_fits(const contract_run *r); /* whether threads with this placement can use the queue */
/* All cases for one thread, with several capacities, sizes and starts. */
void contract_alone(contract_run *r, uint32_t steps);
/* Crowds of c.threads; false if something was wrong. c determines everything except the roles: for FIFO queues
 * `producers` and `consumers` may overlap, a deque has one owner. */
bool contract_crowd(contract_run *r, contract_client c, uint32_t producers, uint32_t consumers);
bool contract_tokens(contract_run *r, contract_client c);
bool contract_visits(contract_run *r, contract_client c);
bool contract_tickets(contract_run *r, contract_client c); /* of a ceiling */
/* `handles` in the pool, c.items slots to pass them through. TRAFFIC: single handles; TOKENS: whole chunks. */
bool contract_run_pool(contract_run *r, contract_client c, uint32_t handles, contract_case what);

/* ---- histories: history.c ---- */

/* What a history may show. The first three are searched for only if the queue does not claim the property; BROKEN
 * breaks a claim. */
typedef enum verify_finding {
    VERIFY_FULL,  /* FULL is not exact */
    VERIFY_EMPTY, /* EMPTY is not exact */
    VERIFY_ORDER, /* no order explains all answers */
    VERIFY_BROKEN,
    VERIFY_FINDINGS
} verify_finding;

typedef struct verify_history {
    history_shape shape;
    lin_spec spec; /* which no order of the operations satisfies */
    uint32_t count;
    lin_op ops[LIN_OPS];
    const verify_target *target;
    const char *time, *why; /* why: in words, if it is not the order; otherwise NULL */
} verify_history;

typedef struct history_run history_run;

history_run *history_open(const verify_target *target, const verify_queue *queue); /* NULL: out of memory */
void history_close(history_run *r);
bool history_batch_next(history_run *r);           /* records and judges a batch; false if the target is in trouble */
bool history_one(history_run *r, uint32_t seed);   /* the same for one history */
uint32_t history_goals(const verify_queue *queue); /* a bit for each finding that the queue's claims do not rule out */
uint32_t history_found(const history_run *r);      /* a bit for each finding so far */
/* The shortest one, NULL if none was found. VERIFY_FINDINGS: the last one recorded. */
const verify_history *history_show(const history_run *r, verify_finding finding);
uint64_t history_count(const history_run *r);
uint64_t history_undecided(const history_run *r);

/* ---- a queue: verify.c ---- */

typedef enum verify_verdict { VERIFY_HOLDS, VERIFY_FAILED, VERIFY_UNPROVEN, VERIFY_SKIPPED } verify_verdict;

typedef struct verify_result {
    verify_verdict verdict;
    char text[4 * VERIFY_TEXT]; /* the verdict in words */
    uint64_t cases, operations; /* of the contract; of the stress */
    uint64_t histories, simulated, undecided;
    char clocks[32];
    uint32_t shown; /* histories that show something */
    verify_finding finding[VERIFY_FINDINGS];
    verify_history history[VERIFY_FINDINGS];
} verify_result;

/* `simulated`: the same queue's row of the simulated machine, which is searched for what a real run does not show. */
void verify_run(const verify_target *target, const verify_queue *queue, const verify_queue *simulated, double seconds,
                verify_result *result);
/* Repeats one history of the simulated machine. */
void verify_replay(const verify_queue *simulated, uint32_t seed, verify_result *result);

#ifdef __cplusplus
}
#endif
#endif
