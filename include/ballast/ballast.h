/* Ballast: dynamic load balancing of irregular work on CPUs and GPUs.
 *
 * A program is a task function, its payload type and shared data (see program.h, or bl_program_from_function below for
 * CPU-only use). A context is a device and the way work is balanced on it. bl_run runs a program from its first tasks
 * until nothing is left; bl_start and bl_wait are its two halves.
 *
 * Thread safety: different contexts are independent. A context serves one call at a time: while one is under way, every
 * other call on that context returns BL_EBUSY at once, from any thread, from a task and from config.progress. The
 * exceptions: bl_cancel, bl_progress, bl_device_id, _name and _target, and the calls that start, submit and wait, as
 * described there.
 *
 * Fork: a context belongs to the process that opened it. In a forked child bl_close frees the child's copy, and every
 * other call returns BL_EDEAD.
 *
 * Memory: bl_close frees everything a context has allocated, for itself or by bl_alloc.
 *
 * A NULL context (bl_open failed) is BL_EINVAL; functions that return no status return NULL, 0 or "".
 *
 * Nothing exits the process, and nothing is printed unless the environment asks for it: with BALLAST_LOG=1 a context
 * prints one line per run on standard error.
 */
#ifndef BL_BALLAST_H
#define BL_BALLAST_H

#include <ballast/export.h>
#include <ballast/queues/properties.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BL_VERSION "0.1.0"

/* Every status: name, what it means. bl_status_name and bl_status_text come from this table. */
#define BL_STATUS_MAP(X)                                                                                               \
    X(OK, "success")                                                                                                   \
    X(EINVAL, "an argument is out of range")                                                                           \
    X(ENOMEM, "out of memory")                                                                                         \
    X(ENODEVICE, "no such device here")                                                                                \
    X(ESCHEDULER, "no such scheduler")                                                                                 \
    X(ENOCODE, "the program has no code for this device, scheduler or group")                                          \
    X(ETASK, "a task reported an error")                                                                               \
    X(EMISUSE, "a task broke a rule of its program")                                                                   \
    X(ETOOMANY, "more tasks at once than the scheduler can number")                                                    \
    X(ESTALL, "no progress within the stall time")                                                                     \
    X(EDEVICE, "the device reported an error")                                                                         \
    X(EDEAD, "the context is unusable after an earlier stall or device error, or in a forked child")                   \
    X(ETIME, "the time limit was reached")                                                                             \
    X(ECANCEL, "cancelled")                                                                                            \
    X(EFILE, "a checkpoint cannot be written, read or used")                                                           \
    X(EBUSY, "the context is busy with another call")                                                                  \
    X(EFULL, "no room for what was submitted")                                                                         \
    X(ECLOSED, "no run takes submissions")

typedef enum bl_status {
#define BL__STATUS(name, text) BL_##name,
    BL_STATUS_MAP(BL__STATUS)
#undef BL__STATUS
        BL_STATUS_COUNT
} bl_status;

BL_API const char *bl_status_name(int status); /* "BL_ENOMEM" */
BL_API const char *bl_status_text(int status); /* "out of memory" */
BL_API const char *bl_version(void);

/* ---- context ---- */

typedef struct bl_context bl_context;
typedef struct bl_program bl_program;

#define BL_NONE UINT32_MAX /* "none", for numbers in bl_config where 0 means the default */

typedef enum bl_victims { BL_VICTIMS_DEFAULT, BL_VICTIMS_ROUND_ROBIN, BL_VICTIMS_RANDOM } bl_victims;
typedef enum bl_done_test { BL_DONE_TEST_DEFAULT, BL_DONE_TEST_ASK, BL_DONE_TEST_IGNORE } bl_done_test;
typedef enum bl_steal { BL_STEAL_DEFAULT, BL_STEAL_ONE, BL_STEAL_HALF } bl_steal;

/* How to balance. A zeroed config is the default in every field. bl_scheduler_uses tells which fields a scheduler uses.
 * Sizes that it does not use are ignored; a policy that it does not support (victims, steal, done_test) makes the run
 * return BL_EINVAL, and bl_error_detail names the field. */
typedef struct bl_config {
    /* "auto" (a usable GPU, else the CPU), "cpu", "cuda", "cuda:N", "sim". "cpu+cuda:0", "cuda:0+cuda:1", "cpu+cpu", up
     * to 16 names: nodes that share each run, with workers of their own (docs/cluster.md). "all": the CPU, every GPU */
    const char *device;
    /* "auto" (the program's BL_AUTO, or stealing, or for a loop on a GPU list:faa), a name from bl_scheduler_name,
     * or one of the papers' names */
    const char *scheduler;
    const char *group; /* what runs one task: "lane", "warp", "block:LANES"; default: what the program asks for */
    /* Default: all that fit. On a CPU that is the cores that this process may use: its affinity mask, and its CPU
     * quota (cgroups) rounded up, or the environment's BALLAST_WORKERS if that is less. On a GPU the number is clamped
     * to what fits (see bl_stats.workers). Several devices: the number for each, or for each CPU if there are CPUs and
     * other devices; by default nodes on the same device divide what fits. */
    uint32_t workers;
    uint32_t capacity;        /* entries per shared queue at the start; it grows */
    uint32_t private_entries; /* private stack per worker; BL_NONE: none, everything goes through the shared queues */
    /* Programs with BL_RANGE_RUN: indices taken at once; default: the program's, else as many as take some
     * microseconds. With BL_REDUCE: see bl_run_reduce. */
    uint32_t grain;
    bl_victims victims;
    bl_steal steal;
    /* BL_DONE_TEST_ASK: the run ends when the program's own test says so (BL_DONE_TEST), as in the papers. Default:
     * only under the papers' names; otherwise termination is detected. */
    bl_done_test done_test;
    uint64_t seed;        /* of victim choice and of the simulated machine's schedule; 0 means 1 */
    double stall_seconds; /* a run without progress for this long ends with BL_ESTALL; default 60 */
    void *stream;         /* CUDA only: a cudaStream_t to launch on; default: the context's own */
    /* CPU only, 1: every worker stays on one core, out of those that the thread calling bl_run may use, and where
     * possible on one that no other bound worker of this process has. Default 0: workers move within that set as the
     * system sees fit. */
    uint32_t bind;
    /* Stopping and resuming a run: see below. */
    double time_limit;          /* seconds that the runs of this context may take together; default: no limit */
    const char *checkpoint;     /* the file that a stopped run is saved to; default: none */
    double checkpoint_seconds;  /* how often it is also written during the run; default 60 */
    const char *resume;         /* such a file, to resume a run from; default: none */
    const char *checkpoint_tag; /* distinguishes checkpoints of this problem from others; default: "" */
    /* Called about ten times a second from the thread that called bl_run, or after bl_start from the context's own,
     * with the tasks run so far in this process. */
    void (*progress)(void *arg, uint64_t tasks);
    void *progress_arg;
    /* CPU only. Default 0: the thread that calls bl_run is one of the workers, so that a short run costs no more than
     * its tasks. But then bl_run cannot return while that thread is in a task, not even with BL_ESTALL. 1: it only
     * waits. With `progress` or `bind` it always only waits, because it calls `progress` and must not be bound. After
     * bl_start the same holds for the context's own thread. */
    uint32_t caller_waits;
    /* Called for each entry that a run which ends early did not execute, before bl_run or bl_wait returns: see
     * bl_cancel. */
    void (*left)(void *arg, const void *payload, uint32_t begin, uint32_t end);
    void *left_arg;
    /* Which worker should start with root i, modulo the number of workers: a hint, for schedulers with a queue per
     * worker. An idle worker may steal it first. Default: the roots are dealt out evenly. */
    uint32_t (*place)(void *arg, uint32_t root);
    void *place_arg;
    /* Runs that are open to submissions (bl_start_open): how many submissions may wait to be taken or, if the program
     * has results, to be answered; default 1024. */
    uint32_t inbox;
    /* Called with the result of each submission: see bl_start_open. */
    void (*answer)(void *arg, uint64_t ticket, const void *result);
    void *answer_arg;
} bl_config;

/* What a run did. */
typedef struct bl_stats {
    uint64_t tasks;          /* indices run: the same for every scheduler */
    double seconds;          /* the run itself; on a GPU: device time, excluding set-up */
    uint64_t steals;         /* entries taken from another worker's queue, and tasks from boards (GPU: design.md); of
                              * a GPU among several nodes, also those that it gave to others */
    uint64_t steal_attempts; /* tries to do so, successful or not */
    uint64_t peak_entries;   /* entries: the sum of the workers' high-water marks */
    /* The papers' figure: the largest queue times the number of queues, or the most tasks of a launch. */
    uint64_t paper_tasks;
    uint64_t peak_bytes; /* memory of the run itself: queues, stacks, pools */
    double balance;      /* busy time of the least busy worker over that of the busiest, 0..1; a thread that found
                            nothing to run does not count, except in waves */
    uint32_t workers;
    uint32_t lanes;  /* lanes per worker */
    uint32_t pauses; /* how often the run paused, to grow or for the host */
    /* Static and list schedulers: the number of waves, even if several share a launch (a wave too large for one launch
     * counts once per launch). Otherwise 1 plus the number of pauses. */
    uint32_t launches;
    char scheduler[32]; /* the complete name of what ran */
    char group[16];
    double wall_seconds; /* how long the caller waited: the run and everything around it */
    uint64_t left;       /* tasks that were not run because the run ended early */
} bl_stats;

/* Writes the statistics as one line without a newline, "scheduler=steal:chase_lev group=lane workers=8 tasks=...", with
 * the field names above. Returns the length like snprintf: `size` or more means that the text was truncated. */
BL_API int bl_stats_text_sized(char *text, size_t size, const bl_stats *stats, size_t stats_bytes);
static inline int bl_stats_text(char *text, size_t size, const bl_stats *stats) {
    return bl_stats_text_sized(text, size, stats, sizeof(bl_stats));
}

/* `config` may be NULL. On failure *context is NULL, and bl_error_detail(NULL) says why. The sizes are those of the
 * caller's bl_config and bl_stats: both structs may grow at the end, and a program compiled for an older version still
 * works with a newer library. */
BL_API int bl_open_sized(bl_context **context, const bl_config *config, size_t config_bytes, size_t stats_bytes);
static inline int bl_open(bl_context **context, const bl_config *config) {
    return bl_open_sized(context, config, sizeof(bl_config), sizeof(bl_stats));
}
/* NULL is fine. Waits for what was started (bl_start): call bl_cancel first if it need not finish. If a run is open to
 * submissions, ends them first. BL_EBUSY during another call, and from a task or config.progress of this context; then
 * nothing is closed. */
BL_API int bl_close(bl_context *context);

BL_API const char *bl_device_id(const bl_context *context);     /* "cpu", "cuda:0", "sim" */
BL_API const char *bl_device_name(const bl_context *context);   /* the vendor's name */
BL_API const char *bl_device_target(const bl_context *context); /* whose code it runs: "cpu", "cuda", "sim" */

/* Details of the last error of this context (which argument, where each worker was, what CUDA said), or "". With NULL:
 * of this thread's last error in a call without a context, such as bl_open, or in a call that is allowed while the
 * context is busy: bl_start_after, bl_hold_stream, bl_submit, bl_try_submit, bl_submit_end, and bl_start behind other
 * starts. BL_EINVAL and BL_ENOMEM always come with a detail. A context's BL_EBUSY has none, so that the detail of the
 * other call stays. Read the details of a started run after bl_wait has returned. */
BL_API const char *bl_error_detail(const bl_context *context);

/* ---- memory of the context's device ---- */

BL_API int bl_alloc(bl_context *context, void **memory, size_t bytes); /* zero bytes give a valid pointer too */
/* NULL is fine. BL_EINVAL: not from bl_alloc of this context. If the call fails, bl_close still frees the block. */
BL_API int bl_free(bl_context *context, void *memory);
BL_API int bl_copy_in(bl_context *context, void *device, const void *host, size_t bytes);
BL_API int bl_copy_out(bl_context *context, void *host, const void *device, size_t bytes);
/* A context with devices of several kinds, or several GPUs, has several memories; any other has one. bl_alloc allocates
 * a block in each and returns the address in the first; bl_free, bl_copy_in and bl_zero act on all of them. Where the
 * shared struct holds an address in the first memory, tasks find that of their own device; payloads must not contain
 * addresses. Tasks write to the memory of the device that runs them: read each memory, counting from 0, and combine the
 * results. */
BL_API uint32_t bl_memories(const bl_context *context);
BL_API int bl_copy_out_of(bl_context *context, uint32_t memory, void *host, const void *device, size_t bytes);
BL_API int bl_zero(bl_context *context, void *device, size_t bytes);
/* A context keeps the buffers of a run for the next one. bl_trim frees them. The library also does so before it returns
 * BL_ENOMEM, and in bl_close. */
BL_API int bl_trim(bl_context *context);

/* ---- running ---- */

/* Runs `program` from `count` root payloads, each one task. `shared` (may be NULL if the program has none) is
 * copied; pointers in it point to memory of the context's device. `stats` may be NULL. Blocks until nothing is left. */
BL_API int bl_run(bl_context *context, const bl_program *program, const void *shared, const void *roots, uint32_t count,
                  bl_stats *stats);

/* The same for a program with BL_RESULT: what root i returned becomes element i of `results`, which is memory of the
 * host. */
BL_API int bl_run_join(bl_context *context, const bl_program *program, const void *shared, const void *roots,
                       uint32_t count, void *results, bl_stats *stats);

/* Runs one payload with the index range [0, count): a parallel loop whose tasks may spawn more. `payload` may be NULL
 * if BL_PAYLOAD is bl_nothing. The range is dealt out evenly at first, and what turns out uneven is stolen. With 2^32
 * indices or more it is run in parts, one after another: bl_index of task.h gives the whole index. To a checkpoint each
 * part is a run. */
BL_API int bl_run_range(bl_context *context, const bl_program *program, const void *shared, const void *payload,
                        uint64_t count, bl_stats *stats);

/* A loop with a result, of a program with BL_RANGE_RUN and BL_REDUCE: the indices [0, count) are cut into blocks, and
 * the blocks' results are combined in the order of their indices, in a tree whose shape follows from `count` and the
 * grain alone. So *result has the same bits with any number of workers, with every scheduler and in every run. It is
 * memory of the host, and stays unchanged if `count` is 0. The grain is config.grain, or else the program's BL_GRAIN,
 * or else `count` / 4096, at least 1 and at most 1024. `count` must be below 2^32. In bl_stats and config.left the
 * tasks are the blocks and the forks above them. */
BL_API int bl_run_reduce(bl_context *context, const bl_program *program, const void *shared, const void *payload,
                         uint64_t count, void *result, bl_stats *stats);

/* How many workers a run of the program would have; bl_task.worker is less than this. Several devices number their
 * workers separately, and this is the largest of their counts. */
BL_API int bl_workers(bl_context *context, const bl_program *program, uint32_t *workers);
/* The complete name of the scheduler that a run would use; NULL if the program cannot run: bl_error_detail says why. */
BL_API const char *bl_scheduler_of(bl_context *context, const bl_program *program);
/* 1 if the context's runs choose their scheduler: config.scheduler is NULL or "auto". */
BL_API int bl_chooses(const bl_context *context);
/* 1 if the context's runs may be stopped or resumed: with a time limit, a checkpoint or config.resume. */
BL_API int bl_stops(const bl_context *context);
/* Limits the number of workers per device, from the next run on; 0: no limit. If the context has CPUs and devices of
 * other kinds, only the CPUs are limited. Meant for a run inside a task of another context, so that the two do not
 * compete for cores. On a CPU the threads that are not needed sleep. */
BL_API int bl_limit(bl_context *context, uint32_t workers);

/* The nodes of a context with several devices: the name of each, NULL past the end; what it did in the last run; ... */
BL_API const char *bl_node_device(const bl_context *context, uint32_t node);
BL_API int bl_node_stats(bl_context *context, uint32_t node, bl_stats *stats); /* BL_EINVAL: no such node */
/* ... and what it exchanged with the others. */
typedef struct bl_traffic {
    uint64_t messages, bytes;                /* sent to others; bytes: only between processes */
    uint64_t entries_sent, entries_received; /* entries of the run among them */
    uint64_t asks;                           /* requests for entries that were answered */
    double ask_seconds;                      /* total time from request to answer */
} bl_traffic;
BL_API int bl_node_traffic_sized(bl_context *context, uint32_t node, bl_traffic *traffic, size_t bytes);
static inline int bl_node_traffic(bl_context *context, uint32_t node, bl_traffic *traffic) {
    return bl_node_traffic_sized(context, node, traffic, sizeof(bl_traffic));
}

/* ---- starting now, waiting later ----
 *
 * bl_start and its like return at once, and a thread of the context does the work, in the order in which it was
 * started: copies in, one run, copies out. That thread is created on first use and sleeps in between. Meanwhile the
 * context is busy; other contexts are not, so that runs of several contexts overlap.
 *
 * bl_start and the calls below it may be made while others of them are under way, with one exception: a context has one
 * run at a time, and a second one returns BL_EBUSY. After an error, whatever is started before bl_wait has returned
 * that error is skipped.
 *
 * Arguments are checked at once, and `shared` and `roots` are copied. Everything else must stay valid until bl_wait has
 * returned something other than BL_EBUSY: the program, results, and both sides of a copy. */
BL_API int bl_start(bl_context *context, const bl_program *program, const void *shared, const void *roots,
                    uint32_t count);
BL_API int bl_start_join(bl_context *context, const bl_program *program, const void *shared, const void *roots,
                         uint32_t count, void *results);
BL_API int bl_start_range(bl_context *context, const bl_program *program, const void *shared, const void *payload,
                          uint64_t count);
BL_API int bl_start_reduce(bl_context *context, const bl_program *program, const void *shared, const void *payload,
                           uint64_t count, void *result);
BL_API int bl_start_copy_in(bl_context *context, void *device, const void *host, size_t bytes);
BL_API int bl_start_copy_out(bl_context *context, void *host, const void *device, size_t bytes);

/* Waits until everything that was started is done. Returns BL_OK or the first error. Any number of threads may wait,
 * any number of times: the status and the statistics of the last run stay until something is started on the idle
 * context. BL_EINVAL: nothing was ever started. A task or config.progress of the same context cannot wait for it:
 * BL_EBUSY. */
BL_API int bl_wait(bl_context *context, bl_stats *stats);
/* The same for a limited time; with 0 it returns at once. BL_EBUSY: not done yet. */
BL_API int bl_wait_for(bl_context *context, double seconds, bl_stats *stats);
/* Tasks that the current or last run has completed in this process; the number may be a tenth of a second old. */
BL_API uint64_t bl_progress(const bl_context *context);

/* ---- work from outside: submitting to a run under way ----
 *
 * bl_start_open starts a run that has no roots and stays open: any thread of the host submits payloads, each one task,
 * which may spawn and fork as usual. The run ends when bl_submit_end has been called and nothing is left; then bl_wait
 * returns. While there is nothing to do the workers of a CPU sleep, and that is no stall; on a GPU the kernel keeps
 * running. The run cannot use schedulers with waves, config.checkpoint or config.resume, and BL_DONE_TEST is not asked.
 * On a GPU the program needs BL_OPEN; without it bl_start_open returns BL_ENOCODE.
 *
 * bl_submit waits while there is no room (config.inbox); callers get their turn in the order of their calls.
 * bl_try_submit returns BL_EFULL instead, and then none of its payloads has been submitted. `payload_bytes` is the size
 * of one payload; any other size is BL_EINVAL. Payloads are copied. The k-th of a call gets the ticket *ticket + k;
 * tickets count from 0 in each run, and `ticket` may be NULL. A task or callback of the same context cannot submit,
 * because it might wait for itself: BL_EBUSY. BL_ECLOSED: no run is open, bl_submit_end has been called, or the run has
 * ended early; then bl_wait tells why. bl_error_detail(NULL) has the details.
 *
 * Programs with BL_RESULT: config.answer is called once per submission, with its ticket and its result, as soon as the
 * result is there. The result is valid until the callback returns. On a CPU the worker that has the result makes the
 * call, so several threads may call at once, and the callback should be short. On a GPU the context's thread calls it:
 * it polls continuously while something happens, and about every 50 microseconds after 2 ms without news. Other
 * programs deliver results as in bl_run: by BL_MERGE, and in memory that tasks write to.
 *
 * A busy worker runs a submission next, between two tasks, unless it already has much to do. So submissions start early
 * and cannot use up the memory. If the run ends early (bl_cancel, a task that fails), config.left gets what was
 * submitted and not run, and there are no answers for it. */
BL_API int bl_start_open(bl_context *context, const bl_program *program, const void *shared);
BL_API int bl_submit(bl_context *context, const void *payloads, size_t payload_bytes, uint32_t count, uint64_t *ticket);
BL_API int bl_try_submit(bl_context *context, const void *payloads, size_t payload_bytes, uint32_t count,
                         uint64_t *ticket);
/* Ends the submissions. Threads that wait in bl_submit return BL_ECLOSED. May be called repeatedly, and from tasks.
 * BL_ECLOSED: no run was ever opened. */
BL_API int bl_submit_end(bl_context *context);

/* GPUs: ordering with a stream of yours, a cudaStream_t of the same device that is not config.stream; else BL_EINVAL.
 *
 * bl_start_after: whatever is started next on the context waits for all work that is in the stream now. The GPU waits,
 * on an event; the host does not block.
 *
 * bl_hold_stream: work put into the stream from now on waits until everything that was started is done, including
 * pauses, further launches and copies, whether it succeeds or fails. The stream polls a word in host memory, which the
 * context's thread writes at the end. So no multiprocessor is occupied, and the stream continues some microseconds
 * later than bl_wait would have returned. CUDA does not know about this dependency: do not make the context's own work
 * wait, by bl_start_after or in config.stream, for anything behind the hold. Note that streams share hardware queues
 * when there are more of them than CUDA_DEVICE_MAX_CONNECTIONS (default 8, at most 32). Memory that the context frees
 * meanwhile is released when no stream is held, because cudaFree waits for all streams. If nothing is in progress,
 * nothing waits. */
BL_API int bl_start_after(bl_context *context, void *stream);
BL_API int bl_hold_stream(bl_context *context, void *stream);

/* ---- stopping and resuming a run ----
 *
 * A run can be stopped between two tasks: by bl_cancel, and by config.time_limit. Static and list schedulers cannot
 * stop before the end of a wave, and a loop is a single wave to them; "auto" avoids them where a time limit or a
 * checkpoint is asked for.
 *
 * With config.checkpoint a run that is stopped writes what is left of it to that file, and every checkpoint_seconds it
 * does so while running, so that a process that is killed loses no more than that. The file holds the tasks that have
 * not run yet, the joins that wait for them, and the contents of all memory from bl_alloc. It is replaced as a whole:
 * if it cannot be written, the run ends with BL_EFILE, and the previous file is kept.
 *
 * A context that is opened with config.resume continues from there, on any device and with any scheduler: make the same
 * allocations in the same order and call the same runs with the same arguments. Runs before the stopped one are
 * repeated and do not count against the time limit. When the stopped run begins, memory gets its contents back, and
 * tasks, steals, pauses and seconds (with set-up) include what was done before.
 *
 * Payloads and memory must not contain pointers. Shared data must be the same byte by byte, including padding, except
 * for pointers into memory from bl_alloc. A file that is damaged, or that belongs to another program, other roots,
 * shared data or sizes of memory, or another config.checkpoint_tag, is rejected with BL_EFILE, and bl_error_detail says
 * why. Set config.checkpoint_tag if runs differ in something that the library cannot see: the contents of memory, the
 * function of bl_program_from_function. A forged file is rejected if no run could have left its entries or joins; the
 * library cannot judge payloads and memory, so use only files that you trust. */

/* Processes that share a run (<ballast/link.h>) each have their own memory, and so do devices ("cpu+cuda:0"). But a
 * checkpoint holds one copy of each block from bl_alloc. bl_combine says how to make that copy.
 *
 * `combine` adds the contents that tasks left in one memory, `from`, to those in another, `into`; both are copies on
 * the host. When the run is resumed, the first memory of rank 0 gets the combined contents, and the others keep what
 * they have. NULL: the contents of the first memory are saved, because tasks only read the block or do not need the
 * other contents; when the run is resumed, all memories of rank 0 get them.
 *
 * If there are several memories, call this for every block before a run that writes or resumes a checkpoint. With a
 * single memory the call has no effect. BL_EINVAL: not memory from bl_alloc. */
typedef void (*bl_combination)(void *into, const void *from, size_t bytes);
BL_API int bl_combine(bl_context *context, void *memory, bl_combination combine);

/* Cancels the current run, unless it is about to end, and makes every later run of this context end with BL_ECANCEL,
 * until bl_reset. May be called from any thread and from signal handlers.
 *
 * Work that a run has not executed when it ends early, with BL_ECANCEL, BL_ETIME, BL_ETASK, BL_EMISUSE, BL_ENOMEM or
 * BL_ETOOMANY, is counted in bl_stats.left and passed to config.left, in the thread that drives the run: the payload of
 * an entry and its remaining indices. So a program can free what payloads point to. Several entries may have the same
 * payload, if a range was divided. For a fork that waits for its children, begin and end are 0, and the payload is the
 * one that its join would have received. In a loop of 2^32 indices or more, begin and end count within the current
 * part, and later parts are only counted. Two exceptions: a wave that stops in the middle is only counted, and after
 * BL_ENOMEM, spawned tasks for which there was no memory are lost. A stalled run passes nothing. */
BL_API void bl_cancel(bl_context *context);
/* Ends the effect of bl_cancel: later runs start normally. */
BL_API int bl_reset(bl_context *context);

/* After BL_ETASK: what the first task that failed passed to bl_fail. Stores the number in *error, unless `error` is
 * NULL, and returns a copy of the payload, valid until the next run. NULL: no task of the last run failed. */
BL_API const void *bl_failure(const bl_context *context, uint64_t *error);

/* ---- one program for several targets ----
 *
 * NAME_cpu(), NAME_cuda() and NAME_sim() return a program's code for one target. bl_program_join combines them into one
 * handle, from which a context takes the part for its device. NULL among the parts is ignored, so that a build without
 * CUDA needs no special case. Payloads and results must have the same sizes in all parts; shared data may differ, since
 * the caller of bl_run passes that of the context's device. Returns NULL if there is no part, if the parts do not
 * belong together, or if memory runs out. */
BL_API bl_program *bl_program_join(const bl_program *const *parts, uint32_t count);
/* The part for a target, "cpu", "cuda" or "sim"; NULL: there is none. */
BL_API const bl_program *bl_program_part(const bl_program *program, const char *target);
/* Frees a program from bl_program_join, bl_program_from_function or bl_program_from_body. NULL is fine. */
BL_API void bl_program_free(bl_program *program);

/* ---- timelines: what each worker did when ---- */

typedef enum bl_span_kind {
    BL_SPAN_TASKS,  /* had work: ran tasks, published, took from its own queue */
    BL_SPAN_SEARCH, /* looked for work, and perhaps stole some */
    BL_SPAN_IDLE,   /* found none, or waited for the others to end */
    BL_SPAN_PAUSE   /* between two launches, while the host works */
} bl_span_kind;

typedef struct bl_span {
    uint32_t worker; /* with static:wave on a GPU: the multiprocessor */
    bl_span_kind kind;
    uint64_t begin, end;                    /* nanoseconds since the first run began; on the simulated machine steps */
    uint64_t tasks, steals, steal_attempts; /* in this span; over all spans they add up to those of bl_stats */
    uint32_t launch;
    uint32_t parts; /* 1, or how many spans were merged into this one; then `kind` is that of the last */
} bl_span;

/* Traces runs from now on and discards earlier traces. Failed runs leave no trace. `spans_per_worker`: how many spans
 * to keep; beyond that number, short neighbouring spans are merged. 0: 4096. All workers together get at most 2^20, but
 * at least 16 each. */
BL_API int bl_trace_start(bl_context *context, uint32_t spans_per_worker);
BL_API int bl_trace_stop(bl_context *context);
/* The spans, worker by worker and in the order of time, without gaps or overlaps; NULL if there are none, and during a
 * run. Valid until the next run, bl_trace_start or bl_close. */
BL_API const bl_span *bl_trace(const bl_context *context, size_t *count);

/* ---- a plain function as a program: CPU only, no template, a call per task ---- */

typedef struct bl_task bl_task;
typedef void (*bl_task_function)(bl_task *task, const void *payload, uint32_t index, const void *shared);

/* `payload_bytes`: a multiple of 4, at most 256; calls get payloads aligned to 16 bytes. `max_spawn`: about how many
 * entries a call spawns; this is not a limit. Returns NULL if memory runs out or a size is not accepted:
 * bl_error_detail(NULL) says which. */
BL_API bl_program *bl_program_from_function(bl_task_function run, size_t payload_bytes, size_t shared_bytes,
                                            uint32_t max_spawn);
/* The body of a parallel loop: bl_run_range without a payload calls it with pieces [begin, end) of the range. */
typedef void (*bl_range_body)(uint32_t begin, uint32_t end, const void *shared);
BL_API bl_program *bl_program_from_body(bl_range_body body, size_t shared_bytes);
/* The same for a loop of 2^32 indices or more. */
typedef void (*bl_long_body)(uint64_t begin, uint64_t end, const void *shared);
BL_API bl_program *bl_program_from_long_body(bl_long_body body, size_t shared_bytes);
/* C++: an exception that leaves one of these functions ends the run with BL_ETASK, and bl_error_detail has its text;
 * the rest of that piece of a loop counts as run. Typed programs do the same (task.h). */

/* What such a function calls (typed programs include program.h and get inlined forms instead). */
BL_API void bl_task_spawn(bl_task *task, const void *payload, uint32_t count);
BL_API uint32_t bl_task_worker(const bl_task *task);
BL_API void bl_task_fail(bl_task *task, uint64_t error, const void *payload); /* bl_fail of task.h */

/* ---- what there is ---- */

/* Schedulers by number, complete names like "steal:abp"; NULL past the end. */
BL_API const char *bl_scheduler_name(uint32_t i);
BL_API const char *bl_scheduler_text(uint32_t i);
/* The fields of bl_config that only some schedulers use. BL_NONE is always accepted. */
typedef enum bl_uses {
    BL_USES_NOTHING = 0,
    BL_USES_CAPACITY = 1,
    BL_USES_PRIVATE = 2, /* private_entries */
    BL_USES_VICTIMS = 4,
    BL_USES_STEAL_ONE = 8,
    BL_USES_STEAL_HALF = 16,
    BL_USES_DONE_TEST = 32
} bl_uses;
/* Which of them a scheduler uses. Accepts the papers' names, too; BL_USES_NOTHING for an unknown name. */
BL_API uint32_t bl_scheduler_uses(const char *scheduler);
/* What kind of scheduler it is. */
typedef enum bl_traits {
    BL_TRAIT_WAVES =
        1, /* in- and out-arrays, wave after wave of tasks; it has no queues, and stops only between two waves */
    BL_TRAIT_ONE_QUEUE = 2,       /* for all workers; otherwise each has its own */
    BL_TRAIT_STEALS = 4,          /* workers take from each other's queues */
    BL_TRAIT_RANGES = 8,          /* the indices of a loop are dealt out, and stolen, as pairs of numbers */
    BL_TRAIT_GREEDY = 16,         /* no ready task waits while a worker is idle; of a wave: within it */
    BL_TRAIT_GROUP_PER_TASK = 32, /* waves: as many groups as there are tasks */
    BL_TRAIT_TURNS = 64,          /* waves: workers take turns */
    BL_TRAIT_LOCKED = 128         /* waves: the list has a lock */
} bl_traits;
/* Accepts the papers' names, too; 0 for an unknown name. */
BL_API uint32_t bl_scheduler_traits(const char *scheduler);
/* The papers' names: alias and what it stands for; NULL past the end. */
BL_API const char *bl_alias_name(uint32_t i, const char **scheduler);
/* 1 if `program` has code for that scheduler. */
BL_API int bl_program_has(const bl_program *program, const char *scheduler);

typedef struct bl_queue_info {
    const char *name;
    const char *text;     /* authors and year */
    int kind;             /* BL_QUEUE_KIND_FIFO and so on: queues/properties.h */
    uint32_t flags;       /* BL_QUEUE_LINEARIZABLE and so on */
    const char *progress; /* "lock-free", "blocking", "wait-free" */
    int by_handle;        /* carries 32-bit handles over an entry pool; else payloads by value */
    uint32_t least;       /* the smallest capacity */
    const char *devices;  /* where it runs: "cpu cuda sim" */
} bl_queue_info;
BL_API int bl_queue_info_at(uint32_t i, bl_queue_info *info); /* 0 past the end */

typedef struct bl_device_info {
    char id[16]; /* "cpu", "cuda:0", "sim" */
    char name[128];
    uint32_t workers;    /* that fit: hardware threads, or multiprocessors for a GPU */
    uint64_t memory;     /* bytes; 0 if unknown */
    uint32_t capability; /* compute capability of a GPU, 75 for 7.5; 0 otherwise */
} bl_device_info;
BL_API int bl_device_info_at(uint32_t i, bl_device_info *info); /* 0 past the end */
/* What kind of device it is. */
typedef enum bl_device_kind {
    BL_DEVICE_CPU = 1, /* workers are threads of this process */
    BL_DEVICE_GPU = 2, /* workers are warps or blocks; GPUs are numbered */
    BL_DEVICE_SIMULATED = 4,
    BL_DEVICE_SEVERAL = 8 /* a list such as "cpu+cuda:0", or "all": nodes of one run */
} bl_device_kind;
/* `device`: as in config.device, or the id of a bl_device_info. The device need not be present. "auto": the kind that
 * "auto" selects here. 0 for an unknown name. */
BL_API uint32_t bl_device_traits(const char *device);
/* The device that bl_open selects for config.device; 0, and a zeroed info, if it is not present. */
BL_API int bl_device_find(const char *device, bl_device_info *info);
/* Why a queue or scheduler, by any of its names, cannot run on that device; NULL if no reason is known. */
BL_API const char *bl_device_lacks(const bl_device_info *device, const char *name);

#ifdef __cplusplus
}
#endif
#include "runtime/guard.h"
#endif
