/* Example 16, finding a race with the simulated machine: a counter that tasks read and then write loses counts. On a
 * CPU that shows once in a while. Here every atomic operation is a point at which another lane may continue, a seed
 * decides which one does, and the same seed always loses the same counts. */
#define BL_TARGET_SIM /* for the whole file, before the headers: count_sim() instead of count_cpu() */
#include <ballast/task.h>

#include <stdio.h>

typedef struct counter {
    uint64_t *count;
    uint32_t careless;
} counter;

static BL_TASK void count_run(bl_task *t, const bl_nothing *payload, uint32_t index, const counter *shared,
                              bl_nothing *local) {
    (void)t, (void)payload, (void)index, (void)local;
    if (shared->careless)
        bl_store64_relaxed(shared->count, bl_load64_relaxed(shared->count) + 1);
    else
        bl_fetch_add64_relaxed(shared->count, 1);
}

#define BL_PROGRAM count
#define BL_PAYLOAD bl_nothing
#define BL_SHARED counter
#define BL_RUN count_run
#define BL_MAX_SPAWN 0
#define BL_LANE_TASKS 1
#include <ballast/program.h>

enum { TASKS = 1000 };

static uint64_t counted(uint64_t seed, uint32_t careless) {
    uint64_t count = 0;
    bl_context *context = NULL;
    int status = bl_open(&context, &(bl_config){.device = "sim", .seed = seed});
    if (status == BL_OK)
        status = bl_run_range(context, count_sim(), &(counter){&count, careless}, NULL, TASKS, NULL);
    bl_close(context);
    return status == BL_OK ? count : 0;
}

int main(void) {
    int wrong = 0, same = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t count = counted(seed, 1);
        printf("seed %llu: %llu of %d\n", (unsigned long long)seed, (unsigned long long)count, TASKS);
        wrong += count < TASKS;
        same += count == counted(seed, 1);
    }
    printf("%d of 5 seeds show the race, %d repeat it; with an atomic addition: %llu\n", wrong, same,
           (unsigned long long)counted(1, 0));
    return wrong != 5 || same != 5 || counted(1, 0) != TASKS;
}
