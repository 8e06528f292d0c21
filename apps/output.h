/* Files that an application writes: whole or not at all. What is written goes to a temporary file beside the one asked for, which takes its
 * name at the end; a run that fails or is killed leaves the old file as it was. */
#ifndef BALLAST_APP_OUTPUT_H
#define BALLAST_APP_OUTPUT_H

#include "app.h"

typedef struct app_output {
    FILE *file; /* to write to */
    const char *option, *path;
    char temporary[4096]; /* "" where `path` is no regular file: a terminal, a pipe */
} app_output;

/* Before hours of work: whether `path` can be written, as far as that can be known. Returns 0, or fills error and returns 1. */
int app_output_check(const char *option, const char *path, app_error *error);

/* `option` is what the user gave `path` with, for the messages. Both return 0, or fill error and return 1; then nothing
 * is left behind. */
int app_output_open(app_output *output, const char *option, const char *path, app_error *error);
int app_output_close(app_output *output, app_error *error);

#endif
