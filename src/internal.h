/* Inside the library: contexts, and what a device must be able to do. */
#ifndef BALLAST_INTERNAL_H
#define BALLAST_INTERNAL_H

#include "platform/clock.h"

#include <ballast/ballast.h>
#include <ballast/parts/run.h>
#include <ballast/queues/contract.h>
#include <ballast/runtime/program_type.h>
#include <pthread.h>
#include <stdbool.h>

typedef struct bl__device_ops bl__device_ops;

/* What bl_trace gives, collected run by run. */
typedef struct bl__timelines {
    uint32_t room; /* spans per worker; 0: off */
    bl_span *spans;
    size_t count, capacity;
    uint64_t origin, end; /* of the first and of the last run, on the device's clock */
    uint32_t launches;    /* of the runs so far */
} bl__timelines;

/* More statuses, which no caller sees: a node's run is interrupted for a checkpoint; nothing was left to write. */
enum { BL__PAUSE = BL_STATUS_COUNT, BL__COMPLETE };

/* Memory of the user, in the order in which it was asked for: what a checkpoint saves. */
typedef struct bl__block {
    void *memory;
    size_t bytes;
    bool told; /* bl_combine */
    bl_combination combine;
} bl__block;

/* What the code behind bl_program_from_function and bl_program_from_body is given as shared data. */
typedef struct bl__function_data {
    bl_task_function run; /* or a bl_range_body, or a bl_long_body */
    const void *shared;
    bool is_long;
    bl__guard guard;
} bl__function_data;

/* How a run will be made: the scheduler resolved, sizes decided. */
typedef struct bl__plan {
    const bl_program *program;
    const bl__instance *instance;
    const char *scheduler; /* its complete name */
    uint32_t traits;       /* bl_traits */
    int policy;            /* its number in bl__device_ops.policies */
    int queue;             /* which managed queue, -1 for none */
    bool as_in_paper;      /* asked for by a paper's name */
    bool pieces;           /* as in bl__run */
    bool stays;            /* waves may follow each other in one launch */
    uint32_t threads;      /* per block of a GPU launch; lanes otherwise */
    uint32_t workers_per_block;
    uint32_t fit;        /* workers that fit at the same time */
    uint32_t processors; /* multiprocessors, cores */
    bool fences_alone;   /* CPU: as in bl__run */
} bl__plan;

/* How many entries one launch of a wave may add to the out-array. Tests make it small. */
extern uint32_t bl__slice_entries;

enum { BL__KEPT = 16 };

/* What a run that is over leaves for the next of the same shape (run/reuse.c). */
typedef struct bl__reusable {
    /* Queues that are set up and empty; memory NULL: none. */
    bl__block queues;
    int queue;
    uint32_t workers, words, capacity;
    /* Join records, all of them free. */
    bl__block records, free_records, spares;
    /* What the workers of a launch share, of which so many bytes are zero. */
    bl__block state;
    size_t clear;
    uint32_t record_workers, record_bytes, record_capacity;
    uint64_t tasks; /* that have been run with them */
} bl__reusable;

/* What was started and is not done yet (run/async.c). A thread of the context does it in the order in which it was
 * started. */
typedef struct bl__driver {
    pthread_mutex_t lock;
    pthread_cond_t given, ended; /* ended on the monotonic clock */
    pthread_t thread;
    bool has_thread, quit;
    struct bl__started *first, *last; /* the first is under way; NULL: nothing is */
    bool runs;                        /* one of them is a run */
    bool used;                        /* something has been started before */
    uint32_t started, done;           /* so many */
    int status;                       /* of all since it was last told: the first that is not BL_OK */
    bool untold;                      /* there is such a one, and nobody has waited since */
    bl_stats stats;                   /* of the last run */
} bl__driver;

/* The nodes of a run that has several: src/cluster/local.h. */
typedef struct bl__cluster bl__cluster;

enum { BL__INLET_NEVER, BL__INLET_OPEN, BL__INLET_CLOSED, BL__INLET_ENDED };

/* The host's side of a run that takes submissions (run/submit.c, parts/outside.h). */
typedef struct bl__inlet {
    pthread_mutex_t lock;
    pthread_cond_t moved;        /* somebody's turn has come, or the run has ended */
    int state;                   /* BL__INLET_* */
    int status;                  /* of the run, once it has ended */
    uint32_t runs;               /* that have been opened */
    const bl_program *program;   /* the part for the context's device */
    bl__outside ring;            /* as workers see it, ... */
    bl__outlet outlet;           /* ... and the outlet of a node whose workers are not threads; else no slots */
    void *memory;                /* of the ring, the results and the answers: what both sides reach, ... */
    size_t memory_bytes;         /* ... so many bytes ... */
    uint32_t numbers_room;       /* ... for so many numbers */
    unsigned char *results;      /* of submitted roots, by number */
    uint64_t tickets;            /* submitted so far, ... */
    uint64_t noticed;            /* ... and when bl__inlet_stirs last looked */
    uint64_t drawn, called;      /* turns of the threads that submit: the next one, and whose it is */
    const bl__run *run;          /* that workers are in now; NULL: none are, ... */
    const bl__run *working;      /* ... and as threads have it, once their stacks are set up */
    bool hungry;                 /* another node is out of work */
    uint32_t finished;           /* control->finished, when workers last stopped */
    pthread_mutex_t number_lock; /* of these three: */
    uint64_t *ticket_of;         /* by the number of a submitted root */
    uint32_t *numbers;           /* that are free */
    uint32_t free;               /* so many */
} bl__inlet;

struct bl_context {
    const bl__device_ops *ops;
    size_t stats_bytes;      /* that the caller has room for */
    void *device;            /* the device's own state */
    char id[192], name[128]; /* id: of all nodes */
    uint32_t capability;     /* bl_device_info.capability */
    bl_config config;        /* strings in it are copies */
    int process;             /* that opened it */
    uint32_t busy;           /* with a call: bl__enter */
    uint32_t limit;          /* bl_limit */
    bool dead;
    bool log;           /* BALLAST_LOG, when it was opened */
    void *profiler;     /* NULL: none was attached then */
    bool detail_is_old; /* of an earlier call: the next one replaces it */
    char detail[4096];
    bl__timelines timelines;
    bl__block *blocks;
    size_t block_count, block_capacity;
    /* stopping a run before its end */
    uint32_t cancelled;              /* bl_cancel */
    uint32_t halted;                 /* another node of the run has ended early */
    bool pausable;                   /* the launch under way can stop between two tasks */
    double pause_at;                 /* when it should, for the time limit or a checkpoint */
    double spent;                    /* seconds, by runs that have ended */
    uint32_t runs;                   /* begun so far */
    uint32_t resume_run;             /* which of them config.resume belongs to; 0: not known yet */
    uint64_t problem, first_problem; /* bl__problem of all runs so far, and of the first */
    uint64_t progressed;             /* tasks of the run under way, or of the last: bl_progress */
    uint64_t of_parts;               /* tasks of the parts of a long loop that are done */
    uint32_t most_indices;           /* of a run; 0: as many as 32 bits can count. Only tests set it */
    bl__block kept[BL__KEPT];        /* of runs that have ended, for the next; memory NULL: none */
    bl__reusable reusable;
    /* The last plan, for the next run of the same program. The copy tells it from another one at its address. */
    struct {
        const bl_program *of;
        bl_program copy;
        bl__plan plan;
        uint32_t lanes;
        int opens;
    } planned;
    bl__driver driver;
    bl__inlet inlet;
    bool open;               /* the run under way takes submissions, or what other nodes send */
    bool writes;             /* a run of several nodes, of which this is the first: checkpoints */
    struct bl__piece *piece; /* what is left of a run of several nodes that was interrupted; NULL: nothing */
    bl__cluster *cluster;    /* that this context is node 0 of; NULL: its runs have one node */
    bl_context *leader;      /* node 0, if this is another node of it */
    bl_context *memory;  /* the node in whose memory from bl_alloc its tasks work: itself, or one of the same device */
    uint32_t sharers;    /* nodes of the run that have the same device, this one included */
    bl_stats node_stats; /* of the last run, if it is a node */
    bool unlimited;      /* bl_limit is about other nodes of the run */
    /* The first task of the last run that failed. */
    bool failed;
    uint64_t error;
    void *failed_payload;
};

/* What the host asks of the queues between launches; see runtime/manage_queue.inc.h. */
typedef enum bl__manage_op {
    BL__SET_UP,
    BL__FILL,
    BL__COUNT,
    BL__DRAIN,
    BL__RECORDS_SET_UP, /* runtime/joins.h */
    BL__RECORDS_FILL,
    BL__RECORDS_COUNT,
    BL__ADD_UP, /* the workers' tallies, into a bl__totals */
} bl__manage_op;

enum { BL__READ_BACK = 2048 };

/* One file per device kind; every function returns a bl_status unless it says otherwise. */
struct bl__device_ops {
    const char *target;
    uint32_t traits; /* bl_device_kind */
    uint32_t warp;   /* lanes */
    uint32_t block;  /* lanes per block unless a run says; 0: as many as the program says */
    const struct bl__policy *
        *policies; /* its schedulers, in the order of BL__SCHEDULERS; NULL: they are in the program's kernels */
    const char *default_scheduler; /* what "auto" means; NULL: BL__DEFAULT_TEXT */
    const char *loop_scheduler;    /* what it means for a loop; NULL: nothing special */
    bool host_memory;              /* what alloc gives: a forked child has a copy of it */
    bool host_stacks;              /* private stacks lie in such memory, and not in a GPU's */
    bool workers_allocate;         /* they can get memory during a run: for spawns and forks of any width */
    size_t most_kept;           /* the largest buffer that a context keeps from one run to the next; 0: it keeps none */
    bool workers_must_fit;      /* no more than plan->fit */
    bool can_bind, has_streams; /* bl_config.bind, bl_config.stream */
    /* Entries that a worker keeps to itself, of that many words, unless told otherwise. */
    uint32_t (*default_private)(uint32_t words, uint32_t outbox);
    int (*enumerate)(uint32_t i, bl_device_info *info); /* 0 past the end */
    int (*open)(bl_context *c, const char *id);
    /* A dead context: leaves what a stuck worker may still use. An inherited one (bl__inherited): frees memory of
     * the host and nothing else. */
    void (*close)(bl_context *c);
    /* bl_cancel asks for a look at c->cancelled, from any thread and from signal handlers. NULL: it looks by itself. */
    void (*look_soon)(bl_context *c);
    int (*alloc)(bl_context *c, void **memory, size_t bytes);
    void (*free)(bl_context *c, void *memory);
    int (*copy_in)(bl_context *c, void *device, const void *host, size_t bytes);
    int (*copy_out)(bl_context *c, void *host, const void *device, size_t bytes);
    int (*move)(bl_context *c, void *to, const void *from, size_t bytes); /* within the device */
    /* Like copy_in, but need not be done on return; the memory of the host may be used again at once. Whole words of 4
     * bytes. */
    int (*send)(bl_context *c, void *device, const void *host, size_t bytes);
    /* Where workers find what was sent to `device` last; it is not copied there any more. NULL: it was. The function is
     * NULL where workers begin with nothing but what is in queues. */
    const void *(*sent)(bl_context *c, const void *device);
    int (*zero)(bl_context *c, void *device, size_t bytes);
    /* The same, but at the latest before the next kernel of a run: for whole buffers of the library, which nobody else
     * looks at. */
    int (*zero_for_launch)(bl_context *c, void *device, size_t bytes);
    /* Fills plan->fit, threads and workers_per_block for workers of `lanes` lanes that need worker_memory bytes
     * each. */
    int (*fit)(bl_context *c, bl__plan *plan, uint32_t lanes, size_t worker_memory);
    int (*manage)(bl_context *c, bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count,
                  uint64_t *total);
    /* Starts run->groups workers. They may still be running when it returns: what is asked of the device next comes
     * after them, and `finish` must follow. */
    int (*launch)(bl_context *c, const bl__plan *plan, const bl__run *run, const void *shared);
    /* Waits until the workers have ended, watching their progress, and copies `bytes` of what they and the host's
     * next requests have left: BL__READ_BACK at most. If the run is over (bl__is_over), a device that `clears` sets
     * `clear` bytes of it to zero then, or soon after. */
    int (*finish)(bl_context *c, const bl__run *run, void *host, void *device, size_t bytes, size_t clear);
    bool clears;
    /* Memory that the host and running workers reach, at one address; NULL: `alloc` gives such memory. */
    int (*alloc_reached)(bl_context *c, void **memory, size_t bytes);
    void (*free_reached)(bl_context *c, void *memory);
    /* n entries have come into the inlet, or its end: tells workers, which need not look by themselves. NULL: they do,
     * and the host takes their answers. */
    void (*knock)(const bl__run *run, uint32_t n);
    int (*timer_start)(bl_context *c);
    int (*timer_stop)(bl_context *c, double *seconds);
    /* Where has_streams. Why a stream of the user cannot be used; NULL: it can. */
    const char *(*wrong_stream)(bl_context *c, void *stream);
    /* A mark behind all that is in the stream now. What the context does after `pass_mark`, which frees the mark, waits
     * until the stream has come to it. NULL: out of memory, or the device refused. */
    void *(*mark)(bl_context *c, void *stream);
    int (*pass_mark)(bl_context *c, void *mark);
    /* What comes into the stream from now on waits until `reached` has been called with that number, or a later one.
     * False: the device refused. */
    bool (*hold)(bl_context *c, void *stream, uint32_t number);
    void (*reached)(bl_context *c, uint32_t number);
};

extern const bl__device_ops bl__cpu_ops, bl__sim_ops;
#ifdef BL_HAVE_CUDA
extern const bl__device_ops bl__cuda_ops;
#endif

/* ---- api/context.c ---- */

/* The watch that every device runs over its workers: call it now and then with what the workers have done so far. */
typedef struct bl__watch {
    uint64_t tasks;
    double since, reported; /* when tasks last changed; when progress was last reported */
} bl__watch;
typedef enum bl__seen {
    BL__ALL_WELL,
    BL__TO_PAUSE,   /* said once a launch: somebody or the clock wants the workers to stop. Set BL__STOP_HOST */
    BL__NO_PROGRESS /* for the stall time */
} bl__seen;
void bl__watch_start(bl__watch *watch);
/* `tally`: host copies. `threads`: the run, if its workers are threads with a private stack, which knows of tasks that
 * the tally does not yet; else NULL. */
bl__seen bl__watch_look(bl_context *c, bl__watch *watch, const bl__tally *tally, uint32_t count,
                        const bl__run *threads);
/* It is time for the next look: the run is cancelled, or another node of it has ended early. */
bool bl__watch_halts(const bl_context *c);
/* Seconds until the next look, at most `most`. */
double bl__watch_next(const bl_context *c, double most);
/* Says in c->detail why, and where each worker stands. */
void bl__watch_report(bl_context *c, const char *why, const bl__tally *tally, uint32_t count, const bl__run *threads);

/* A call on a context begins and ends. BL_OK, or why it may not: BL_EINVAL, BL_EBUSY, BL_EDEAD. Only bl_run and its
 * like also refuse by themselves. */
int bl__usable(bl_context *c); /* by any thread of this process: BL_EINVAL, BL_EDEAD */
int bl__enter(bl_context *c);
int bl__leave(bl_context *c, int status); /* returns the status */
bool bl__inherited(const bl_context *c);  /* by a fork: its threads are not in this process */
/* Threads that do a context's work, and so cannot wait for its end. */
void bl__thread_belongs_to(const bl_context *c); /* the calling one, for good */
bool bl__is_thread_of(const bl_context *c);

/* Within a call. Memory that is no user's. */
int bl__alloc(bl_context *c, void **memory, size_t bytes);
void bl__free(bl_context *c, void *memory);
bool bl__free_kept(bl_context *c); /* buffers of earlier runs; true: there were some */
int bl__copy_in(bl_context *c, void *device, const void *host, size_t bytes);
int bl__copy_out(bl_context *c, void *host, const void *device, size_t bytes);
int bl__send(bl_context *c, void *device, const void *host, size_t bytes);
int bl__zero(bl_context *c, void *device, size_t bytes);
int bl__zero_for_launch(bl_context *c, void *device, size_t bytes);
/* `address` in memory of the user on another node that has a memory of its own; NULL: it is not in such memory. */
void *bl__elsewhere(const bl_context *c, const bl_context *node, const void *address);
int bl__copy_out_of(bl_context *c, uint32_t memory, void *host, const void *device, size_t bytes);
/* The number of the first piece of memory of which bl_combine was not told, from 1 on; 0: it was told of all. */
size_t bl__untold(const bl_context *c);
/* BL_EINVAL: an address that the user gave is NULL, and bl_error_detail(told) says so. */
int bl__check_addresses(bl_context *told, const void *one, const void *other, size_t bytes);

/* ---- api/errors.c ---- */

/* Adds to what bl_error_detail says. NULL: about a call without a context, by this thread. */
void bl__detail(bl_context *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bl__detail_clear(bl_context *c);
int bl__no_memory(bl_context *c, const char *what); /* says so, and returns BL_ENOMEM */

/* ---- api/schedulers.c ---- */

bool bl__scheduler_known(const char *name);
/* The queue of a scheduler by any of its names, or the one of that name; false: there is none. */
bool bl__queue_of(const char *name, bl_queue_info *info);
/* bl_device_lacks, for a device of that compute capability. */
const char *bl__lacks(uint32_t capability, const char *name);

/* Resolves config->scheduler and config->group for a program. */
int bl__plan_make(bl_context *c, const bl_program *program, bl__plan *plan, uint32_t *lanes);

/* Managed queues by number (BL_MANAGED_QUEUES). */
typedef struct bl__queue_type {
    const char *name;
    size_t (*bytes)(bl_shape shape);
    int by_handle, is_deque;
    uint32_t most_threads;
} bl__queue_type;
const bl__queue_type *bl__queue_type_at(int queue);
int bl__queue_number(const char *name); /* -1: none */

/* ---- run/async.c ---- */

void bl__driver_open(bl_context *c);
/* Waits until all that was started is done, and ends the thread. BL_EBUSY: it would wait for the calling thread. */
int bl__driver_wait(bl_context *c);
void bl__driver_close(bl_context *c);

/* ---- run/submit.c ---- */

void bl__inlet_open(bl_context *c);
void bl__inlet_destroy(bl_context *c);
/* Nothing more will be submitted. */
void bl__inlet_close(bl_context *c);
/* Threads are about to work on the run, and others may take from their stacks. */
void bl__inlet_works(bl_context *c, const bl__run *run);
/* The workers have stopped: nobody knocks until they start again, or takes from them. */
void bl__inlet_rest(bl_context *c);
/* Whether the workers of an open run have nothing to do until something is submitted. */
bool bl__inlet_waits(const bl_context *c, const bl__tally *tally, uint32_t count);
/* Where the host has to ask for answers: takes those that there are. True: there were some, or something was submitted,
 * since it was last called. */
bool bl__inlet_stirs(bl_context *c);
/* A node whose workers are not threads: one of them is the porter, and runs no tasks (runtime/loop/porter.inc.h). */
bool bl__has_porter(const bl_context *c);

/* ---- cluster/local.c ---- */

/* Of a node whose workers are not threads, by the thread that waits for them, all the time: takes what they give and
 * what they say. True: there was something. */
bool bl__node_serves(bl_context *c);

/* ---- run/log.c, run/phases.c ---- */

bool bl__log_wanted(void);
#ifdef BL_HAVE_NVTX
void *bl__profiler(void); /* a handle for it; NULL: none is attached */
#else
static inline void *bl__profiler(void) { return NULL; }
#endif

/* ---- run/trace.c ---- */

/* Timelines: room for those of a run, if they are wanted; and what was written there into c->timelines, if the run
 * succeeded. The second returns `status`, or what else went wrong. */
int bl__trace_begin(bl_context *c, bl__run *run);
int bl__trace_end(bl_context *c, bl__run *run, bool waves, int status);

/* ---- run/checkpoint.c, run/checkpoint_check.c ---- */

/* A checkpoint: what is left of a run, in memory of the device, and which run it is. */
typedef struct bl__rest {
    uint64_t problem, first_problem; /* of the context's runs up to this one, and of its first */
    uint32_t run;                    /* which of them */
    uint32_t words, entries, record_bytes, record_capacity, result_bytes, roots;
    uint32_t range; /* indices of each root */
    const bl_program *program;
    const void *flat, *records, *results;
    bool here;           /* these are in memory of the host */
    void *const *memory; /* of the user, where it is not the context's own: contents by piece, or NULL; may be NULL */
    bl_stats stats;      /* so far: what bl__stats_add adds */
} bl__rest;
/* Starts zeroed. */
typedef struct bl__resume {
    void *file;
    bl__rest rest; /* without memory */
    void *flat, *records;
} bl__resume;

/* A number for all that a run is given, and those before it, wherever this process has its memory. */
uint64_t bl__problem(const bl_context *c, const bl_program *program, const void *shared, const void *roots,
                     uint32_t count, uint32_t range);
void bl__stats_add(bl_stats *to, const bl_stats *before);
int bl__checkpoint_check(bl_context *c); /* before the work: whether it could be written, as far as that can be known */
int bl__checkpoint_write(bl_context *c, const bl__rest *rest);
/* Whether the run that now begins is the one of config.resume; if so the file is checked as a whole before anything
 * is changed. `is`: this run, without entries. resume->file is NULL if it is not that one. Follow with
 * bl__resume_load, or bl__resume_close. */
int bl__resume_open(bl_context *c, const bl__rest *is, bl__resume *resume);
/* Contents into these, and into all memory of the user. `on_device`: where the results are. */
int bl__resume_load(bl_context *c, bl__resume *resume, void *flat, void *records, void *results, bool on_device);
void bl__resume_close(bl__resume *resume);
/* Whether these entries and records can be left of such a run; else BL_EFILE, and c->detail says why not. */
int bl__rest_check(bl_context *c, const bl__rest *rest, const uint32_t *entries, unsigned char *records);

/* ---- policies/ ---- */

/* Management for targets whose code the host runs itself: src/policies/manage_all.inc.h, built once per target. */
typedef void (*bl__manage_fn)(bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count,
                              uint64_t *total, uint32_t rank, uint32_t size);
void bl__manage_cpu(bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total,
                    uint32_t rank, uint32_t size);
extern const struct bl__policy *bl__cpu_policies[], *bl__sim_policies[];
void bl__manage_sim(bl__manage_op op, int queue, const bl__run *run, uint32_t *entries, uint32_t count, uint64_t *total,
                    uint32_t rank, uint32_t size);

#endif
