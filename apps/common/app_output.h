/* Files that an application writes. A regular file appears whole or not at all: a run that fails or is killed leaves
 * the old file as it was, and nothing else. A symbolic link is followed, and the mode of a file that is there is
 * kept. A device, a pipe, and a file that the process has open already, such as /dev/stdout, are written in place. */
#ifndef BALLAST_APP_OUTPUT_H
#define BALLAST_APP_OUTPUT_H

#include "app.h"

typedef struct app_output {
    FILE *file; /* to write to */
    const char *option, *path;
    struct bl__replace *whole; /* NULL where `path` is written in place */
} app_output;

/* Whether there is a regular file that would be replaced. */
bool app_output_replaces(const char *path);

/* Before hours of work: whether `path` can be written, as far as that can be known. Returns 0, or fills error and
 * returns 1. */
int app_output_check(const char *option, const char *path, app_error *error);

/* `option` is what the user gave `path` with, for the messages. Both return 0, or fill error and return 1; then nothing
 * is left behind. */
int app_output_open(app_output *output, const char *option, const char *path, app_error *error);
int app_output_close(app_output *output, app_error *error);

#endif
