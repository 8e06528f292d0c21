/* Example 1, a program for CPU threads: the area under a narrow peak. An interval over which two estimates disagree
 * spawns its halves, so almost all of the work lies near the peak, and only running it shows where. */
#include <ballast/task.h>

#include <math.h>
#include <stdio.h>

typedef struct interval { /* the payload of a task */
    double from, to;
} interval;
typedef struct areas { /* shared by all tasks */
    uint64_t *total;
} areas;
typedef struct part { /* a worker's private sum */
    uint64_t area;    /* in units of 2^-40: a sum of integers does not depend on the order of the tasks */
} part;

static double peak(double x) { return 1 / (x * x + 1e-6); }
static double simpson(double a, double b) { return (b - a) / 6 * (peak(a) + 4 * peak((a + b) / 2) + peak(b)); }

static BL_TASK void peak_run(bl_task *t, const interval *i, uint32_t index, const areas *shared, part *local) {
    double middle = (i->from + i->to) / 2, whole = simpson(i->from, i->to);
    double halves = simpson(i->from, middle) + simpson(middle, i->to);
    (void)index, (void)shared;
    if (fabs(whole - halves) > 1e-13 * halves) {
        interval left = {i->from, middle}, right = {middle, i->to};
        bl_spawn(t, &left);
        bl_spawn(t, &right);
    } else {
        local->area += (uint64_t)ldexp(halves, 40);
    }
}
static BL_TASK void peak_merge(const areas *shared, const part *local) {
    bl_merge_add64(shared->total, local->area);
}

#define BL_PROGRAM peak
#define BL_PAYLOAD interval
#define BL_SHARED areas
#define BL_LOCAL part
#define BL_RUN peak_run
#define BL_MERGE peak_merge
#define BL_MAX_SPAWN 2
#include <ballast/program.h>

int main(void) {
    uint64_t total = 0; /* on a CPU, any memory is device memory */
    bl_context *context = NULL;
    bl_stats stats = {0};
    int status = bl_open(&context, &(bl_config){.device = "cpu"});
    if (status == BL_OK)
        status = bl_run(context, peak_cpu(), &(areas){&total}, &(interval){-1, 1}, 1, &stats);
    bl_close(context);
    double area = ldexp((double)total, -40), exact = 2e3 * atan(1e3);
    printf("area %.9f, exactly %.9f; %llu tasks, %u workers: %s\n", area, exact, (unsigned long long)stats.tasks,
           stats.workers, bl_status_text(status));
    return status != BL_OK || fabs(area - exact) > 1e-6;
}
