/* What the workers of one run share: plain structs in device memory, and the argument that every worker gets by
 * value. */
#ifndef BL_PARTS_RUN_H
#define BL_PARTS_RUN_H

#include "../export.h"
#include "../platform/platform.h"

/* Words that different parties change lie on lines of their own. */
/* What a worker loop is compiled for: runs that take no work from outside, submissions, and what other nodes send. */
#define BL__CLOSED 0
#define BL__OPEN 1
#define BL__SHARED 2

#define BL__BOARDS 8u /* board.h */

typedef struct bl__control {
    uint64_t idle; /* termination.h */
    unsigned char pad0[BL_LINE - 8];
    uint32_t stop; /* BL__STOP_*: workers stop between two batches; and BL__COARSE, which is read with it */
    unsigned char pad1[BL_LINE - 4];
    uint64_t out[3];             /* waves: entries (low 32) and tasks (high 32) in the out-array; which: wave % 3 */
    uint32_t posted[BL__BOARDS]; /* with queues: board.h */
    unsigned char pad2[BL_LINE - 24 - 4 * BL__BOARDS];
    uint32_t ticket;   /* static: next group to run, where the hardware does not hand them out */
    uint32_t taken;    /* with queues, outside.h, in this launch: entries that workers took from the inlet; ... */
    uint32_t answered; /* ... GPU and sim: roots whose results workers announced; ... */
    uint32_t shut;     /* ... 1: the inlet is closed and empty; ... */
    uint32_t given;    /* ... of a node: entries that the porter put into the outlet, ... */
    uint32_t limit;    /* ... and how far it may, as it last saw; ... */
    uint64_t dried;    /* ... worker 0's: the inverse of what it last told the host to be all; ... */
    uint32_t told;     /* ... the last question that a worker has answered, ... */
    uint32_t looked;   /* ... and when a worker last read the host's memory */
    /* Of a node, with results: */
    uint32_t finished; /* the first record whose results the porter has to send home, more by one; 0: there is none */
    uint32_t sent;     /* parcels that the porter sent in this launch, ... */
    uint32_t brought;  /* ... and parcels that it took, whose results are in their records */
    unsigned char pad3[BL_LINE - 56];
    uint64_t drawn[2];             /* list: tasks that somebody has taken; which: wave % 2 */
    uint32_t draw_lock;            /* list:locked */
    uint32_t uncopied[BL__BOARDS]; /* with queues: board.h */
    unsigned char pad5[BL_LINE - 20 - 4 * BL__BOARDS];
    uint32_t sleepers; /* CPU workers asleep, or about to be */
    uint32_t wakes;    /* bumped by every wake-up */
    uint32_t lookout;  /* lookout.h: which worker looks out, ... */
    uint32_t held_up;  /* ... and how many workers it saw held up in a long task */
    unsigned char pad4[BL_LINE - 16];
    uint64_t misuse; /* with BL__STOP_MISUSE: bl__misuse (high 32) and a number that explains it */
    uint32_t wide;   /* CPU: there are records whose results lie elsewhere (parts/record.h) */
    uint32_t failed; /* with BL__STOP_FAILED: 1, by the first task that failed, or 2, if it threw an exception, ... */
    uint64_t error;  /* ... and what it gave as the reason; its payload is in run->failure */
    unsigned char pad6[BL_LINE - 24];
    /* Waves that stay on the GPU: where workers meet (meeting.h), ... */
    uint64_t met;
    unsigned char pad7[BL_LINE - 8];
    /* ... and what one of them writes when it leaves a meeting: how many there were in this launch, the tasks that the
     * waves before them spawned, the most tasks of a wave, and the most entries in both arrays. */
    uint32_t meetings, most_tasks;
    uint64_t spawned, most_entries;
    unsigned char pad8[BL_LINE - 24];
} bl__control;

/* How many workers are idle: of control->idle. */
BL_FN uint32_t bl__idle_count(uint64_t word) { return (uint32_t)word & 0x7fffffffu; }

/* GPU, in the stop word but no reason to stop: batches take long. Workers that are out of work tell all others
 * (lookout.h); in its own copy a worker notes it of its last batch, of which of the three before, and whether the last
 * one took very long. */
#define BL__COARSE (1u << 16)
#define BL__SLOW (1u << 17)
#define BL__LATELY (7u << 20)
#define BL__PACE (BL__COARSE | BL__SLOW | BL__LATELY)
/* CPU, in the stop word for the same reason: the inlet has something, and a worker that is busy may take it
 * (outside.h). */
#define BL__KNOCK (1u << 18)
/* Likewise: another node of the run is out of work, and whoever has enough gives it some. */
#define BL__HUNGRY (1u << 19)
#define BL__NO_REASON (BL__PACE | BL__KNOCK | BL__HUNGRY)

#define BL__FAILURE_TEXT 256u /* bytes: what an exception says */

typedef enum bl__standing { BL__AT_START, BL__AT_WORK, BL__AT_SEARCH, BL__AT_IDLE, BL__AT_END } bl__standing;

/* One per worker, on a line of its own. The first two are written during the run for the host's watch. */
typedef struct bl__tally {
    uint64_t beat;     /* tasks run in this launch, until they are added to `tasks` at its end */
    uint32_t standing; /* bl__standing */
    uint32_t spilled;  /* entries left in the spill area when the worker stopped */
    uint64_t tasks, steals, attempts, busy;
    uint64_t peak;       /* high-water mark: private entries, plus those in its own queue if it has one */
    uint64_t queue_peak; /* high-water mark of the shared queue it publishes to */
    /* Written by others, on a CPU: lookout.h. */
    uint64_t dry, since;
    uint32_t slow, watched;
    uint32_t fetched; /* by its owner: another number whenever a GPU's worker has found work, or a CPU's is between two
                        tasks of a fork and somebody is idle */
    uint32_t quarter, over; /* GPU: of a quarter of a multiprocessor, not of this worker; lookout.h */
    uint32_t gathered;      /* GPU and sim: of a group of workers; meeting.h */
    unsigned char pad[BL_LINE - 104];
} bl__tally;

/* The tallies of all workers in one, for the host; all words of 64 bits, and zero before. */
typedef struct bl__totals {
    uint64_t tasks, steals, attempts, spilled;
    uint64_t most_busy, least_busy; /* the latter inverted, so that it is a maximum too */
    uint64_t peak, peaks;           /* the largest, and their sum */
    uint64_t queue_peak;
} bl__totals;

/* CPU: the workers near to one, in run->order from `first` on: those that share its last-level cache, and those of its
 * node. It is one of them. */
typedef struct bl__near {
    uint32_t first[2], count[2];
} bl__near;

/* The inlet of a run that is open, and where the results of what came through it are announced: outside.h. */
typedef struct bl__outside {
    uint32_t *slots;          /* the inlet's ring; NULL: the run is not open */
    uint32_t *answers;        /* GPU and sim: a ring of roots that have returned; CPU: NULL */
    void *host;               /* the host's side of both */
    void *node;               /* this run is one of several nodes that share work; NULL: it is not */
    uint32_t mask, stride;    /* of the slots, and words from one to the next */
    uint32_t answers_mask;    /* of that ring */
    uint32_t taken, answered; /* in earlier launches */
    uint32_t most;            /* entries in its queue with which a busy worker takes no more */
    uint32_t listens;         /* CPU: after so many tasks a worker listens to other processes; 0: there are none */
} bl__outside;

/* What the host and the workers of a node tell each other, where they do not share all memory. Each line has one side
 * that writes it. */
typedef struct bl__notes {
    uint64_t wish; /* the host's: how far the outlet may be filled (low 32), and the number of a question (high 32) */
    unsigned char pad0[BL_LINE - 8];
    uint64_t
        low; /* workers': that number, when many of them were out of work, and the epoch of the idle word (low 32) */
    unsigned char pad1[BL_LINE - 8];
    uint64_t dry; /* workers': how much had been taken (low 32) and given (high 32) when there was nothing left */
    unsigned char pad2[BL_LINE - 8];
} bl__notes;

/* Results on their way home: plain bytes, whose meaning is the home's. The results follow in turn, or their sum. */
typedef struct bl__parcel {
    uint32_t join;         /* what the children carried there */
    uint32_t begin, count; /* which children: their indices */
    uint32_t bytes;        /* that follow */
} bl__parcel;

/* A ring of at least two parcels, in memory that host and workers reach. */
typedef struct bl__parcels {
    uint32_t *slots;
    uint32_t mask, stride; /* stride: words from one to the next */
    uint32_t moved;        /* in earlier launches */
} bl__parcels;

/* GPU and sim: the way out of a node, and that of results in both directions. outside.h */
typedef struct bl__outlet {
    uint32_t *slots;  /* a ring, with the stride of the inlet's; NULL: the run is not a node */
    bl__notes *notes; /* in memory that both sides reach, like the ring */
    uint32_t mask;
    uint32_t given; /* in earlier launches */
    bl__parcels away, home;
} bl__outlet;

typedef struct bl__run {
    const struct bl__policy
        *policy; /* CPU and sim: the scheduler (runtime/policy.h); on a GPU it is part of the kernel */
    bl__control *control;
    bl__tally *tally;
    uint32_t *idlers; /* GPU: a bit per worker, set while it is out of work; lookout.h */
    uint32_t *spill;  /* per worker room for a whole private stack: where it goes when the run pauses */
    unsigned char
        *memory; /* CPU and sim: per worker its scratch, then its private stack; on a GPU that is shared memory */
    unsigned char *queues;
    unsigned char *pool;
    unsigned char *records, *free_records; /* join records, and the queue of those that are free */
    uint32_t *spares;       /* where warps find their first free records, and leave theirs: per worker a spare list */
    unsigned char *results; /* of the roots */
    uint32_t *failure;      /* room for the payload of a task that fails, then BL__FAILURE_TEXT */
    uint32_t record_bytes, record_capacity;
    uint32_t spares_left;          /* there are some */
    uint32_t loop_at;              /* the reduction of a loop: bytes of the payload that the user gave; else 0 */
    uint32_t widest;               /* the most children of a fork: BL_JOIN_WIDTH, on a CPU as many as can be counted */
    void *host;                    /* the host's side of the device; on a CPU it puts workers to sleep and wakes them */
    const uint32_t *in, *in_first; /* waves: entries, and the number of the first task of each */
    uint32_t *out, *out_first;
    uint64_t queue_stride, seed;
    uint64_t base;                    /* bl_index: of a part of a loop that is too long for 32 bits */
    const uint32_t *dealt;            /* by the host: where the roots of each queue begin in flat; NULL: evenly */
    uint32_t in_entries;              /* entries at the start of a launch */
    uint32_t first_task, slice_tasks; /* waves: this launch runs tasks first_task .. + slice_tasks */
    /* What one scheduler alone reads. */
    struct {
        uint32_t turn; /* static:cyclic: tasks that a group takes before it is the next one's turn; else 0 */
    } of_static;
    struct {
        uint32_t locked; /* list:locked */
    } of_list;
    struct {
        uint32_t loop_tasks; /* indices of the loop, whose entry is run->in; 0: none */
    } of_range;
    uint32_t alone;   /* range: a loop that spawns nothing: a worker that finds nothing to take has ended */
    uint32_t groups;  /* workers of this launch; only static:wave has more groups than workers */
    uint32_t workers; /* that exist at the same time */
    uint32_t tallies;
    uint32_t worker_memory, scratch_bytes;
    uint32_t queue_count, capacity; /* entries per queue */
    uint32_t pool_capacity;
    uint32_t words;          /* per entry */
    uint32_t stack_capacity; /* power of two */
    uint32_t outbox; /* entries that the tasks of one batch may spawn: the room that must be free before it starts */
    uint32_t private_limit; /* entries a worker keeps to itself after a batch */
    uint32_t lanes;         /* per worker */
    uint32_t
        /* the task function is given pieces of a range: BL_RANGE_RUN, with a group that runs tasks one after another */
        pieces;
    uint32_t grain; /* indices of such a piece; 0: as many as take a while */
    uint32_t random_victims, steal_half;
    const bl__near *near;    /* CPU: of each worker; NULL: all are at one place, or it is not known where */
    const uint32_t *order;   /* with `near`: the workers, neighbours side by side */
    uint32_t one_per_node;   /* publish a range as single tasks, as the papers have it */
    uint32_t done_test;      /* ask the program whether it is done instead of detecting termination */
    uint32_t fences_alone;   /* CPU: there is no fence for all threads at once (gate.h) */
    uint32_t launch;         /* which of the run */
    struct bl__trace *trace; /* timelines, one for each tally; NULL: nobody asked for them */
    bl__outside outside;
    /* Waves. Last, because where the others lie decides how well a kernel's registers are allocated: octree was 10 %
     * slower on an H200 when these came before them. */
    uint32_t stays;         /* GPU and sim: this launch also runs the waves after, of so many tasks at most; 0: no */
    uint32_t meetings;      /* in earlier launches */
    uint32_t block_workers; /* that share a block of a GPU; ... */
    uint32_t blocks;        /* ... and how many of these there are */
    uint32_t inverse;       /* waves: UINT32_MAX / groups */
    uint32_t sliced;        /* waves: 1: this launch runs only a part of one */
    bl__outlet outlet;
    uint32_t settles; /* with a porter: this launch runs no tasks, only what results that have come home bring about */
    const uint32_t *roots; /* GPU and sim: in_entries entries that workers begin with; NULL: they are in the queues */
    uint32_t *boards;      /* GPU and sim, workers that run one task at a time: board.h; else NULL */
} bl__run;

/* BL_TRAIT_WAVES, as a kernel sees it: src/run/run.c gives only such a run no queues. */
BL_FN bool bl__runs_in_waves(const bl__run *run) { return run->queue_count == 0; }

/* Where the entries of queue i begin, of `count` that the host puts into the queues. */
BL_FN uint32_t bl__dealt(const bl__run *run, uint32_t count, uint32_t i) {
    return run->dealt ? run->dealt[i] : (uint32_t)((uint64_t)count * i / run->queue_count);
}

/* CPU workers: bl__sleep returns when control->wakes differs from `seen`, bl__nap also when so many ns have passed;
 * bl__wake wakes up to n. */
BL_API void bl__sleep(const bl__run *run, uint32_t seen);
BL_API void bl__nap(const bl__run *run, uint32_t seen, uint64_t ns);
BL_API void bl__wake(const bl__run *run, uint32_t n);

#endif
