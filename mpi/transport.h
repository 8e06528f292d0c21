/* A link over MPI. It uses nothing of the library. */
#ifndef BALLAST_MPI_TRANSPORT_H
#define BALLAST_MPI_TRANSPORT_H

#include <ballast/link.h>
#include <mpi.h>

/* Collective: the communicator is duplicated. link.wrong says why there is none. */
bl_link bl__mpi_link(MPI_Comm comm);

#endif
