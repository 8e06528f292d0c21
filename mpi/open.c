/* bl_open for a communicator. */
#include "transport.h"

#include <ballast/mpi.h>

int bl_open_mpi_sized(bl_context **context, const bl_config *config, size_t config_bytes, size_t stats_bytes,
                      MPI_Comm comm) {
    const bl_link link = bl__mpi_link(comm);
    return bl_open_linked_sized(context, config, config_bytes, stats_bytes, &link);
}
