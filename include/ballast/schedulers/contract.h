/* The contract of every scheduler in this folder. A scheduler is a template: it is included once per queue that fits it and names its
 * functions through BL__NAME. `w` is the worker; all lanes of its leading warp call together and get the same answer.
 *
 *   uint32_t BL__NAME(fetch)(w)            moves entries onto the empty private stack; how many. Who steals says so first: bl__worker_looks
 *   uint32_t BL__NAME(publish)(w, n)       takes the n oldest entries off the private stack; how many went (fewer: FULL)
 *   uint32_t BL__NAME(shown)(w)            lane 0 only: about how many entries the queue this worker feeds holds; with none the worker publishes
 *   bool     BL__NAME(sees_work)(w)        a cheap look, called again and again by idle workers; false answers may be stale
 *   bool     BL__NAME(all_empty)(w)        a full look: exact when every worker is idle
 *   void     BL__NAME(leave)(w)            only with BL__LEAVES defined: the worker stops; what it has taken and not fetched goes onto the stack
 *   BL__ENDS_ALONE                         1: a worker with nothing to fetch is finished, and the last two are not asked (static)
 *
 * Each file states, in a line that the build reads, which queues it takes, what of bl_config it uses and what the tool says about it:
 *   BL_SCHEDULER_PROPERTIES NAME: QUEUES COUNT USES text
 *     QUEUES = none, fifo, any or range
 *     COUNT  = one, or many: a queue per worker
 *     USES   = nothing, or the words of BL_USES_... in ballast.h, as in capacity|private; a run is refused that is given another way to steal or to end
 * What a run is given (number of queues, victims, private stack) is decided in src/run.c; src/schedulers.c holds the papers' names.
 */
