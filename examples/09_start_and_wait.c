/* Example 9, start and wait: two contexts count primes at the same time, while the caller looks at their progress. A
 * third run would take minutes, and is cancelled when the others are done. */
#include <ballast/task.h>

#include <stdio.h>

typedef struct totals {
    uint64_t *primes;
} totals;
typedef struct found { /* by one worker */
    uint64_t primes;
} found;

static BL_TASK void prime_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end, const totals *shared,
                              found *local) {
    (void)t, (void)payload, (void)shared;
    for (uint32_t n = begin; n < end; n++) {
        uint32_t divisor = 2;
        while (divisor * (uint64_t)divisor <= n && n % divisor)
            divisor++;
        local->primes += n > 1 && divisor * (uint64_t)divisor > n;
    }
}
static BL_TASK void prime_merge(const totals *shared, const found *local) {
    bl_merge_add64(shared->primes, local->primes);
}

#define BL_PROGRAM prime
#define BL_PAYLOAD bl_nothing
#define BL_SHARED totals
#define BL_LOCAL found
#define BL_RANGE_RUN prime_run
#define BL_MERGE prime_merge
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

enum { RUNS = 3 };

int main(void) {
    static const uint32_t below[RUNS] = {2000000, 1000000, UINT32_MAX};
    bl_context *context[RUNS] = {NULL};
    uint64_t primes[RUNS] = {0};
    int status = BL_OK, last = BL_OK, looks = 0;
    for (int i = 0; i < RUNS && status == BL_OK; i++) {
        status = bl_open(&context[i], &(bl_config){.device = "cpu"});
        if (status == BL_OK)
            status = bl_start_range(context[i], prime_cpu(), &(totals){&primes[i]}, NULL, below[i]);
    }
    for (int i = 0; i < RUNS - 1 && status == BL_OK; i++)
        while ((status = bl_wait_for(context[i], 0.01, NULL)) == BL_EBUSY) /* not done yet */
            looks++;
    if (status == BL_OK) {
        uint64_t tasks = bl_progress(context[RUNS - 1]);
        bl_cancel(context[RUNS - 1]);
        last = bl_wait(context[RUNS - 1], NULL);
        printf("looked %d times; the last run had come to %llu numbers\n", looks, (unsigned long long)tasks);
        printf("%llu primes below %u, %llu below %u, 1 run %s\n", (unsigned long long)primes[0], below[0],
               (unsigned long long)primes[1], below[1], bl_status_text(last));
    }
    for (int i = 0; i < RUNS; i++)
        bl_close(context[i]); /* would wait for a run under way */
    return status != BL_OK || last != BL_ECANCEL;
}
