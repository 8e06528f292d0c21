/* The contract of every scheduler in this folder. A scheduler is a template: it is included once per queue that fits it
 * and names its functions through BL__NAME. `w` is the worker; all lanes of its leading warp call together and get the
 * same answer.
 *
 *   uint32_t BL__NAME(fetch)(w)            moves entries onto the private stack, on which w->holds tasks may lie
 *                                          already; how many. A thief says so first: bl__worker_looks
 *   uint32_t BL__NAME(publish)(w, n)       takes the n oldest entries off the private stack; how many went (fewer:
 *                                          FULL)
 *   uint32_t BL__NAME(shown)(w)            lane 0 only: about how many entries the queue this worker feeds holds; with
 *                                          none the worker publishes
 *   bool     BL__NAME(sees_work)(w)        a cheap look, called again and again by idle workers; false answers may be
 *                                          stale
 *   bool     BL__NAME(all_empty)(w)        a full look: exact when every worker is idle
 *   BL__EMPTY_WHEN_IDLE                    true: nobody but its owner feeds a queue, and a worker that goes idle has
 *                                          found its own empty, and the boards. So all queues are empty when all
 *                                          workers are idle, and nobody needs to look at thousands of them
 *   BL__CLAIM_LEAVES                       true: BL__EMPTY_WHEN_IDLE, and a worker that leaves idle gets entries only
 *                                          by an operation that nobody sees sooner than that it has left: so it need
 *                                          not wait until it has
 *   void     BL__NAME(leave)(w)            only with BL__LEAVES defined: the worker stops; what it has taken and not
 *                                          fetched goes onto the stack
 *   uint32_t BL__NAME(rob_half)(w, i, n)   only with BL__ROBS defined, and only where that is true: by a thread that is
 *                                          no worker, half of what is in the queue of worker i, n entries at most
 *   BL__ENDS_ALONE                         1: a worker with nothing to fetch is finished; sees_work and all_empty are
 *                                          not asked (waves.inc.h)
 *
 * BL__TAKES_PIECES is true where the program is given pieces of a range (BL_RANGE_RUN): then bl__piece says how many
 * indices to take.
 *
 * For a CPU and for the simulated machine each scheduler is compiled once, into the library, and the worker loop of a
 * program calls it through a table (runtime/policy.h). On a GPU it is inlined into the kernel.
 *
 * Each file states, in lines that the build reads, all that the library and the tool know of it:
 *   BL_SCHEDULER_PROPERTIES NAME: QUEUES COUNT TRAITS USES
 *     QUEUES = none, fifo, any or range
 *     COUNT  = one, or many: a queue per worker
 *     TRAITS = the words of BL_TRAIT_... in ballast.h, as in steals|greedy: what the host plans a run by
 *     USES   = nothing, or the words of BL_USES_... in ballast.h, as in capacity|private; a run that asks for another
 *            policy of stealing or termination is rejected
 *   BL_SCHEDULER_TEXT text
 *     what the tool says about it
 *   BL_SCHEDULER_FORM NAME: TRAITS text
 *     schedulers without queues are one text in several forms, which differ in their traits
 * The papers' names are in cmake/discover.cmake.
 */
