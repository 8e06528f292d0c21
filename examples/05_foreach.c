/* Example 5, a parallel loop whose steps are small and uneven: from which number below a million does 3n + 1 take
 * longest to reach 1? The body gets the range piece by piece, each a few microseconds long; meanwhile idle workers can
 * steal what it has not started. */
#include <ballast/task.h>

#include <stdio.h>

typedef struct answer {
    uint64_t *longest; /* steps (high 32 bits) and number */
} answer;
typedef struct best { /* found by one worker */
    uint64_t longest;
} best;

static BL_TASK void steps_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end, const answer *shared,
                              best *local) {
    (void)payload, (void)shared;
    for (uint32_t number = begin + 1 + t->lane; number <= end; number += t->lanes) {
        uint64_t steps = 0;
        for (uint64_t n = number; n > 1; steps++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        if ((steps << 32 | number) > local->longest)
            local->longest = steps << 32 | number;
    }
}
static BL_TASK void steps_merge(const answer *shared, const best *local) {
    bl_merge_max64(shared->longest, local->longest);
}

#define BL_PROGRAM steps
#define BL_PAYLOAD bl_nothing
#define BL_SHARED answer
#define BL_LOCAL best
#define BL_RANGE_RUN steps_run
#define BL_MERGE steps_merge
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

int main(void) {
    uint64_t longest = 0;
    bl_context *context = NULL;
    bl_stats stats = {0};
    int status = bl_open(&context, &(bl_config){.device = "cpu"});
    if (status == BL_OK)
        status = bl_run_range(context, steps_cpu(), &(answer){&longest}, NULL, 999999, &stats);
    bl_close(context);
    printf("%u takes %u steps; %llu numbers, %u workers: %s\n", (unsigned)longest, (unsigned)(longest >> 32),
           (unsigned long long)stats.tasks, stats.workers, bl_status_text(status));
    return status != BL_OK;
}
