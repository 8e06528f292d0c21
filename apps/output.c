#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen, fchmod, sigaction */

#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const app_output *output, const char *why, app_error *error) {
    snprintf(error->text, sizeof error->text, "%s %.200s: cannot be written: %s", output->option, output->path, why);
    return 1;
}

/* ---- who is interrupted while writing takes the temporary file along ---- */

enum { SIGNALS = 3 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[SIGNALS];
static const char *volatile unfinished; /* NULL: nothing to remove */

/* A second signal, to another thread perhaps, comes here too: until the file is gone none ends the process. */
static void on_signal(int number) {
    if (unfinished)
        unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number); /* once this function returns */
}

static void guard(const char *temporary) {
    struct sigaction action = {.sa_handler = on_signal};
    unfinished = temporary;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, before + i) == 0 && before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

static void unguard(void) {
    for (int i = 0; unfinished && i < SIGNALS; i++)
        sigaction(signals[i], before + i, NULL);
    unfinished = NULL;
}

/* ---- files ---- */

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
    guard(output->temporary); /* before the file is there: mkstemp writes its name into this place */
    int file = mkstemp(output->temporary);
    output->file = file < 0 ? NULL : fdopen(file, "w");
    if (output->file) {
        usual_rights(file);
        return 0;
    }
    int why = errno;
    if (file >= 0) {
        close(file);
        remove(output->temporary);
    }
    unguard();
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

/* By trying, except that nothing is done to a terminal, a pipe or a device. */
int app_output_check(const char *option, const char *path, app_error *error) {
    app_output output = {.option = option, .path = path};
    struct stat there;
    bool is_there = stat(path, &there) == 0;
    if (is_there && S_ISDIR(there.st_mode))
        return cannot(&output, strerror(EISDIR), error);
    if (is_there && !S_ISREG(there.st_mode))
        return 0;
    if (open_temporary(&output, error) != 0)
        return 1;
    fclose(output.file);
    remove(output.temporary);
    unguard();
    return 0;
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
    unguard();
    return written ? 0 : cannot(output, strerror(why), error);
}
