/* Example 17, a sum of floating-point numbers that has the same bits with any number of workers: the first two million
 * terms of the harmonic series. The body returns the sum of a block of them, and BL_REDUCE adds two sums. Which worker
 * runs a block does not matter: the sums are combined in the order of the indices. */
#include <ballast/task.h>

#include <stdio.h>
#include <string.h>

static BL_TASK void terms_run(bl_task *t, const bl_nothing *payload, uint32_t begin, uint32_t end,
                              const bl_nothing *shared, bl_nothing *local) {
    double sum = 0;
    (void)payload, (void)shared, (void)local;
    for (uint32_t i = begin; i < end; i++)
        sum += 1.0 / (i + 1);
    bl_return(t, &sum);
}
static BL_TASK void terms_add(double *into, const double *next) { *into += *next; }

#define BL_PROGRAM terms
#define BL_PAYLOAD bl_nothing
#define BL_RESULT double
#define BL_RANGE_RUN terms_run
#define BL_REDUCE terms_add
#define BL_LANE_TASKS 1
#include <ballast/program.h>

int main(void) {
    double sum[3] = {0};
    int status = BL_OK;
    for (uint32_t i = 0; i < 3 && status == BL_OK; i++) {
        bl_context *context = NULL;
        status = bl_open(&context, &(bl_config){.device = "cpu", .workers = i + 1});
        if (status == BL_OK)
            status = bl_run_reduce(context, terms_cpu(), NULL, NULL, 2000000, &sum[i], NULL);
        bl_close(context);
    }
    int same = !memcmp(&sum[0], &sum[1], sizeof *sum) && !memcmp(&sum[0], &sum[2], sizeof *sum);
    printf("sum %.17g, %s bits with 1, 2 and 3 workers: %s\n", sum[0], same ? "the same" : "other",
           bl_status_text(status));
    return status != BL_OK || !same;
}
