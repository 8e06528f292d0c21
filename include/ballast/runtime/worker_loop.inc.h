/* Template: THE worker loop, for every target, scheduler, queue and group.
 *
 *     give       in a run of several nodes: let another node have some; on a GPU, the porter does
 *     settle     publish what others should have, on a GPU the surplus (expose.inc.h); keep room for the next spawns
 *                and records for the next forks
 *     admit      in a run that is open: take what came from outside; with several nodes, a GPU's porter does
 *     acquire    with an empty stack: fetch, search, go idle, sleep; notice the end. A warp also fetches before it
 *                runs long tasks that are fewer than its lanes
 *     expose     on a GPU, before a batch that may take long: publish what the batch does not need
 *     run        take a batch off the private stack and run it
 *     join       pass on what tasks returned, and run joins whose children have all returned
 *     home       in a run of several nodes: the same for what another node has returned
 *     recurse    on a CPU: run the children of a fork at once, without an entry and a record
 *
 * Each is a file of loop/. Those before `run` make up `prepare`. A thread, a warp and a block have a function
 * `turns` each (loop/thread.inc.h, ...), which repeats prepare, run and join.
 *
 * A worker of lane tasks is a warp whose lanes run a task each; otherwise the lanes of a block run one task together,
 * and the block's first warp leads: it alone settles and acquires. On a CPU a warp has one lane and both are the same.
 *
 * Included once per instance with BL_PROGRAM, BL_PAYLOAD, ... (program.h), BL_INSTANCE (a word that is part of every
 * name), BL_KIND_LANE and BL_SCHEDULER: on a GPU a file of schedulers/, with its BL_QUEUE; elsewhere
 * policy_queues.inc.h or policy_waves.inc.h, which call the library's schedulers.
 */
#define BL__NAME(x) BL_CAT(BL_CAT(BL__OF_PROGRAM, _##x##_), BL_INSTANCE)
#define BL_QUEUE_(x) BL_CAT(BL_QUEUE, _##x)

#include BL_SCHEDULER

/* Private stacks that others can reach (CPU), or cannot (GPU). */
#define BL__RAIDS (BL_WARP == 1 && !BL__ENDS_ALONE)
#define BL__HIDES (BL_WARP > 1 && !BL__ENDS_ALONE)
/* Warps take turns to look for work; blocks are fewer. */
#define BL__TURNS (BL__HIDES && BL_KIND_LANE)
/* Blocks show entries with many tasks to all others at once (parts/board.h). */
#define BL__POSTS (BL__HIDES && !BL_KIND_LANE && !BL__SPLITS)
#if BL__RAIDS
#include "raid.inc.h"
#endif
/* Programs with results whose workers are threads: children of a fork run by recursion. */
#define BL__RECURSES (BL__RAIDS && BL__JOINS)
/* The same programs: their entries may come from other nodes, and their results go there. */
#define BL__IMPORTS BL__RECURSES
/* Likewise, but a porter sees to it. */
#define BL__PORTS (BL__HIDES && BL__JOINS && BL__OPENS & BL__SHARED)

/* Entries with which a thread asks other processes for more. */
#define BL__FEW 4u

/* Times that a porter steals for other nodes before it looks what else there is to do. */
#define BL__GIFTS 4u

#define BL__BATCH (BL_KIND_LANE ? BL_WARP : 1u)

#include "loop/basics.inc.h"
#include "loop/settle.inc.h"
#if BL__HIDES
#include "loop/expose.inc.h"
#endif
#if !BL__ENDS_ALONE
#include "loop/outside.inc.h"
#include "loop/idle.inc.h"
#endif
#include "loop/acquire.inc.h"

#include "loop/prepare.inc.h"

#if BL_WARP == 1
#define BL__COPIES(run, stack) (stack)->mask, (run)->fences_alone
#else
#define BL__COPIES(run, stack) 0, 0
#endif

/* What a worker gives to its tasks, of which the compiler knows most: an initialiser of bl_task. */
#define BL__TASK(run, stack, scratch, lane, worker, spare, returned)                                                   \
    {                                                                                                                  \
        stack, &(run)->control->stop, scratch, BL_KIND_LANE ? 0 : (lane), BL_KIND_LANE ? 1 : (run)->lanes,             \
            BL_ENTRY_WORDS(run), worker, run, returned, spare, BL__NO_JOIN, 0, BL__RESULT_BYTES, BL__RESULTS_AT,       \
            BL__PAYLOAD_AT, BL_SUM ? BL__MOST_CHILDREN : (BL_JOIN_WIDTH), BL__PAYLOAD_BYTES(run), BL__CHECKS,          \
            BL_MAX_SPAWN, 0, 0, 0, BL__COPIES(run, stack), NULL, NULL, NULL, NULL                                      \
    }

#if BL__JOINS
#include "loop/join.inc.h"
#endif
#if BL__IMPORTS
#include "loop/home.inc.h"
#endif
#if BL__HIDES
#include "loop/porter.inc.h"
#endif
#if BL__RECURSES
#include "loop/recurse.inc.h"
#endif
#if BL_WARP == 1
#include "loop/thread.inc.h"
#elif BL_KIND_LANE
#include "loop/warp.inc.h"
#else
#include "loop/block.inc.h"
#endif
#include "loop/close.inc.h"

#if BL__HIDES
/* Few roots: each worker has its part in memory that it can read, of the host or of the device, and no queue to take
 * it from. */
BL_FN void BL__NAME(take_roots)(bl__worker *w) {
    const bl__run *run = w->run;
    const uint32_t first = run->in_entries * w->id / run->workers,
                   n = run->in_entries * (w->id + 1) / run->workers - first;
    BL_ROLLED
    for (uint32_t i = w->lane; i < n * w->words; i += BL_WARP)
        bl__stack_slot(w->stack, w->words, w->stack->top + i / w->words)[i % w->words] =
            run->roots[first * w->words + i];
    bl_warp_sync();
    if (w->lane == 0)
        w->stack->limit = w->stack->top += n; /* no task has spawned these */
    bl_warp_sync();
}
#endif

/* The whole life of one lane of worker `id`, whose counters go to tally `slot`. */
BL_FN void BL__NAME(work)(const bl__run *run, const BL_SHARED *shared, uint32_t id, uint32_t lane, uint32_t slot,
                          bl__stack *stack, void *scratch) {
    bl__worker w = bl__worker_start(run, stack, id, lane, slot, BL__BATCH, BL_ENTRY_WORDS(run));
    bool leads = BL_KIND_LANE || lane < BL_WARP;
    BL_ASSUME(run->lanes >= BL_WARP); /* so that a block's tasks need no code for a single lane */
    BL_LOCAL local;
    memset(&local, 0, sizeof local);
    BL_BEGIN(shared, &local, slot);
    bl__returned mine = {0, BL__FORKED}; /* of a task of one lane; a block's lies where all of it can see it */
    bl_task task = BL__TASK(run, stack, scratch, lane, slot, w.spare, BL_KIND_LANE ? &mine : &stack->returned);
#if BL__JOINS && BL__HIDES
    if (leads)
        bl__spare_load(run, id, lane, w.spare);
#elif BL__JOINS
    if (lane == 0)
        w.spare[0] = 0;
#endif
#if BL__ENDS_ALONE
    if (leads)
        BL__NAME(open_share)(&w);
#endif
#if BL__RAIDS
    bl_store32_relaxed(&w.tally->slow, 0); /* of an earlier launch */
    bl_store64_relaxed(&w.tally->dry, 0);
#endif
    if (BL_CAN_SLEEP)
        w.woken = w.tally->standing == BL__AT_IDLE;
    if (leads) {
#if BL__HIDES
        if (lane == 0)
            w.tally->since = bl_clock32();
        if (run->roots)
            BL__NAME(take_roots)(&w);
#endif
#if BL__TURNS
        if (lane == 0)
            BL__NAME(count_in)(&w);
#endif
        BL__NAME(spend)(&w, 0 - bl_clock());
        BL__NAME(stand)(&w, BL__AT_WORK);
        BL__NAME(note)(&w, BL__AT_WORK);
        bl_warp_sync();
    }
#if BL__HIDES
    if (BL__HAS_PORTER(run) && id == 0) {
        bl__worker porter = w; /* in memory; all others have theirs in registers */
        BL_LOCAL of_porter = local;
        BL__NAME(carry)(&porter, lane, scratch, shared, &of_porter);
        local = of_porter;
    } else if (!(BL__HAS_PORTER(run) && run->settles))
#endif
        BL__NAME(turns)(&w, &task, shared, &local);
    if (BL_WARP > 1)
        bl_warp_sync(); /* so that the lanes merge at the same time: bl_merge_add64 */
    BL_MERGE(shared, &local);
    if (leads) {
#if BL__TURNS
        if (lane == 0)
            bl__quarter_counts(&w, 0 - BL__HAS_WORK);
#endif
        BL__NAME(stand)(&w, BL__AT_END);
        BL__NAME(note)(&w, BL__AT_END);
        BL__NAME(close)(&w);
        if (lane == 0)
            bl__wake_all_if_stopped(run);
    }
}

#undef BL__BATCH
#undef BL__TASK
#undef BL__COPIES
#undef BL__RECURSES
#undef BL__IMPORTS
#undef BL__PORTS
#undef BL__FRAME_RESULTS
#undef BL__RETURNS
#undef BL__RAIDS
#undef BL__FEW
#undef BL__GIFTS
#undef BL__HIDES
#undef BL__TURNS
#undef BL__POSTS
#undef BL__ENDS_ALONE
#undef BL__STAYS
#undef BL__EMPTY_WHEN_IDLE
#undef BL__CLAIM_LEAVES
#undef BL__LEAVES
#undef BL_QUEUE_
#undef BL__NAME
