#include "trace_file.h"
#include "../apps/common/app_output.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>

static const char *name_of(const bl_span *span) {
    switch (span->kind) {
    case BL_SPAN_TASKS:
        return "task";
    case BL_SPAN_SEARCH:
        return span->steals ? "steal" : "search";
    case BL_SPAN_IDLE:
        return "idle";
    default:
        return "pause";
    }
}

/* A colour name of chrome://tracing; by default it assigns arbitrary colours, and idle looks like work. */
static const char *colour_of(const bl_span *span) {
    switch (span->kind) {
    case BL_SPAN_TASKS:
        return "thread_state_running"; /* green */
    case BL_SPAN_SEARCH:
        return "thread_state_iowait"; /* orange */
    case BL_SPAN_IDLE:
        return "thread_state_sleeping"; /* nearly white */
    default:
        return "grey";
    }
}

static void write_head(FILE *out, const char *app_name, const bl_context *context, const bl_stats *stats) {
    json_writer json = {out, false};
    json_start(&json, NULL, '{');
    json_string(&json, "displayTimeUnit", "ns");
    json_start(&json, "otherData", '{');
    json_string(&json, "app", app_name);
    json_string(&json, "device", bl_device_id(context));
    json_string(&json, "device_name", bl_device_name(context));
    json_string(&json, "scheduler", stats->scheduler);
    json_whole(&json, "workers", stats->workers);
    json_string(&json, "group", stats->group);
    json_whole(&json, "tasks", stats->tasks);
    json_whole(&json, "steals", stats->steals);
    json_whole(&json, "steal_attempts", stats->steal_attempts);
    json_whole(&json, "launches", stats->launches);
    json_real(&json, "seconds", stats->seconds);
    json_string(&json, "version", bl_version());
    json_end(&json, '}');
    json_start(&json, "traceEvents", '[');
    fprintf(out, "\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"%s\"}}",
            bl_device_id(context));
}

static void write_worker(FILE *out, uint32_t worker) {
    fprintf(out,
            ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %" PRIu32
            ", \"args\": {\"name\": \"worker %" PRIu32 "\"}}",
            worker, worker);
    fprintf(out,
            ",\n{\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": 1, \"tid\": %" PRIu32
            ", \"args\": {\"sort_index\": %" PRIu32 "}}",
            worker, worker);
}

/* Omits zero counts, which are most of them. */
static void write_count(FILE *out, const char *name, uint64_t count) {
    if (count)
        fprintf(out, ", \"%s\": %" PRIu64, name, count);
}

/* Times are microseconds, to the nanosecond. */
static void write_span(FILE *out, const bl_span *span) {
    uint64_t took = span->end - span->begin;
    fprintf(out,
            ",\n{\"name\": \"%s\", \"ph\": \"X\", \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64
            ".%03u, \"pid\": 1, \"tid\": %" PRIu32 ", \"args\": {\"launch\": %" PRIu32,
            name_of(span), span->begin / 1000, (unsigned)(span->begin % 1000), took / 1000, (unsigned)(took % 1000),
            span->worker, span->launch);
    write_count(out, "tasks", span->tasks);
    write_count(out, "steals", span->steals);
    write_count(out, "steal_attempts", span->steal_attempts);
    write_count(out, "merged", span->parts - 1);
    fprintf(out, "}, \"cname\": \"%s\"}", colour_of(span));
}

int trace_write(const char *path, const char *app_name, const bl_context *context, const bl_stats *stats,
                app_error *error) {
    app_output output;
    size_t count;
    const bl_span *spans = bl_trace(context, &count);
    if (app_output_open(&output, "--trace", path, error))
        return 1;
    write_head(output.file, app_name, context, stats);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || spans[i].worker != spans[i - 1].worker)
            write_worker(output.file, spans[i].worker);
        write_span(output.file, &spans[i]);
    }
    fputs("\n]}\n", output.file);
    return app_output_close(&output, error);
}
