/* Example 8, checkpoint and resume: how many ways lead from corner to corner of a 13 by 13 grid, moving right and down?
 * Each context runs for 20 milliseconds, then writes a checkpoint, and a new context resumes it. Another process,
 * another scheduler or a GPU could resume it too. */
#include <ballast/task.h>

#include <stdio.h>

enum { SIDE = 13, PARTS = 10000 };

typedef struct place {
    uint32_t right, down; /* steps still to go */
} place;

/* A checkpoint holds only memory from bl_alloc, so everything that tasks change must be allocated there. */
typedef struct totals {
    uint64_t *ways;
} totals;
typedef struct found { /* by one worker */
    uint64_t ways;
} found;

static BL_TASK void walk_run(bl_task *t, const place *at, uint32_t index, const totals *shared, found *local) {
    (void)index, (void)shared;
    if (at->right == 0 || at->down == 0) {
        local->ways++;
        return;
    }
    place right = {at->right - 1, at->down}, down = {at->right, at->down - 1};
    bl_spawn(t, &right);
    bl_spawn(t, &down);
}
static BL_TASK void walk_merge(const totals *shared, const found *local) {
    bl_merge_add64(shared->ways, local->ways);
}

#define BL_PROGRAM walk
#define BL_PAYLOAD place
#define BL_SHARED totals
#define BL_LOCAL found
#define BL_RUN walk_run
#define BL_MERGE walk_merge
#define BL_MAX_SPAWN 2
#define BL_LANE_TASKS 1
#include <ballast/program.h>

/* Resuming takes the same calls as starting: allocate, fill, run. */
static int run_part(const char *file, int part, uint64_t *ways, bl_stats *stats) {
    bl_config config = {.device = "cpu", .time_limit = 0.02, .checkpoint = file, .resume = part ? file : NULL};
    bl_context *context = NULL;
    void *memory = NULL;
    int status = bl_open(&context, &config);
    if (status == BL_OK)
        status = bl_alloc(context, &memory, sizeof *ways);
    if (status == BL_OK)
        status = bl_zero(context, memory, sizeof *ways);
    if (status == BL_OK)
        status = bl_run(context, walk_cpu(), &(totals){memory}, &(place){SIDE, SIDE}, 1, stats);
    if (status == BL_OK)
        status = bl_copy_out(context, ways, memory, sizeof *ways);
    if (status == BL_EFILE)
        printf("%s\n", bl_error_detail(context));
    bl_free(context, memory);
    bl_close(context);
    return status;
}

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : "08_checkpoint.rest";
    uint64_t ways = 0;
    bl_stats stats = {0};
    int status = BL_ETIME, parts = 0;
    while (status == BL_ETIME && parts < PARTS)
        status = run_part(file, parts++, &ways, &stats);
    remove(file);
    printf("%llu ways, %llu tasks in %d parts: %s\n", (unsigned long long)ways, (unsigned long long)stats.tasks, parts,
           bl_status_text(status));
    return status != BL_OK;
}
