/* The application `transform`: its interface to the command line, the tests and the benchmarks. */
#include "transform.h"

#include "../common/app.h"
#include "../common/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_LIMIT = 100000000 }; /* tasks; beyond this the twin runs only with --check */
#define TRANSFORM_MOST (UINT64_C(1) << 36)

typedef struct transform {
    uint64_t elements, quads, seed;
    uint32_t chunk; /* quads */
    uint32_t step, tasks;
    transform_quad *in, *out;               /* on the host: the inputs, the last result */
    transform_quad *device_in, *device_out; /* in device memory */
    uint64_t digest;
} transform;

enum { OPTION_ELEMENTS, OPTION_PATTERN, OPTION_CHUNK };
static const app_option transform_options[] = {
    {"--elements", "N", "5.12M", "floats of the array"},
    {"--pattern", "regular|half|third", "regular", "which tasks have work: all, every second or every third"},
    {"--chunk", "N", "512", "floats per task, a multiple of 4"},
    {NULL, NULL, NULL, NULL},
};

static int refuse(app_error *error, int option, const char *value, const char *accepted) {
    snprintf(error->text, sizeof error->text, "%s: \"%.100s\" is invalid; accepted: %s", transform_options[option].name,
             value, accepted);
    return 2;
}

static int read_options(transform *p, const char *const *values, app_error *error) {
    static const char *const patterns[] = {"regular", "half", "third"};
    uint64_t chunk;
    if (!parse_size(values[OPTION_ELEMENTS], &p->elements) || p->elements > TRANSFORM_MOST)
        return refuse(error, OPTION_ELEMENTS, values[OPTION_ELEMENTS], "a whole number up to 68G");
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(values[OPTION_PATTERN], patterns[i]) == 0)
            p->step = i + 1;
    if (p->step == 0)
        return refuse(error, OPTION_PATTERN, values[OPTION_PATTERN], "regular, half or third");
    if (!parse_size(values[OPTION_CHUNK], &chunk) || chunk == 0 || chunk % 4 || chunk > UINT32_C(1) << 30)
        return refuse(error, OPTION_CHUNK, values[OPTION_CHUNK], "a multiple of 4 up to 2^30");
    p->chunk = (uint32_t)(chunk / 4);
    p->quads = (p->elements + 3) / 4;
    uint64_t tasks = (p->elements + chunk - 1) / chunk;
    if (tasks > UINT32_MAX)
        return refuse(error, OPTION_CHUNK, values[OPTION_CHUNK], "so large that there are fewer than 2^32 tasks");
    p->tasks = (uint32_t)tasks;
    return 0;
}

static uint64_t mix(uint64_t x) { /* a bijection that spreads every bit */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Element i, in [1, 2): 23 random bits after the point. */
static float element(uint64_t seed, uint64_t i) {
    return 1.0f + (float)(mix(seed * UINT64_C(0x9e3779b97f4a7c15) + i) >> 41) * (1.0f / 8388608.0f);
}

static transform_quad *new_quads(const transform *p) {
    return (transform_quad *)aligned_alloc(sizeof(transform_quad), (p->quads + 1) * sizeof(transform_quad));
}

static void transform_app_close(void *problem) {
    transform *p = (transform *)problem;
    free(p->in);
    free(p->out);
    free(p);
}

static int transform_app_open(void **problem, const char *const *values, uint64_t seed, app_error *error) {
    transform read = {.seed = seed};
    int status = read_options(&read, values, error);
    if (status != 0)
        return status;
    transform *p = (transform *)malloc(sizeof *p);
    if (p != NULL) {
        *p = read;
        p->in = new_quads(p);
        p->out = new_quads(p);
    }
    if (p == NULL || p->in == NULL || p->out == NULL) {
        if (p != NULL)
            transform_app_close(p);
        snprintf(error->text, sizeof error->text, "transform: %s", bl_status_text(BL_ENOMEM));
        return 1;
    }
    for (uint64_t i = 0; i < 4 * p->quads; i++)
        p->in[i / 4].x[i % 4] = i < p->elements ? element(seed, i) : 0;
    *problem = p;
    return 0;
}

APP_PROGRAM(transform_app_program, transform)

static void transform_app_unload(void *problem, bl_context *context) {
    transform *p = (transform *)problem;
    bl_free(context, p->device_in);
    bl_free(context, p->device_out);
    p->device_in = p->device_out = NULL;
}

static int transform_app_load(void *problem, bl_context *context) {
    transform *p = (transform *)problem;
    size_t bytes = p->quads * sizeof *p->in;
    void *in = NULL, *out = NULL;
    if (!transform_app_program())
        return BL_ENOMEM;
    int status = bl_alloc(context, &in, bytes);
    if (status == BL_OK)
        status = bl_alloc(context, &out, bytes);
    p->device_in = (transform_quad *)in;
    p->device_out = (transform_quad *)out;
    if (status == BL_OK)
        status = bl_copy_in(context, in, p->in, bytes);
    if (status != BL_OK)
        transform_app_unload(p, context);
    return status;
}

/* Digest of the bits and the position of every element. */
static uint64_t digest_of(const transform *p) {
    uint64_t digest = 0;
    for (uint64_t i = 0; i < p->elements; i++) {
        uint32_t bits;
        memcpy(&bits, &p->out[i / 4].x[i % 4], sizeof bits);
        digest += mix((i << 32 ^ i >> 32) + bits);
    }
    return digest;
}

static int transform_app_run(void *problem, bl_context *context, bl_stats *stats) {
    transform *p = (transform *)problem;
    const transform_shared shared = {p->device_in, p->device_out, p->quads, p->chunk, p->step};
    const uint32_t nothing = 0; /* the payload: a task is its index */
    size_t bytes = p->quads * sizeof *p->out;
    int status = bl_zero(context, p->device_out, bytes);
    if (status == BL_OK)
        status = bl_run_range(context, transform_app_program(), &shared, &nothing, p->tasks, stats);
    if (status == BL_OK)
        status = bl_copy_out(context, p->out, p->device_out, bytes);
    if (status == BL_OK)
        p->digest = digest_of(p);
    return status;
}

/* One element after another, from the definition. */
static float twin(const transform *p, uint64_t i) {
    float x = element(p->seed, i);
    return i / (4 * (uint64_t)p->chunk) % p->step == p->step - 1 ? x * x : 0;
}

static bool transform_app_check(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error) {
    const transform *p = (const transform *)problem;
    *how = "no";
    if (stats->tasks != p->tasks) {
        snprintf(error->text, sizeof error->text, "transform: %" PRIu64 " tasks ran, but there are %" PRIu32,
                 stats->tasks, p->tasks);
        return false;
    }
    if (!force && p->tasks > TWIN_LIMIT)
        return true;
    *how = "twin";
    for (uint64_t i = 0; i < p->elements; i++) {
        float expected = twin(p, i), found = p->out[i / 4].x[i % 4];
        if (memcmp(&expected, &found, sizeof found) != 0) {
            snprintf(error->text, sizeof error->text, "transform: element %" PRIu64 " is %.9g, but the twin has %.9g",
                     i, (double)found, (double)expected);
            return false;
        }
    }
    return true;
}

static void transform_app_print(const void *problem, FILE *out, bool json) {
    const transform *p = (const transform *)problem;
    fprintf(out,
            json ? "\"elements\": %" PRIu64 ", \"digest\": \"%016" PRIx64 "\""
                 : "elements %" PRIu64 "\ndigest %016" PRIx64 "\n",
            p->elements, p->digest);
}

static const app_sample transform_samples[] = {
    {.options = "--elements 1..100000000 --pattern regular|half|third --chunk 4|64|512|4096"},
    {.options = NULL},
};

const app transform_app = {
    .name = "transform",
    .text = "squares the elements of an array; some of the tasks may be empty",
    .options = transform_options,
    .open = transform_app_open,
    .close = transform_app_close,
    .program = transform_app_program,
    .load = transform_app_load,
    .unload = transform_app_unload,
    .run = transform_app_run,
    .check = transform_app_check,
    .print = transform_app_print,
    .one_memory = "its tasks write to one array, in the memory of one device",
    .samples = transform_samples,
};
