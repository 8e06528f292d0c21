/* Example 12, a loop of more than 2^32 steps: how close do the multiples of the golden ratio come to a whole number
 * from above? The body is a plain function that is given pieces of the loop; an atomic minimum on a double collects
 * what the pieces found. */
#include <ballast/ballast.h>
#include <ballast/platform/floats.h>

#include <stdio.h>

static const uint64_t steps = 4500000000, golden = 0x9e3779b97f4a7c15; /* the fraction, in units of 2^-64 */

typedef struct answer {
    double *least;
} answer;

static void look(uint64_t begin, uint64_t end, const void *shared) {
    uint64_t least = UINT64_MAX;
    for (uint64_t i = begin + 1; i <= end; i++)
        least = i * golden < least ? i * golden : least;
    bl_fetch_min_double_relaxed(((const answer *)shared)->least, (double)least / 18446744073709551616.0);
}

int main(void) {
    double least = 1;
    bl_program *program = bl_program_from_long_body(look, sizeof(answer));
    bl_context *context = NULL;
    bl_stats stats = {0};
    int status = program ? bl_open(&context, &(bl_config){.device = "cpu"}) : BL_ENOMEM;
    if (status == BL_OK)
        status = bl_run_range(context, program, &(answer){&least}, NULL, steps, &stats);
    bl_close(context);
    bl_program_free(program);
    printf("%.4g above a whole number, after %llu steps: %s\n", least, (unsigned long long)stats.tasks,
           bl_status_text(status));
    return status != BL_OK || stats.tasks != steps;
}
