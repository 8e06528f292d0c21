/* Example 11, workers: runs within tasks. The outer run looks at 12 squares, and for each an inner run counts the
 * points of a grid that lie in a disc. Every worker of the outer run has a context of its own for that, and a buffer
 * that BL_BEGIN allocates and BL_MERGE frees. bl_limit keeps the inner runs to the threads that the outer one
 * leaves. */
#include <ballast/ballast.h>
#include <ballast/task.h>

#include <stdio.h>
#include <stdlib.h>

enum { SQUARES = 12, SIDE = 1000, MOST_WORKERS = 64 };

/* ---- the inner run: a loop over rows, as a plain function ---- */

typedef struct rows {
    uint32_t *inside; /* per row */
    uint32_t square;
} rows;

static void count_rows(uint32_t begin, uint32_t end, const void *shared) {
    const rows *r = shared;
    for (uint32_t y = begin; y < end; y++) {
        r->inside[y] = 0;
        for (uint32_t x = 0; x < SIDE; x++)
            r->inside[y] += x * x + y * y < (r->square + 1) * (SIDE * SIDE / SQUARES);
    }
}

/* ---- the outer run ---- */

typedef struct tools {
    bl_context *inner[MOST_WORKERS];
    const bl_program *rows;
    uint64_t *points; /* per square */
} tools;
typedef struct mine { /* one worker's */
    bl_context *inner;
    uint32_t *buffer;
} mine;

static BL_TASK void square_begin(const tools *s, mine *local, uint32_t worker) {
    local->inner = s->inner[worker];
    local->buffer = malloc(SIDE * sizeof *local->buffer);
}

static BL_TASK void square_run(bl_task *t, const bl_nothing *payload, uint32_t square, const tools *s, mine *local) {
    rows r = {local->buffer, square};
    int status = local->buffer ? bl_run_range(local->inner, s->rows, &r, NULL, SIDE, NULL) : BL_ENOMEM;
    if (status != BL_OK)
        bl_fail(t, (uint64_t)status, payload);
    for (uint32_t y = 0; y < SIDE && status == BL_OK; y++)
        s->points[square] += r.inside[y];
}

static BL_TASK void square_merge(const tools *s, const mine *local) {
    (void)s;
    free(local->buffer);
}

#define BL_PROGRAM squares
#define BL_PAYLOAD bl_nothing
#define BL_SHARED tools
#define BL_LOCAL mine
#define BL_BEGIN square_begin
#define BL_RUN square_run
#define BL_MERGE square_merge
#define BL_MAX_SPAWN 0
#include <ballast/program.h>

int main(void) {
    uint64_t points[SQUARES] = {0}, sum = 0;
    bl_program *rows_program = bl_program_from_body(count_rows, sizeof(rows));
    tools shared = {.rows = rows_program, .points = points};
    bl_context *outer = NULL;
    uint32_t workers = 0;
    int status = bl_open(&outer, &(bl_config){.device = "cpu", .workers = 2});
    if (status == BL_OK)
        status = bl_workers(outer, squares_cpu(), &workers);
    for (uint32_t i = 0; i < workers && status == BL_OK; i++) {
        status = bl_open(&shared.inner[i], &(bl_config){.device = "cpu"});
        if (status == BL_OK)
            status = bl_limit(shared.inner[i], 2);
    }
    if (status == BL_OK)
        status = bl_run_range(outer, squares_cpu(), &shared, NULL, SQUARES, NULL);
    for (uint32_t i = 0; i < SQUARES; i++)
        sum += points[i];
    printf("%llu points in %d discs: %s\n", (unsigned long long)sum, SQUARES, bl_status_text(status));
    for (uint32_t i = 0; i < workers; i++)
        bl_close(shared.inner[i]);
    bl_close(outer);
    bl_program_free(rows_program);
    return status != BL_OK;
}
