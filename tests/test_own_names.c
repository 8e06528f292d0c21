// COMPILE: -O0
/* A user's types and functions may have the names that ours have for parameters and queues. */
#include "check.h"

#include <ballast/ballast.h>
#include <ballast/task.h>

typedef struct shared {
    uint64_t *sum;
} shared;
typedef struct w {
    uint32_t depth;
} w;
typedef struct local {
    uint64_t tasks;
} local;

static BL_TASK void run(bl_task *t, const w *node, uint32_t broker, const shared *ms, local *tz) {
    w child = {node->depth - 1};
    (void)broker, (void)ms;
    tz->tasks++;
    if (node->depth)
        bl_spawn_n(t, &child, 2);
}
static BL_TASK void merge(const shared *faa, const local *blocking) {
    bl_fetch_add64_relaxed(faa->sum, blocking->tasks);
}
#define BL_PROGRAM task
#define BL_PAYLOAD w
#define BL_SHARED shared
#define BL_LOCAL local
#define BL_RUN run
#define BL_MERGE merge
#include <ballast/program.h>

typedef struct carried {
    uint32_t depth;
} carried;
typedef uint64_t record;

static BL_TASK void stack(bl_task *t, const carried *node, uint32_t index, const w *abp, shared *lcrq) {
    record leaf = 1;
    carried child = {node->depth - 1};
    (void)index, (void)abp, (void)lcrq;
    if (node->depth)
        bl_fork(t, &child, &child, 2);
    else
        bl_return(t, &leaf);
}
static BL_TASK void queue(bl_task *t, const carried *node, const record *results, uint32_t count, const w *abp,
                          shared *lcrq) {
    record sum = results[0] + results[1];
    (void)node, (void)count, (void)abp, (void)lcrq;
    bl_return(t, &sum);
}
#define BL_PROGRAM worker
#define BL_PAYLOAD carried
#define BL_SHARED w
#define BL_LOCAL shared
#define BL_RESULT record
#define BL_RUN stack
#define BL_JOIN queue
#define BL_JOIN_WIDTH 2
#include <ballast/program.h>

int main(void) {
    bl_context *c;
    uint64_t tasks = 0;
    record leaves = 0;
    if (CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK)) {
        CHECK_SAME(bl_run(c, task_cpu(), &(shared){&tasks}, &(w){10}, 1, NULL), BL_OK);
        CHECK_SAME(bl_run_join(c, worker_cpu(), &(w){0}, &(carried){10}, 1, &leaves, NULL), BL_OK);
        CHECK_SAME(tasks, 2047);
        CHECK_SAME(leaves, 1024);
        bl_close(c);
    }
    return check_end();
}
