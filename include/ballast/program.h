/* Template: a typed program. Include after the task function, once per program:
 *
 *     #define BL_PROGRAM  NAME            defines  const bl_program *NAME_cpu(void)  in a .c file,
 *                                                  extern "C" const bl_program *NAME_cuda(void)  in a .cu file
 *     #define BL_PAYLOAD  type            what a task carries; a plain type whose size is a multiple of 4, aligned to
 *                                         at most 128 bytes
 *     #define BL_RUN      function        (bl_task *, const BL_PAYLOAD *, uint32_t index, const BL_SHARED *,
 *                                         BL_LOCAL *)
 *   or instead of it, for loops whose steps are small,
 *     #define BL_RANGE_RUN function       (bl_task *, const BL_PAYLOAD *, uint32_t begin, uint32_t end, const
 *                                         BL_SHARED *, BL_LOCAL *): runs a piece of the range; meanwhile others can
 *                                         steal the part of the range that has not been started
 *   and if wanted
 *     #define BL_SHARED   type            (default bl_nothing) passed by value to every run; pointers in it point to
 *                                         memory of the device
 *     #define BL_LOCAL    type            (default bl_nothing) per lane, zeroed when a worker starts ...
 *     #define BL_BEGIN    function        ... then given to (const BL_SHARED *, BL_LOCAL *, uint32_t worker) ...
 *     #define BL_MERGE    function        ... and to (const BL_SHARED *, const BL_LOCAL *) when it ends: add up with
 *                                         atomics, free what BL_BEGIN has allocated. Both are called by every lane, and
 *                                         once more after each pause (bl_stats.pauses); of waves, in each launch
 *     #define BL_SCRATCH  type            memory shared by the lanes of one task, t->scratch
 *     #define BL_SPLIT    function        (BL_PAYLOAD *kept, BL_PAYLOAD *given, uint32_t begin, uint32_t end, const
 *                                         BL_SHARED *) -> middle: where to divide a range for a thief, begin < middle <
 *                                         end; both payloads are copies. Default: in half
 *     #define BL_GRAIN    n               BL_RANGE_RUN: indices taken at once; default 0: as many as take some
 *                                         microseconds. With BL_REDUCE: indices of a block; default 0: 1 to 1024, by
 *                                         the length of the loop (bl_run_reduce)
 *     #define BL_RESULT   type            what a task returns (task.h: bl_return, bl_fork); a plain type as BL_PAYLOAD
 *                                         is
 *     #define BL_JOIN     function        (bl_task *, const BL_PAYLOAD *forked, const BL_RESULT *results, uint32_t
 *                                         count, const BL_SHARED *, BL_LOCAL *)
 *     #define BL_JOIN_WIDTH n             children of one fork, up to 32767; default 8. A CPU takes wider forks too, if
 *                                         more slowly, but not with a checkpoint or in a run that a GPU shares;
 *                                         elsewhere they are an error
 *     #define BL_SUM 1                    instead of BL_JOIN: results are uint64_t and add up
 *     #define BL_REDUCE   function        instead of BL_JOIN: (BL_RESULT *into, const BL_RESULT *next) combines two
 *                                         results into the first. The result of a fork is that of its children,
 *                                         combined from the first index to the last. With BL_RANGE_RUN: the reduction
 *                                         of a loop (bl_run_reduce), whose body gets blocks of BL_GRAIN indices,
 *                                         returns the result of each (bl_return), and neither spawns nor forks
 *     #define BL_OWN      member          with BL_REDUCE and BL_RUN: the member of BL_PAYLOAD, a BL_RESULT, that holds
 *                                         what the forking task itself contributes; it comes before its children's
 *     #define BL_MAX_SPAWN n              entries that one task spawns (bl_spawn, bl_spawn_n and bl_fork count one
 *                                         each); default 1. On a CPU a task may spawn more; elsewhere that is an error.
 *                                         There a task also counts what is spawned by joins that its result completes
 *     #define BL_LANE_TASKS 1             every lane runs a task of its own; default 0: the lanes of a block share one
 *     #define BL_LANES    n               lanes per block on a GPU, a multiple of 32; default 128
 *     #define BL_RESIDENT n               lane tasks: warps that a multiprocessor should hold at once, a multiple of 4.
 *                                         The compiler limits registers so that n warps fit, and a run has n workers
 *                                         per multiprocessor unless config.workers is set. Default: as many as fit
 *     #define BL_SCHEDULERS which         on a GPU every scheduler is a kernel of its own, so a program names those
 *                                         that it wants beside the default one: BL_SCHEDULERS_PAPERS, BL_SCHEDULERS_ALL
 *                                         (takes minutes), or a list of them with |, as in (BL_SCHEDULER_steal_abp |
 *                                         BL_SCHEDULER_list). A CPU and the simulated machine always have all. The
 *                                         other kind of group, which config.group can ask for, has the default one;
 *                                         | BL_SCHEDULERS_OWN_GROUP leaves that kernel out
 *     #define BL_AUTO     "steal:bwd"     what "auto" means for this program, where it has that scheduler; default:
 *                                         what the library chooses
 *     #define BL_OPEN     1               on a GPU: its runs can be open to submissions (bl_start_open) and shared with
 *                                         other devices ("cpu+cuda:0"), by a kernel of their own, with the default
 *                                         scheduler; default 0. Elsewhere any run can
 *     #define BL_CHECKED  1               more checks, which cost time, also on GPUs: sums of BL_SUM that reach 2^48,
 *                                         payloads and results at addresses that are no multiple of 4. For all programs
 *                                         of a file: -DBL_CHECKED
 *     #define BL_DONE_TEST function       (const BL_SHARED *) -> bool: what the papers ask instead of detecting
 *                                         termination
 *     #include <ballast/program.h>
 *
 * The task is inlined into the worker loop. All macros but BL_CHECKED are undefined again at the end.
 *
 * The compiler reports mistakes in a program where it can. Other mistakes end the run with BL_EMISUSE, and
 * bl_error_detail says what a task did. Define BL_PAYLOAD and BL_RESULT before task.h, and the compiler also checks the
 * sizes of what is spawned, forked and returned.
 */
#include "runtime/program_needs.h"

#ifndef BL_SUM
#define BL_SUM 0
#endif
/* After one of these errors the rest of the file is skipped, so that there is only one message. */
#if !defined(BL_PROGRAM) || !defined(BL_PAYLOAD) || !(defined(BL_RUN) || defined(BL_RANGE_RUN))
#error                                                                                                                 \
    "before ballast/program.h define BL_PROGRAM (its name), BL_PAYLOAD (a type) and BL_RUN or BL_RANGE_RUN (the task)"
#define BL__UNUSABLE 1
#elif defined(BL_RUN) && defined(BL_RANGE_RUN)
#error "define BL_RUN or BL_RANGE_RUN, not both"
#define BL__UNUSABLE 1
#elif defined(BL_RESULT) && !defined(BL_JOIN) && !defined(BL_REDUCE) && !BL_SUM
#error                                                                                                                 \
    "a program with BL_RESULT needs BL_JOIN (a function that gets the results of a fork), BL_REDUCE (one that combines two) or BL_SUM 1 (they add up)"
#define BL__UNUSABLE 1
#elif defined(BL_JOIN) && BL_SUM
#error "define BL_JOIN or BL_SUM, not both: results that add up are not given to a function"
#define BL__UNUSABLE 1
#elif defined(BL_REDUCE) && (defined(BL_JOIN) || BL_SUM)
#error "define BL_REDUCE, BL_JOIN or BL_SUM, only one of them: each says what becomes of the results of a fork"
#define BL__UNUSABLE 1
#elif defined(BL_REDUCE) && defined(BL_SPLIT)
#error "define BL_REDUCE or BL_SPLIT, not both: the blocks of a reduction are always the same"
#define BL__UNUSABLE 1
#elif defined(BL_OWN) && (!defined(BL_REDUCE) || defined(BL_RANGE_RUN))
#error "BL_OWN is for programs with BL_REDUCE and BL_RUN"
#define BL__UNUSABLE 1
#elif !defined(BL_RESULT) && (defined(BL_JOIN) || defined(BL_REDUCE) || BL_SUM)
#error "a program with BL_JOIN, BL_REDUCE or BL_SUM needs BL_RESULT (the type of what a task returns)"
#define BL__UNUSABLE 1
#else
#define BL__UNUSABLE 0
#endif
#if !BL__UNUSABLE
#ifdef BL_CHECKED
#define BL__CHECKS (BL_CHECKED + 0)
#else
#define BL__CHECKS 0
#endif
#ifndef BL_SHARED
#define BL_SHARED bl_nothing
#define BL__SHARED_BYTES 0
#elif !defined(BL__SHARED_BYTES) /* cpp.h knows whether it is bl_nothing */
#define BL__SHARED_BYTES sizeof(BL_SHARED)
#endif
#ifndef BL_LOCAL
#define BL_LOCAL bl_nothing
#endif
#ifdef BL_SCRATCH
#define BL__SCRATCH_BYTES sizeof(BL_SCRATCH)
#else
#define BL__SCRATCH_BYTES 0
#endif
#ifndef BL_MAX_SPAWN
#define BL_MAX_SPAWN 1
#endif
#ifndef BL_LANE_TASKS
#define BL_LANE_TASKS 0
#endif
#ifndef BL_RESIDENT
#define BL_RESIDENT 0
#endif
#ifndef BL_LANES
#define BL_LANES 128
#endif
#ifndef BL_GRAIN
#define BL_GRAIN 0
#endif
#ifndef BL_SCHEDULERS
#define BL_SCHEDULERS BL_SCHEDULERS_DEFAULT
#endif
#ifndef BL_AUTO
#define BL_AUTO NULL
#endif
#ifndef BL_OPEN
#define BL_OPEN 0
#endif
#ifdef BL_TARGET_CUDA
#define BL__OPENS BL__CLOSED /* but two of the kernels are not */
#define BL__CAN_OPEN (BL_OPEN)
#else
#define BL__OPENS (BL__OPEN | BL__SHARED)
#define BL__CAN_OPEN 1
#endif
/* What our names for parts of the program begin with. */
#define BL__OF_PROGRAM BL_CAT(bl__, BL_PROGRAM)
/* Its types by such names: one that is called `shared` or `w` would be hidden by our parameters. */
typedef BL_PAYLOAD BL_CAT(BL__OF_PROGRAM, _payload_type);
typedef BL_SHARED BL_CAT(BL__OF_PROGRAM, _shared_type);
typedef BL_LOCAL BL_CAT(BL__OF_PROGRAM, _local_type);
#undef BL_PAYLOAD
#undef BL_SHARED
#undef BL_LOCAL
#define BL_PAYLOAD BL_CAT(BL__OF_PROGRAM, _payload_type)
#define BL_SHARED BL_CAT(BL__OF_PROGRAM, _shared_type)
#define BL_LOCAL BL_CAT(BL__OF_PROGRAM, _local_type)
#ifdef BL_RESULT
typedef BL_RESULT BL_CAT(BL__OF_PROGRAM, _result_type);
#undef BL_RESULT
#define BL_RESULT BL_CAT(BL__OF_PROGRAM, _result_type)
#endif
#ifdef BL_REDUCE
#include "runtime/reduce.inc.h"
#endif
#ifndef BL__LOOP_AT
#define BL__LOOP_AT 0u
#endif
/* What an entry carries: with results also where they go. */
#ifdef BL_RESULT
#define BL__JOINS 1
typedef struct BL_CAT(BL__OF_PROGRAM, _carried) {
    BL_PAYLOAD payload;
    uint32_t join;
} BL_CAT(BL__OF_PROGRAM, _carried);
#define BL__CARRIED BL_CAT(BL__OF_PROGRAM, _carried)
#define BL__PAYLOAD_OF(carried) (&(carried)->payload)
#else
#define BL__JOINS 0
#define BL_RESULT bl_nothing
#define BL__CARRIED BL_PAYLOAD
#define BL__PAYLOAD_OF(carried) (carried)
#endif
#ifndef BL_JOIN_WIDTH
#define BL_JOIN_WIDTH 8
#endif
BL__ASSERT(sizeof(BL_PAYLOAD) % 4 == 0,
           "the size of BL_PAYLOAD must be a multiple of 4: add a member that fills it up");
BL__ASSERT(sizeof(BL_RESULT) % 4 == 0, "the size of BL_RESULT must be a multiple of 4: add a member that fills it up");
BL__ASSERT(BL__ALIGN_OF(BL_PAYLOAD) <= BL_LINE && BL__ALIGN_OF(BL_RESULT) <= BL_LINE,
           "BL_PAYLOAD and BL_RESULT must not be aligned to more than 128 bytes");
BL__ASSERT(!(BL_SUM) || sizeof(BL_RESULT) == 8, "with BL_SUM the type of BL_RESULT must be uint64_t");
BL__ASSERT((BL_JOIN_WIDTH) > 0 && (BL_JOIN_WIDTH) <= BL__MOST_CHILDREN, "BL_JOIN_WIDTH must be 1 to 32767");

#define BL__RESULT_BYTES (BL__JOINS ? (uint32_t)sizeof(BL_RESULT) : 0u)
#define BL__PAYLOAD_AT BL__UP(BL__RECORD_KEEPS, BL__ALIGN_OF(BL_PAYLOAD))
#define BL__RESULTS_AT                                                                                                 \
    (BL__JOINS && !(BL_SUM)                                                                                            \
         ? BL__UP(BL__PAYLOAD_AT + (uint32_t)sizeof(BL_PAYLOAD), BL__MAX(8u, BL__ALIGN_OF(BL_RESULT)))                 \
         : 0u)
#define BL__RECORD_BYTES                                                                                               \
    (BL__JOINS && !(BL_SUM) ? BL__UP(BL__RESULTS_AT + BL__MAX(BL__RESULT_BYTES * (BL_JOIN_WIDTH), 8u),                 \
                                     BL__MAX(8u, BL__MAX(BL__ALIGN_OF(BL_PAYLOAD), BL__ALIGN_OF(BL_RESULT))))          \
                            : (uint32_t)sizeof(bl__record))
#ifndef BL_ENTRY_WORDS
#define BL_ENTRY_WORDS(run) ((uint32_t)sizeof(BL__CARRIED) / 4 + BL__ENTRY_HEAD)
#define BL__PAYLOAD_BYTES(run) ((uint32_t)sizeof(BL_PAYLOAD))
#else /* bl_program_from_function: not known before a run */
#define BL__PAYLOAD_BYTES(run) (4u * (BL_ENTRY_WORDS(run) - BL__ENTRY_HEAD))
#endif

#include "runtime/calls.inc.h"

/* A body that is given pieces of a range: where tasks run one after another. */
#define BL__TAKES_PIECES (BL__PIECES && (BL_WARP == 1 || !BL_KIND_LANE))

/* The worker loop, for the program's own kind of group and, where a warp has lanes, for the other. */
#define BL_KIND_LANE (BL_LANE_TASKS || BL_WARP == 1)
#ifdef BL_TARGET_CUDA
#include <ballast/generated/kernels.inc.h>
#undef BL_KIND_LANE
#define BL_KIND_LANE (!(BL_LANE_TASKS))
#include <ballast/generated/kernel_default.inc.h>
#undef BL_KIND_LANE
#undef BL__OPENS
#define BL_KIND_LANE (BL_LANE_TASKS)
#define BL__OPENS BL__OPEN
#include <ballast/generated/kernel_open.inc.h>
#undef BL__OPENS
#define BL__OPENS BL__SHARED
#include <ballast/generated/kernel_shared.inc.h>
#else
#include "runtime/policy_loops.inc.h"
#if BL_WARP > 1
#undef BL_KIND_LANE
#define BL__OTHER 1
#define BL_KIND_LANE (!(BL_LANE_TASKS))
#include "runtime/policy_loops.inc.h"
#undef BL__OTHER
#endif
#endif
#undef BL_KIND_LANE

#include "runtime/program_table.inc.h"

#endif /* BL__UNUSABLE */

#undef BL__UNUSABLE
#undef BL__CHECKS
#undef BL__PAYLOAD_AT
#undef BL__PAYLOAD_BYTES
#undef BL__CALLS
#undef BL__MIDDLE
#undef BL__SHARED_BYTES
#undef BL__SCRATCH_BYTES
#undef BL__HAS_DONE_TEST
#undef BL__OF_PROGRAM
#undef BL_PROGRAM
#undef BL_PAYLOAD
#undef BL_RUN
#undef BL_RESULT
#undef BL_JOIN
#undef BL_JOIN_WIDTH
#undef BL_SUM
#undef BL_REDUCE
#undef BL_OWN
#undef BL__REDUCED
#undef BL__LOOP_AT
#undef BL__JOINS
#undef BL__CARRIED
#undef BL__PAYLOAD_OF
#undef BL__RESULT_BYTES
#undef BL__RESULTS_AT
#undef BL__RECORD_BYTES
#undef BL_RANGE_RUN
#undef BL_SPLIT
#undef BL__SPLITS
#undef BL_GRAIN
#undef BL__PIECES
#undef BL__CALL
#undef BL_SHARED
#undef BL_LOCAL
#undef BL_BEGIN
#undef BL_MERGE
#undef BL_SCRATCH
#undef BL_MAX_SPAWN
#undef BL_LANE_TASKS
#undef BL_LANES
#undef BL_RESIDENT
#undef BL_SCHEDULERS
#undef BL_AUTO
#undef BL_OPEN
#undef BL__OPENS
#undef BL__CAN_OPEN
#undef BL__TAKES_PIECES
#undef BL_DONE_TEST
#undef BL_ENTRY_WORDS

#include "task.h" /* of this program its calls know nothing any more */
