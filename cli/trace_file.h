/* The timeline of a run as a file in the trace-event format, which Perfetto and chrome://tracing open; docs/trace.md
 * describes its members. */
#ifndef BALLAST_CLI_TRACE_FILE_H
#define BALLAST_CLI_TRACE_FILE_H

#include "../apps/common/app.h"

/* Writes the contents of bl_trace, whole or not at all. Returns 0, or fills error and returns 1. */
int trace_write(const char *path, const char *app_name, const bl_context *context, const bl_stats *stats,
                app_error *error);

#endif
