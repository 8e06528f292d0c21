/* The module of the tool that knows MPI: cli/ranks_module.h. */
#include "ranks_module.h"

#include "transport.h"

static void start(void) {
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level); /* the link checks the level */
}

static bl_link make_link(void) { return bl__mpi_link(MPI_COMM_WORLD); }

static void end(void) { MPI_Finalize(); }

__attribute__((visibility("default")))
const ranks_module ballast_ranks_module = {.bytes = RANKS_MODULE_BYTES, .start = start, .link = make_link, .end = end};
