/* The application `fib`: its interface to the command line, the tests and the benchmarks. */
#include "fib.h"

#include "../common/app.h"
#include "../common/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct fib {
    uint32_t n;
    uint64_t value, calls; /* of the last run */
} fib;

static const app_option fib_options[] = {
    {"--n", "N", "30", "which number, 0 to 60"},
    {NULL, NULL, NULL, NULL},
};

static int fib_app_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    (void)seed;
    uint32_t n;
    if (!parse_u32(values[0], &n) || n > FIB_MOST) {
        snprintf(error->text, sizeof error->text, "--n: \"%.100s\" is invalid; accepted: a whole number from 0 to %d",
                 values[0], FIB_MOST);
        return 2;
    }
    fib *f = (fib *)calloc(1, sizeof *f);
    if (f == NULL) {
        snprintf(error->text, sizeof error->text, "fib: %s", bl_status_text(BL_ENOMEM));
        return 1;
    }
    f->n = n;
    *problem = f;
    return 0;
}

static void fib_app_close(void *problem) { free(problem); }

APP_PROGRAM(fib_app_program, fib)

/* There are no data besides a call's argument. */
static int fib_app_load(void *problem, bl_context *context) {
    (void)problem, (void)context;
    return fib_app_program() ? BL_OK : BL_ENOMEM;
}

static void fib_app_unload(void *problem, bl_context *context) { (void)problem, (void)context; }

static int fib_app_run(void *problem, bl_context *context, bl_stats *stats) {
    fib *f = (fib *)problem;
    const fib_call root = {f->n};
    int status = bl_run_join(context, fib_app_program(), NULL, &root, 1, &f->value, stats);
    if (status == BL_OK)
        f->calls = stats->tasks;
    return status;
}

static bool fib_app_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    (void)stats, (void)force;
    const fib *f = (const fib *)problem;
    const uint64_t value = fib_known(f->n), calls = 2 * fib_known(f->n + 1) - 1;
    *how = "known";
    if (f->value == value && f->calls == calls)
        return true;
    snprintf(error->text, sizeof error->text,
             "fib: %" PRIu64 " by %" PRIu64 " calls, but fib(%" PRIu32 ") is %" PRIu64 " by %" PRIu64, f->value,
             f->calls, f->n, value, calls);
    return false;
}

static void fib_app_print(const void *problem, FILE *out, bool json) {
    fprintf(out, json ? "\"value\": %" PRIu64 : "value %" PRIu64 "\n", ((const fib *)problem)->value);
}

static const app_sample fib_samples[] = {
    {.options = "--n 0|1|2|3"},
    {.options = "--n 18..42"},
    {.options = NULL},
};

const app fib_app = {
    .name = "fib",
    .text = "Fibonacci numbers by their recursion: a task per call, a join per addition",
    .options = fib_options,
    .open = fib_app_open,
    .close = fib_app_close,
    .program = fib_app_program,
    .load = fib_app_load,
    .unload = fib_app_unload,
    .run = fib_app_run,
    .check = fib_app_check,
    .print = fib_app_print,
    .samples = fib_samples,
};
