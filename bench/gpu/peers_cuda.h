/* Shared by the comparisons on a GPU: failure, options, the time between two events, rows, and an application of ours
 * as a method.
 *
 * A call that fails ends the program with one line and exit status 1; without a GPU the exit status is 77. CUDA. */
#ifndef BALLAST_BENCH_PEERS_CUDA_H
#define BALLAST_BENCH_PEERS_CUDA_H

extern "C" {
#include "common/app.h"
}
#include "harness/common.h"

#include <cuda_runtime.h>
#include <errno.h>
#include <stdio.h>

static inline void peers_fail(const char *who, const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, who, what);
    exit(1);
}

static inline void peers_must(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        peers_fail(what, cudaGetErrorString(error));
}

static inline void peers_need_gpu(void) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0)
        return;
    fprintf(stderr, "%s: no GPU here\n", program_invocation_short_name);
    exit(77);
}

/* ---- options ---- */

typedef struct peers_request {
    uint32_t repeats;
    bool csv;
} peers_request;

/* Reads --csv, or --repeats and its value, at argv[*i]. False: it is neither, or the number is invalid. */
static inline bool peers_option(peers_request *r, int argc, char **argv, int *i) {
    if (strcmp(argv[*i], "--csv") == 0)
        return r->csv = true;
    if (strcmp(argv[*i], "--repeats") != 0 || *i + 1 >= argc)
        return false;
    r->repeats = (uint32_t)strtoul(argv[++*i], NULL, 10);
    return r->repeats >= 1 && r->repeats <= BENCH_REPEATS_MAX;
}

static inline int peers_usage(const char *rest) {
    fprintf(stderr, "usage: %s [--repeats 1..%d] [--csv]%s\n", program_invocation_short_name, BENCH_REPEATS_MAX, rest);
    return 2;
}

/* ---- time ---- */

typedef struct peers_clock {
    cudaStream_t stream;
    cudaEvent_t from, to;
} peers_clock;

static inline peers_clock peers_clock_open(void) {
    peers_clock c;
    peers_must(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking), "making a stream");
    peers_must(cudaEventCreate(&c.from), "making an event");
    peers_must(cudaEventCreate(&c.to), "making an event");
    return c;
}

/* Device time in seconds of the work that work(stream) enqueues. */
template <class Work> double peers_seconds(const peers_clock &c, Work work) {
    float milliseconds = 0;
    peers_must(cudaDeviceSynchronize(), "waiting");
    peers_must(cudaEventRecord(c.from, c.stream), "timing");
    work(c.stream);
    peers_must(cudaGetLastError(), "launching");
    peers_must(cudaEventRecord(c.to, c.stream), "timing");
    peers_must(cudaEventSynchronize(c.to), "running");
    peers_must(cudaEventElapsedTime(&milliseconds, c.from, c.to), "timing");
    return 1e-3 * (double)milliseconds;
}

static inline void peers_clock_close(peers_clock *c) {
    cudaEventDestroy(c->from);
    cudaEventDestroy(c->to);
    cudaStreamDestroy(c->stream);
}

/* ---- memory ---- */

template <class T> T *peers_device_memory(size_t count) {
    T *memory = NULL;
    peers_must(cudaMalloc((void **)&memory, (count ? count : 1) * sizeof(T)), "allocating");
    return memory;
}

template <class T> T *peers_upload(const T *host, size_t count) {
    T *memory = peers_device_memory<T>(count);
    peers_must(cudaMemcpy(memory, host, count * sizeof(T), cudaMemcpyHostToDevice), "copying");
    peers_must(cudaDeviceSynchronize(), "copying"); /* the timing stream does not wait for others */
    return memory;
}

template <class T> void peers_download(T *host, const T *memory, size_t count) {
    peers_must(cudaMemcpy(host, memory, count * sizeof(T), cudaMemcpyDeviceToHost), "copying");
}

template <class T> T *peers_host_memory(size_t count) {
    T *memory = (T *)malloc((count ? count : 1) * sizeof(T));
    if (!memory)
        peers_fail("host", "out of memory");
    return memory;
}

/* ---- rows, in the form of peers.c ---- */

static inline void peers_csv_head(void) { puts("load,method,threads,repeat,ms,processor_ms,peak_bytes,tasks"); }

static inline void peers_csv_rows(const char *load, const char *method, const bench_times *times, uint64_t peak_bytes,
                                  uint64_t tasks) {
    for (uint32_t i = 0; i < times->count; i++)
        printf("%s,%s,0,%u,%.6f,0,%llu,%llu\n", load, method, i + 1, 1e3 * times->all[i],
               (unsigned long long)peak_bytes, (unsigned long long)tasks);
    fflush(stdout);
}

/* ---- an application of ours ---- */

typedef struct peers_ours {
    const app *what;
    void *problem;
    bl_context *context;
    bench_times times;
    uint64_t tasks, peak_bytes;
} peers_ours;

static inline const char *peers_ours_value(const app_option *option, const char *const *options) {
    for (; *options; options += 2)
        if (strcmp(options[0], option->name) == 0)
            return options[1];
    return option->initial;
}

/* `options` alternates names and values, and ends with NULL; all others have their defaults. */
static inline void peers_ours_open(peers_ours *o, const char *name, const char *const *options, const char *scheduler,
                                   const char *group) {
    const char *values[16] = {NULL};
    app_error error;
    bl_config config;
    memset(o, 0, sizeof *o);
    memset(&config, 0, sizeof config);
    config.device = "cuda";
    config.scheduler = scheduler;
    config.group = group;
    o->what = app_find(name);
    for (uint32_t i = 0; o->what->options[i].name; i++)
        values[i] = peers_ours_value(&o->what->options[i], options);
    if (o->what->open(&o->problem, values, 1, &error) != 0)
        peers_fail(name, error.text);
    int status = bl_open(&o->context, &config);
    if (status == BL_OK)
        status = o->what->load(o->problem, o->context);
    if (status != BL_OK)
        peers_fail(name, bl_status_text(status));
}

/* The first run of a method warms up and is verified; the others are recorded. */
static inline void peers_ours_run(peers_ours *o, bool keep) {
    bl_stats stats;
    app_error error;
    const char *how;
    int status = o->what->run(o->problem, o->context, &stats);
    if (status != BL_OK)
        peers_fail(o->what->name, bl_status_text(status));
    if (!keep && !o->what->check(o->problem, &stats, true, &how, &error))
        peers_fail(o->what->name, error.text);
    if (keep)
        bench_add(&o->times, stats.seconds);
    o->tasks = stats.tasks;
    o->peak_bytes = stats.peak_bytes;
}

static inline void peers_ours_close(peers_ours *o) {
    o->what->unload(o->problem, o->context);
    bl_close(o->context);
    o->what->close(o->problem);
}

#endif
