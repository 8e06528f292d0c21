/* The purpose of donating: a worker whose queue is full fills other queues before the run has to grow. */
#include "check.h"

#include <ballast/ballast.h>
#include <ballast/task.h>
#include <stdio.h>

enum { CHILDREN = 24, CAPACITY = 8 };

typedef struct counts {
    uint64_t *tasks;
} counts;

static void spawn_all(bl_task *task, const void *payload, uint32_t index, const void *data) {
    const counts *shared = data;
    uint32_t children = *(const uint32_t *)payload, none = 0;
    (void)index;
    bl_fetch_add64_relaxed(shared->tasks, 1);
    for (uint32_t i = 0; i < children; i++)
        bl_task_spawn(task, &none, 1);
}

/* `bounded`: other queues may hold more than requested. */
static void run_root(const bl_program *program, const char *scheduler, bool bounded, uint32_t workers,
                     bl_victims victims) {
    check_at("%s, %u workers, victims %d", scheduler, workers, (int)victims);
    bl_config config = {.device = "cpu",
                        .scheduler = scheduler,
                        .workers = workers,
                        .capacity = CAPACITY,
                        .private_entries = BL_NONE,
                        .victims = victims};
    bl_context *c = NULL;
    CHECK_SAME(bl_open(&c, &config), BL_OK);
    uint64_t tasks = 0;
    uint32_t root = CHILDREN;
    bl_stats stats;
    counts shared = {&tasks}; /* on a CPU, device memory is host memory */
    CHECK_SAME(bl_run(c, program, &shared, &root, 1, &stats), BL_OK);
    CHECK_SAME(tasks, 1 + CHILDREN);
    if (workers * CAPACITY > CHILDREN) /* all fit, though not into one queue */
        CHECK_SAME(stats.pauses, 0);
    else if (workers == 1 && bounded)
        CHECK(stats.pauses > 0);
    bl_close(c);
}

int main(void) {
    check_limit(120);
    bl_program *program = bl_program_from_function(spawn_all, sizeof(uint32_t), sizeof(counts), CHILDREN);
    char scheduler[64];
    bl_queue_info queue;
    for (uint32_t i = 0; bl_queue_info_at(i, &queue); i++) {
        snprintf(scheduler, sizeof scheduler, "donate:%s", queue.name);
        for (uint32_t n = 0; n < 40 / CHECK_SLOWER && bl_scheduler_traits(scheduler); n++)
            for (uint32_t workers = 1; workers <= 4; workers++)
                run_root(program, scheduler, queue.flags & BL_QUEUE_BOUNDED, workers,
                         n % 2 ? BL_VICTIMS_RANDOM : BL_VICTIMS_ROUND_ROBIN);
    }
    bl_program_free(program);
    return check_end();
}
