/* The interface between an application and the command line, the tests and the benchmarks: one `const app APP_NAME` per
 * folder of apps/, discovered by the build. Applications use only installed headers (ballast.h, program.h). */
#ifndef BALLAST_APP_H
#define BALLAST_APP_H

#include <ballast/ballast.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct app_option {
    const char *name;    /* "--particles", or "-t" */
    const char *value;   /* its value in the help: "N", "FILE", or what may be chosen: "one|half". Shells complete it */
    const char *initial; /* the default, as a user would type it; "" if there is none */
    const char *text;
} app_option;

/* A one-line message for the user. A function that fails fills it in and returns an exit status: 2 for wrong usage, 1
 * for a failed run. */
typedef struct app_error {
    char text[512];
} app_error;

/* A problem for `ballast soak`, whose result `check` always verifies. */
typedef struct app_sample {
    /* A value may be drawn: "A..B" is a whole number in that range, "a|b" one of the words, "a<b" also, but the later
     * ones cost more. "GRAPH" is a file with a random graph. The largest suit a GPU; other devices draw from the lower
     * part. */
    const char *options;
    bool here;                          /* a checkpoint of it cannot be resumed on a device of another kind */
    const bl_program *(*program)(void); /* which it runs; NULL: the app's */
} app_sample;

typedef struct app {
    const char *name;
    const char *text;
    const app_option *options; /* ends with a NULL name */

    /* Reads the options (values[i] belongs to options[i] and is never NULL) and generates or loads the problem. `seed`
     * is the value of --seed. */
    int (*open)(void **problem, const char *const *values, uint64_t seed, app_error *error);
    void (*close)(void *problem);

    /* The code for all targets of the build. NULL: no memory, and `load` fails. */
    const bl_program *(*program)(void);

    /* Copies the problem to the context's device, and frees it there. Many runs may follow one `load`. Both return a
     * bl_status. */
    int (*load)(void *problem, bl_context *context);
    void (*unload)(void *problem, bl_context *context);

    /* One run: sets up from scratch (excluded from timing), runs, and copies the result back. Returns a bl_status. */
    int (*run)(void *problem, bl_context *context, bl_stats *stats);

    /* Verifies the last result against a known answer, or against the sequential twin if that is quick enough. *how
     * becomes "known", "twin" or "no". Returns false and fills error if the result is wrong. `force` (--check): run the
     * twin however long it takes. */
    bool (*check)(void *problem, const bl_stats *stats, bool force, const char **how, app_error *error);

    /* Prints the last result as text lines "name value", or as the members of a JSON object without the braces. */
    void (*print)(const void *problem, FILE *out, bool json);

    /* Runs that several processes share (mpirun), of which each has found a part: *bytes of it, and what adds the part
     * of another process. NULL, both: process 0 has it all. */
    const void *(*found)(const void *problem, size_t *bytes);
    void (*add)(void *problem, const void *found);
    /* Why processes cannot share a run of it, as in "its tasks ..."; NULL: they can. */
    const char *alone;
    /* Why devices that have a memory each cannot, and so processes cannot either; NULL: they can. */
    const char *one_memory;

    /* Why this problem cannot run in that context, although others of the app can, as in "--option VALUE: ..."; NULL:
     * it can. NULL instead of the function: all can. */
    const char *(*unfit)(const void *problem, const bl_context *context);

    /* Writes the files that the options request (--output), after the check and while the problem is loaded. NULL:
     * there is no such option. Returns 0, or fills error and returns 1. See app_output.h. */
    int (*write)(void *problem, bl_context *context, app_error *error);

    /* A digest of the data that were read or generated (app_digest), by which a checkpoint recognises its problem.
     * NULL: options and seed identify it. */
    uint64_t (*digest)(const void *problem);

    const app_sample *samples; /* NULL options end them */
} app;

/* Extends `digest`, initially 0, by these bytes. */
uint64_t app_digest(uint64_t digest, const void *from, size_t bytes);

/* Fills error and returns `status`, for use in `return app_wrong(...)`. */
int app_wrong(app_error *error, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* bl_program_join with the first call, from any thread; *joined holds the handle for the later ones. */
const bl_program *app_join_once(bl_program **joined, const bl_program *const *parts, uint32_t count);

/* For app.program: declares the code that the build makes of program NAME and defines `function`, which returns one
 * handle with all of it. */
#ifdef BL_HAVE_CUDA
#define APP__CUDA(NAME) NAME##_cuda()
#else
#define APP__CUDA(NAME) NULL
#endif
#define APP_PROGRAM(function, NAME)                                                                                    \
    const bl_program *NAME##_cpu(void);                                                                                \
    const bl_program *NAME##_sim(void);                                                                                \
    const bl_program *NAME##_cuda(void);                                                                               \
    const bl_program *function(void) {                                                                                 \
        static bl_program *joined;                                                                                     \
        const bl_program *const parts[] = {NAME##_cpu(), NAME##_sim(), APP__CUDA(NAME)};                               \
        return app_join_once(&joined, parts, 3);                                                                       \
    }

/* A bl_combination, of memory in which tasks add up numbers of 64 bits. */
void app_add_counts(void *into, const void *from, size_t bytes);
/* The sum of such a number over the memories of a context, each of which has its own part. */
int app_add_memories(bl_context *context, uint64_t *sum, const uint64_t *number);

/* Every application, by number; NULL past the end. Generated by the build from the folders of apps/. */
const app *app_at(unsigned i);
const app *app_find(const char *name);

#endif
