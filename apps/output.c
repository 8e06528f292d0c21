#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen, fchmod */

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const app_output *output, const char *why, app_error *error) {
    snprintf(error->text, sizeof error->text, "%s %.200s: cannot be written: %s", output->option, output->path, why);
    return 1;
}

/* mkstemp makes files that only their owner may read; these should be as any other. */
static void usual_rights(int file) {
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(file, 0666 & ~mask);
}

static int open_temporary(app_output *output, app_error *error) {
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->path);
    if (length < 0 || (size_t)length >= sizeof output->temporary)
        return cannot(output, strerror(ENAMETOOLONG), error);
    int file = mkstemp(output->temporary);
    if (file < 0)
        return cannot(output, strerror(errno), error);
    usual_rights(file);
    output->file = fdopen(file, "w");
    if (output->file)
        return 0;
    int why = errno;
    close(file);
    remove(output->temporary);
    return cannot(output, strerror(why), error);
}

/* A terminal, a pipe or /dev/null must not be replaced by a file: those are written to as they are. */
int app_output_open(app_output *output, const char *option, const char *path, app_error *error) {
    struct stat there;
    memset(output, 0, sizeof *output);
    output->option = option;
    output->path = path;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return open_temporary(output, error);
    output->file = fopen(path, "w");
    return output->file ? 0 : cannot(output, strerror(errno), error);
}

/* The first error counts: a full disk shows when the last of the buffer is written. */
int app_output_close(app_output *output, app_error *error) {
    bool written = !ferror(output->file) && fflush(output->file) == 0;
    int why = errno;
    if (fclose(output->file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (written && output->temporary[0] && rename(output->temporary, output->path) != 0) {
        written = false;
        why = errno;
    }
    if (!written && output->temporary[0])
        remove(output->temporary);
    return written ? 0 : cannot(output, strerror(why), error);
}
