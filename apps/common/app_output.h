/* Files that an application writes. A regular file appears whole or not at all: a run that fails or is killed leaves
 * the old file untouched, and no other file behind. Symbolic links are followed, and an existing file keeps its mode. A
 * device, a pipe, or a file that the process already has open, such as /dev/stdout, is written in place. */
#ifndef BALLAST_APP_OUTPUT_H
#define BALLAST_APP_OUTPUT_H

#include "app.h"

typedef struct app_output {
    FILE *file; /* to write to */
    const char *option, *path;
    struct bl__replace *whole; /* NULL if `path` is written in place */
} app_output;

/* Whether this would replace an existing regular file. */
bool app_output_replaces(const char *path);

/* Before hours of work: whether `path` can be written, as far as can be known. Returns 0, or fills error and returns
 * 1. */
int app_output_check(const char *option, const char *path, app_error *error);

/* `option` is the option that gave `path`, for messages. Both return 0, or fill error, return 1 and leave nothing
 * behind. */
int app_output_open(app_output *output, const char *option, const char *path, app_error *error);
int app_output_close(app_output *output, app_error *error);

#endif
