/* Example 2, one task source for CPU and GPU: main [DEVICE [N]], where DEVICE is auto, cpu, cuda or cuda:NUMBER. */
#include "queens.h"

#include <ballast/ballast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const bl_program *queens_cpu(void);
#ifdef WITH_CUDA
const bl_program *queens_cuda(void);
#else
static const bl_program *queens_cuda(void) { return NULL; }
#endif

static const uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184};
enum { MOST = sizeof known / sizeof known[0] - 1 };

static int solve(bl_context *context, uint32_t n, uint64_t *solutions, bl_stats *stats) {
    const bl_program *parts[] = {queens_cpu(), queens_cuda()};
    bl_program *program = bl_program_join(parts, 2); /* a context uses the part for its device */
    void *memory = NULL;
    int status = program ? bl_alloc(context, &memory, sizeof *solutions) : BL_ENOMEM;
    queens_shared shared = {memory, n};
    queens_board empty = {0, 0, 0};
    if (status == BL_OK)
        status = bl_zero(context, memory, sizeof *solutions);
    if (status == BL_OK) /* the empty board with the indices 0 .. n-1: the columns of the first row */
        status = bl_run_range(context, program, &shared, &empty, n, stats);
    if (status == BL_OK)
        status = bl_copy_out(context, solutions, memory, sizeof *solutions);
    bl_free(context, memory);
    bl_program_free(program);
    return status;
}

int main(int argc, char **argv) {
    bl_config config = {.device = argc > 1 ? argv[1] : "auto"};
    int n = argc > 2 ? atoi(argv[2]) : 12;
    bl_context *context = NULL;
    bl_stats stats = {0};
    uint64_t solutions = 0;
#ifndef WITH_CUDA
    if (!strcmp(config.device, "auto"))
        config.device = "cpu"; /* the only device this build has code for */
#endif
    if (n < 1 || n > MOST) {
        fprintf(stderr, "N %d: accepted are 1 to %d\n", n, MOST);
        return 2;
    }
    int status = bl_open(&context, &config);
    if (status == BL_OK)
        status = solve(context, (uint32_t)n, &solutions, &stats);
    if (status == BL_OK)
        printf("%d queens on %s: %llu solutions, %llu tasks, %u workers\n", n, bl_device_id(context),
               (unsigned long long)solutions, (unsigned long long)stats.tasks, stats.workers);
    else
        fprintf(stderr, "device %s: %s\n%s", config.device, bl_status_text(status),
                context ? bl_error_detail(context) : "");
    bl_close(context);
    return status != BL_OK || solutions != known[n];
}
