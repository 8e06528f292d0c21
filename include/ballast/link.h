/* Runs that several processes share. A link connects the processes: <ballast/mpi.h> makes one from an MPI communicator,
 * and most programs need nothing but that. This header describes what such contexts offer, and what a link must be able
 * to do, so that you can use another transport.
 *
 * A context that is opened on a link has one or several devices in each process, not necessarily the same in all:
 * "cpu", "cuda:0", "cpu+cuda:0". The default is "cpu". "cuda", without a number, selects a GPU by the process's number
 * on its machine (bl_link.local). All these devices share each run: workers that run out of work get some from other
 * processes. Payloads and results travel as bytes, so they must not contain pointers. Memory does not travel: shared
 * data, memory from bl_alloc and what BL_MERGE adds up belong to one process. To get a sum over all, add up what each
 * process has after the run (examples/18_cluster.c).
 *
 * Collective calls: bl_open_linked, bl_run and its like, bl_close. Every process makes the same calls in the same
 * order, with the same program. bl_run returns the same status in all of them, and the same bl_stats: sums over all,
 * except that `seconds` is that of the slowest process and `balance` is the lowest of any process. A run that ends
 * early in one process (a task fails, bl_cancel, the time limit) ends in all; config.left is called in each with what
 * it had.
 * bl_progress and config.progress count the tasks of one process.
 * Results of roots (bl_run_join, bl_run_reduce) are the same in all processes: those of the roots of rank 0. All
 * processes must pass the same number of roots. With bl_roots_of_all each process gets the results of its own roots.
 * If programs or options differ between processes, all of them get BL_EINVAL, and bl_error_detail names a process that
 * differs.
 *
 * Checkpoints: rank 0 writes and reads the file, which is the same as one process would have written: a run is resumed
 * with any number of processes, or without a link. Either all processes set config.checkpoint or none does; the same
 * goes for config.resume. For every block from bl_alloc, bl_combine (ballast.h) must say how its contents are combined.
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
    /* Collective: gathers `bytes` of each process into `all`, in the order of their ranks. Returns once all are in. */
    void (*gather)(void *arg, const void *mine, size_t bytes, void *all);
    void (*close)(void *arg); /* collective, by bl_close, and by bl_open_linked if it fails; may be NULL */
    uint32_t local;           /* the number of this process among those of its machine, for device "cuda" */
    const char *wrong;        /* NULL, or why the link cannot be used: then bl_open_linked returns BL_EINVAL */
} bl_link;

/* bl_open for a context on a link, which is copied. If it fails in one process, it fails in all. */
BL_API int bl_open_linked_sized(bl_context **context, const bl_config *config, size_t config_bytes, size_t stats_bytes,
                                const bl_link *link);
static inline int bl_open_linked(bl_context **context, const bl_config *config, const bl_link *link) {
    return bl_open_linked_sized(context, config, sizeof(bl_config), sizeof(bl_stats), link);
}

/* Which roots a run starts from. By default those of rank 0, or its loop; what the other ranks pass is ignored, so that
 * all can make the same call. If `all` is not 0: the roots of all ranks. Every rank must pass the same `all`.
 * BL_EINVAL: the context has no link. */
BL_API int bl_roots_of_all(bl_context *context, int all);

/* What one process did in the last run. BL_EINVAL: no such rank, no run yet, or the context has no link. */
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
