/* Example 18, a run that several processes share, over MPI: how many ways there are to pay an amount with coins of 1,
 * 2, 5, 10, 20 and 50. A task has an amount and the largest coin that may still be used; work moves to whichever
 * process runs out of it. What tasks find is added up in each process, as always, and then over all of them, with
 * MPI_Reduce.
 *
 *     mpirun -n 4 18_cluster 400 */
#include <ballast/mpi.h>
#include <ballast/task.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct purse { /* the payload of a task, which travels as bytes: no pointers */
    uint32_t amount, coins;
} purse;
typedef struct found { /* shared by all tasks of a process */
    uint64_t *ways;
} found;
typedef struct part { /* a worker's private sum */
    uint64_t ways;
} part;

static const uint32_t values[] = {1, 2, 5, 10, 20, 50};

static BL_TASK void pay_run(bl_task *t, const purse *p, uint32_t index, const found *shared, part *local) {
    (void)index, (void)shared;
    if (p->amount == 0 || p->coins == 1) { /* the rest in coins of 1 */
        local->ways++;
        return;
    }
    const purse without = {p->amount, p->coins - 1};
    bl_spawn(t, &without);
    if (p->amount >= values[p->coins - 1]) {
        const purse with = {p->amount - values[p->coins - 1], p->coins};
        bl_spawn(t, &with);
    }
}
static BL_TASK void pay_merge(const found *shared, const part *local) {
    bl_merge_add64(shared->ways, local->ways);
}

#define BL_PROGRAM pay
#define BL_PAYLOAD purse
#define BL_SHARED found
#define BL_LOCAL part
#define BL_RUN pay_run
#define BL_MERGE pay_merge
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

int main(int argc, char **argv) {
    int threads, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    const purse all = {argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 400, 6};
    uint64_t mine = 0, ways = 0;
    bl_context *context = NULL;
    bl_stats stats = {0};
    int status = bl_open_mpi(&context, NULL, MPI_COMM_WORLD);
    if (status == BL_OK) /* every process makes this call; the root of rank 0 counts */
        status = bl_run(context, pay_cpu(), &(found){&mine}, &all, 1, &stats);
    MPI_Reduce(&mine, &ways, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu ways to pay %u, %llu tasks in %d processes: %s\n", (unsigned long long)ways, (unsigned)all.amount,
               (unsigned long long)stats.tasks, ranks, bl_status_text(status));
    bl_close(context);
    MPI_Finalize();
    return status != BL_OK;
}
