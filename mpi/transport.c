/* Messages are sent with MPI_Isend from copies, which are freed when MPI is done with them, and received when
 * MPI_Iprobe finds one. Where all ranks have to come together MPI itself would spin, on the core of somebody's worker:
 * so this waits in naps that grow. */
#include "transport.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 1, SPINS = 64, LEAST_NAP = 5000, MOST_NAP = 500000 /* ns */ };

typedef struct pending {
    struct pending *next;
    MPI_Request request;
    unsigned char bytes[];
} pending;

typedef struct line {
    MPI_Comm comm;
    pending *first, *last; /* in the order in which they were sent */
} line;

/* One call of MPI at a time, of all contexts: MPI_THREAD_SERIALIZED. */
static pthread_mutex_t mpi = PTHREAD_MUTEX_INITIALIZER;

/* With the lock. */
static void free_sent(line *l, int all) {
    while (l->first) {
        pending *p = l->first;
        int done = 0;
        if (all)
            done = MPI_Wait(&p->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        else
            MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
        if (!done)
            return;
        l->first = p->next;
        free(p);
    }
    l->last = NULL;
}

static void send_message(void *arg, uint32_t to, const void *message, size_t bytes) {
    line *l = arg;
    pending *p = malloc(sizeof *p + bytes);
    pthread_mutex_lock(&mpi);
    free_sent(l, 0);
    if (!p) { /* without a copy it has to wait for the receiver */
        MPI_Send(message, (int)bytes, MPI_BYTE, (int)to, TAG, l->comm);
    } else {
        memcpy(p->bytes, message, bytes);
        p->next = NULL;
        MPI_Isend(p->bytes, (int)bytes, MPI_BYTE, (int)to, TAG, l->comm, &p->request);
        if (l->last)
            l->last->next = p;
        else
            l->first = p;
        l->last = p;
    }
    pthread_mutex_unlock(&mpi);
}

static size_t receive_message(void *arg, uint32_t *from, void *message, size_t room) {
    line *l = arg;
    MPI_Status status;
    int there = 0, bytes = 0;
    pthread_mutex_lock(&mpi);
    for (int i = 0; i < 2 && !there; i++) /* Open MPI looks first, and then at the network: so again */
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, l->comm, &there, &status);
    if (there) {
        *from = (uint32_t)status.MPI_SOURCE;
        MPI_Recv(message, (int)room, MPI_BYTE, status.MPI_SOURCE, TAG, l->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
    }
    free_sent(l, 0);
    pthread_mutex_unlock(&mpi);
    return (size_t)bytes;
}

static void rest(uint32_t tries) {
    if (tries < SPINS) {
        sched_yield();
        return;
    }
    long nap = LEAST_NAP * (long)(tries - SPINS + 1);
    nanosleep(&(struct timespec){0, nap < MOST_NAP ? nap : MOST_NAP}, NULL);
}

static void gather(void *arg, const void *mine, size_t bytes, void *all) {
    line *l = arg;
    MPI_Request request;
    int done = 0;
    pthread_mutex_lock(&mpi);
    MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, l->comm, &request);
    for (uint32_t tries = 0;; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        pthread_mutex_unlock(&mpi);
        rest(tries);
        pthread_mutex_lock(&mpi);
    }
    pthread_mutex_unlock(&mpi);
}

static void close_line(void *arg) {
    line *l = arg;
    int finalized = 0;
    pthread_mutex_lock(&mpi);
    MPI_Finalized(&finalized);
    if (!finalized) {
        free_sent(l, 1); /* all have arrived when a run ends */
        MPI_Comm_free(&l->comm);
    }
    pthread_mutex_unlock(&mpi);
    free(l);
}

/* Why it cannot be used; NULL: it can. */
static const char *wrong_with(MPI_Comm comm) {
    int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE, inter = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return "MPI: not initialised (accepted: between MPI_Init_thread and MPI_Finalize)";
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return "MPI: several threads cannot use it (accepted: MPI_Init_thread with MPI_THREAD_SERIALIZED or "
               "MPI_THREAD_MULTIPLE)";
    if (comm == MPI_COMM_NULL)
        return "comm: MPI_COMM_NULL (accepted: a communicator that this process belongs to)";
    MPI_Comm_test_inter(comm, &inter);
    return inter ? "comm: an intercommunicator (accepted: one group of processes)" : NULL;
}

/* With the lock: the number of this process among those of its machine. */
static int local_rank(MPI_Comm comm) {
    MPI_Comm machine;
    int rank;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    return rank;
}

bl_link bl__mpi_link(MPI_Comm comm) {
    bl_link link = {.wrong = wrong_with(comm)};
    line *l = calloc(1, sizeof *l);
    int rank, ranks, local;
    if (!link.wrong && !l)
        link.wrong = "link: no memory";
    if (link.wrong) {
        free(l);
        return link;
    }
    pthread_mutex_lock(&mpi);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_dup(comm, &l->comm);
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_ARE_FATAL);
    local = local_rank(comm);
    pthread_mutex_unlock(&mpi);
    return (bl_link){.arg = l,
                     .rank = (uint32_t)rank,
                     .ranks = (uint32_t)ranks,
                     .send = send_message,
                     .receive = receive_message,
                     .gather = gather,
                     .close = close_line,
                     .local = (uint32_t)local};
}
