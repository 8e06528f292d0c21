/* Example 10, ending a run early: which of 40 numbers add up to a given sum? The first task that finds out ends the run
 * with bl_fail, and its payload is the answer. Payloads point to memory; config.left frees that of all tasks that were
 * not run. */
#include <ballast/task.h>

#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 40 };
static const uint64_t goal = 40000000;

typedef struct choice {
    unsigned char *taken; /* malloc: one byte per number that was decided about */
    uint64_t sum;
    uint32_t decided;
} choice;
typedef struct numbers {
    const uint32_t *values; /* NUMBERS */
    uint32_t *blocks;       /* of memory that payloads own */
} numbers;

static choice decide(const numbers *s, const choice *p, unsigned char take) {
    choice next = {malloc(NUMBERS), p->sum + (take ? s->values[p->decided] : 0), p->decided + 1};
    if (!next.taken)
        abort();
    for (uint32_t i = 0; i < p->decided; i++)
        next.taken[i] = p->taken[i];
    next.taken[p->decided] = take;
    bl_fetch_add32_relaxed(s->blocks, 1);
    return next;
}

static BL_TASK void sum_run(bl_task *t, const choice *p, uint32_t index, const numbers *s, bl_nothing *local) {
    (void)index, (void)local;
    if (p->sum == goal) {
        bl_fail(t, p->decided, p); /* it keeps its memory, for main */
        return;
    }
    for (unsigned char take = 0; take < 2 && p->decided < NUMBERS && p->sum < goal; take++) {
        choice next = decide(s, p, take);
        bl_spawn(t, &next);
    }
    free(p->taken);
    bl_fetch_add32_relaxed(s->blocks, (uint32_t)-1);
}

#define BL_PROGRAM sum
#define BL_PAYLOAD choice
#define BL_SHARED numbers
#define BL_RUN sum_run
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

static void free_left(void *blocks, const void *payload, uint32_t begin, uint32_t end) {
    (void)begin, (void)end;
    free(((const choice *)payload)->taken);
    --*(uint32_t *)blocks;
}

int main(void) {
    uint32_t values[NUMBERS], random = 1, blocks = 1; /* the root's, which is NULL */
    for (uint32_t i = 0; i < NUMBERS; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = (random >> 10) / 1000 * 1000;
    }
    numbers shared = {values, &blocks};
    bl_config config = {.device = "cpu", .left = free_left, .left_arg = &blocks};
    bl_context *context = NULL;
    bl_stats stats = {0};
    uint64_t decided = 0, sum = 0;
    int status = bl_open(&context, &config);
    if (status == BL_OK)
        status = bl_run(context, sum_cpu(), &shared, &(choice){NULL, 0, 0}, 1, &stats);
    const choice *answer = status == BL_ETASK ? bl_failure(context, &decided) : NULL;
    for (uint64_t i = 0; answer && i < decided; i++)
        sum += answer->taken[i] ? values[i] : 0;
    if (answer) {
        free(answer->taken);
        blocks--;
        printf("%llu tasks run, %llu left\n", (unsigned long long)stats.tasks, (unsigned long long)stats.left);
    }
    printf("sum %llu of %llu, %u blocks left: %s\n", (unsigned long long)sum, (unsigned long long)goal,
           (unsigned)blocks, bl_status_text(status));
    bl_close(context);
    return !answer || sum != goal || blocks != 0;
}
