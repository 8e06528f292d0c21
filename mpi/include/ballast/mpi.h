/* One run over the processes of an MPI communicator: link libballast_mpi (CMake: ballast::mpi or ballast::mpi_shared;
 * pkg-config: ballast-mpi or ballast-mpi-static), and start the program with mpirun or srun.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
 *     bl_open_mpi(&context, &(bl_config){.workers = 4}, MPI_COMM_WORLD);
 *     bl_run(context, program, &shared, &root, 1, &stats);    every rank makes this call; it starts from rank 0's root
 *     MPI_Reduce(...);                                         adds up what the tasks of each rank have found
 *     bl_close(context);
 *     MPI_Finalize();
 *
 * <ballast/link.h> says which calls are collective, what they return, and what is rejected. docs/cluster.md explains
 * how to launch a program and what to expect.
 *
 * Threads: the context's own thread, the calling thread and workers call MPI, one at a time. So MPI must have been
 * initialised with MPI_THREAD_SERIALIZED or more; with MPI_THREAD_MULTIPLE the program may call MPI itself during a
 * run, from its other threads and from tasks. The context duplicates the communicator, so its messages are kept apart
 * from those of the program.
 *
 * Errors of MPI, a killed rank among them, end all processes, as is usual there (MPI_ERRORS_ARE_FATAL). */
#ifndef BL_MPI_H
#define BL_MPI_H

#include <ballast/link.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over `comm`, which may have a single rank. `config` may be NULL; device, workers, capacity and
 * private_entries may differ between ranks. By default a rank has one worker for each core that it may use: mpirun
 * decides that (--bind-to, --map-by). If the call fails in one rank, it fails in all, and bl_error_detail(NULL) says
 * why, except for errors of `comm` or MPI itself. */
BL_API int bl_open_mpi_sized(bl_context **context, const bl_config *config, size_t config_bytes, size_t stats_bytes,
                             MPI_Comm comm);
static inline int bl_open_mpi(bl_context **context, const bl_config *config, MPI_Comm comm) {
    return bl_open_mpi_sized(context, config, sizeof(bl_config), sizeof(bl_stats), comm);
}

#ifdef __cplusplus
}
#endif
#endif
