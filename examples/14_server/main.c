/* Example 14, a server: main [DEVICE [REQUESTS [PAUSE]]]. A run stays open, and a client submits requests: in how many
 * ways can n queens be placed? Each is a tree search by all workers, and several are under way at a time. After each
 * request the client sleeps for PAUSE microseconds. Prints how long the first answer took, which includes the start of
 * the run, and then how long the others took. */
#include "queens_board.h"

#include <ballast/ballast.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

const bl_program *ways_cpu(void);
#ifdef WITH_CUDA
const bl_program *ways_cuda(void);
#else
static const bl_program *ways_cuda(void) { return NULL; }
#endif

static const uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680};
enum { SMALLEST = 6, SIZES = 6 }; /* boards of 6 to 11 */

typedef struct request {
    uint32_t n;
    double submitted, took; /* seconds */
    atomic_int answered;    /* set last */
    int right;
} request;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Called by the worker that has the result, or by the context's thread. */
static void answer(void *requests, uint64_t ticket, const void *result) {
    request *r = (request *)requests + ticket; /* tickets count what was submitted */
    uint64_t ways;
    memcpy(&ways, result, sizeof ways);
    r->took = now() - r->submitted;
    r->right = ways == known[r->n];
    atomic_store(&r->answered, 1);
}

static int serve(bl_context *context, request *requests, uint32_t count, long pause) {
    const bl_program *parts[] = {ways_cpu(), ways_cuda()};
    bl_program *program = bl_program_join(parts, 2);
    int status = program ? bl_start_open(context, program, NULL) : BL_ENOMEM;
    for (uint32_t i = 0; i < count && status == BL_OK; i++) {
        requests[i].n = SMALLEST + i * 7919u % SIZES;
        requests[i].submitted = now();
        status = bl_submit(context, &(board){requests[i].n, 0, 0, 0}, sizeof(board), 1, NULL);
        if (i == 0) /* the first answer says that the server is up */
            while (!atomic_load(&requests[0].answered) && bl_wait_for(context, 1e-4, NULL) == BL_EBUSY)
                continue;
        thrd_sleep(&(struct timespec){0, 1000 * pause}, NULL);
    }
    bl_submit_end(context); /* nothing more comes: the run ends when all is answered */
    int ended = bl_wait(context, NULL);
    bl_program_free(program);
    return status == BL_OK || status == BL_ECLOSED ? ended : status; /* closed: the run ended early, and this is why */
}

static int by_time(const void *a, const void *b) {
    double x = ((const request *)a)->took, y = ((const request *)b)->took;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 600, right = 0;
    long pause = argc > 3 ? atol(argv[3]) : 500;
    if (count == 0 || pause < 0 || pause > 999999) {
        fprintf(stderr, "usage: %s [DEVICE [REQUESTS [PAUSE]]] (accepted: 1 request or more, 0 to 999999 us)\n",
                argv[0]);
        return 2;
    }
    request *requests = calloc(count, sizeof *requests);
    bl_config config = {.device = argc > 1 ? argv[1] : "auto", .answer = answer, .answer_arg = requests};
    bl_context *context = NULL;
#ifndef WITH_CUDA
    if (!strcmp(config.device, "auto"))
        config.device = "cpu"; /* the only device this build has code for */
#endif
    int status = requests ? bl_open(&context, &config) : BL_ENOMEM;
    if (status == BL_OK)
        status = serve(context, requests, count, pause);
    for (uint32_t i = 0; i < count && requests; i++)
        right += requests[i].right == 1;
    if (status == BL_OK) {
        double first = requests[0].took;
        qsort(requests, count, sizeof *requests, by_time);
        printf("%u of %u answers on %s are right; the first after %.1f ms; median %.0f us, p99 %.0f us\n", right, count,
               bl_device_id(context), 1e3 * first, 1e6 * requests[count / 2].took,
               1e6 * requests[count - 1 - count / 100].took);
    } else {
        fprintf(stderr, "device %s: %s\n%s\n", config.device, bl_status_text(status), bl_error_detail(context));
    }
    bl_close(context);
    free(requests);
    return status != BL_OK || right != count;
}
