/* What the tool needs of MPI, in a module of its own that is loaded only under mpirun: so the tool runs where MPI is
 * missing, and without mpirun MPI is neither loaded nor initialised. mpi/tool.c. */
#ifndef BALLAST_CLI_RANKS_MODULE_H
#define BALLAST_CLI_RANKS_MODULE_H

#include <ballast/link.h>

typedef struct ranks_module {
    size_t bytes;        /* of this struct and of a bl_link, to tell a module of another version */
    void (*start)(void); /* initialises MPI, which ends the process if that fails */
    bl_link (*link)(void);
    void (*end)(void);
} ranks_module;

enum { RANKS_MODULE_BYTES = sizeof(ranks_module) + sizeof(bl_link) };

extern const ranks_module ballast_ranks_module;

#endif
