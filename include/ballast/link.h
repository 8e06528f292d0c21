/* Runs that several processes share. A link connects the processes: <ballast/mpi.h> makes one from an MPI communicator,
 * and most programs need nothing but that. This header describes what such contexts offer, and what a link must be able
 * to do, so that you can use another transport.
 *
 * A context that is opened on a link has one or several devices in each process, not necessarily the same in all:
 * "cpu", "cuda:0", "cpu+cuda:0". The default is "cpu". "cuda", without a number, is the GPU that has the number of the
 * process among those of its machine. All these devices share each run: workers that run out of work get some from
 * other processes. Payloads and results travel as bytes, so they must not contain pointers. Memory does not travel:
 * shared data, memory from bl_alloc and what BL_MERGE adds up belong to one process. To get a sum over all, add up what
 * each process has after the run (examples/18_cluster.c).
 *
 * Collective calls: bl_open_linked, bl_run and its like, bl_close. Every process makes the same calls in the same
 * order, with the same program. bl_run returns the same status in all of them, and the same bl_stats: sums over all,
 * except that `seconds` is that of the slowest process and `balance` that of the one that was balanced worst. A run
 * that ends early in one process (a task fails, bl_cancel, the time limit) ends in all; config.left is called in each
 * with what it had. bl_progress and config.progress count the tasks of one process.
 * Results of roots (bl_run_join, bl_run_reduce) are the same in all of them: those of the roots of rank 0, of which all
 * give the same number. With bl_roots_of_all each process gets those of its own roots.
 * Processes whose programs or options do not fit are named by bl_error_detail, in all of them: BL_EINVAL.
 *
 * Checkpoints: rank 0 writes and reads the file, which is the same as one process would have written: a run is resumed
 * with any number of processes, or without a link. All give config.checkpoint or none, and config.resume alike. Memory
 * from bl_alloc needs a word about its contents: bl_combine of ballast.h.
 *
 * Rejected: bl_start and its like, bl_start_open, checkpoints with bl_roots_of_all, timelines, loops of 2^32 indices or
 * more, schedulers of waves. */
#ifndef BL_LINK_H
#define BL_LINK_H

#include <ballast/ballast.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What connects `ranks` processes. The library calls these functions one at a time, but from different threads. */
typedef struct bl_link {
    void *arg; /* given to each of them */
    uint32_t rank, ranks;
    /* Copies the message and returns without waiting for its receiver. Messages are not lost, and those from one
     * process to another arrive in the order in which they were sent. */
    void (*send)(void *arg, uint32_t to, const void *message, size_t bytes);
    /* Stores the next message that has arrived, at most `room` bytes, and its sender; returns its size, or 0 if there
     * is none. */
    size_t (*receive)(void *arg, uint32_t *from, void *message, size_t room);
    /* Collective: `bytes` of each process into `all`, in the order of their ranks. Returns when all have come. */
    void (*gather)(void *arg, const void *mine, size_t bytes, void *all);
    void (*close)(void *arg); /* collective, by bl_close, and by bl_open_linked if it fails; may be NULL */
    uint32_t local;           /* the number of this process among those of its machine, for device "cuda" */
    const char *wrong;        /* why it cannot be used: then bl_open_linked says so and returns BL_EINVAL; else NULL */
} bl_link;

/* bl_open for a context on a link, which is copied. If it fails in one process, it fails in all. */
BL_API int bl_open_linked_sized(bl_context **context, const bl_config *config, size_t config_bytes, size_t stats_bytes,
                                const bl_link *link);
static inline int bl_open_linked(bl_context **context, const bl_config *config, const bl_link *link) {
    return bl_open_linked_sized(context, config, sizeof(bl_config), sizeof(bl_stats), link);
}

/* Where a run begins. By default with the roots, or the loop, of rank 0, and what the others give is ignored: so
 * all can make the same call. `all` not 0: with the roots of all. Every rank says the same. BL_EINVAL: the context is
 * on no link. */
BL_API int bl_roots_of_all(bl_context *context, int all);

/* What one process did in the last run. BL_EINVAL: no such rank, no run yet, or the context is on no link. */
BL_API int bl_rank_stats(bl_context *context, uint32_t rank, bl_stats *stats);
/* ... and what it exchanged with the others. */
BL_API int bl_rank_traffic_sized(bl_context *context, uint32_t rank, bl_traffic *traffic, size_t bytes);
static inline int bl_rank_traffic(bl_context *context, uint32_t rank, bl_traffic *traffic) {
    return bl_rank_traffic_sized(context, rank, traffic, sizeof(bl_traffic));
}
/* Its devices; NULL: no such rank, or no link. */
BL_API const char *bl_rank_device(const bl_context *context, uint32_t rank);
/* Of the context's link; 0 and 1 without one. */
BL_API uint32_t bl_rank(const bl_context *context);
BL_API uint32_t bl_ranks(const bl_context *context);

#ifdef __cplusplus
}
#endif
#endif
