#define _POSIX_C_SOURCE 200809L /* fdopen, sigaction */

#include "app_output.h"

#include "../../src/platform/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const app_output *output, int why, app_error *error) {
    snprintf(error->text, sizeof error->text, "%s %.200s: cannot be written: %s", output->option, output->path,
             strerror(why));
    return 1;
}

/* ---- a signal while writing removes the temporary file ---- */

enum { SIGNALS = 3 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[SIGNALS];
static const char *volatile unfinished; /* NULL if there is nothing to remove */

/* A second signal, perhaps on another thread, ends up here too: none terminates the process until the file is gone. */
static void on_signal(int number) {
    if (unfinished)
        unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number); /* delivered once this function returns */
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

/* ---- writing in place ---- */

/* A descriptor that this process already has for the file, or -1. A shell that redirected standard output, for example,
 * holds the file open and would not see a replacement; and writing through the descriptor keeps the order with other
 * output on standard output. */
static int open_already(const struct stat *there) {
    enum { MOST = 256 };
    struct stat own;
    for (int i = 1; i < MOST; i++)
        if (fstat(i, &own) == 0 && own.st_dev == there->st_dev && own.st_ino == there->st_ino &&
            (fcntl(i, F_GETFL) & O_ACCMODE) != O_RDONLY)
            return i;
    return -1;
}

static bool in_place(const char *path, struct stat *there, int *descriptor) {
    *descriptor = -1;
    if (stat(path, there) != 0 || S_ISDIR(there->st_mode))
        return false;
    *descriptor = open_already(there);
    return *descriptor >= 0 || !S_ISREG(there->st_mode);
}

static int open_in_place(app_output *output, int descriptor, app_error *error) {
    fflush(stdout);
    int file =
        descriptor < 0 ? open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC) : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    output->file = file < 0 ? NULL : fdopen(file, "w");
    if (output->file)
        return 0;
    int why = errno;
    if (file >= 0)
        close(file);
    return cannot(output, why, error);
}

/* ---- files ---- */

static int open_whole(app_output *output, app_error *error) {
    output->whole = malloc(sizeof *output->whole);
    if (!output->whole)
        return cannot(output, ENOMEM, error);
    int why = bl__replace_plan(output->whole, output->path);
    if (why == 0) {
        guard(output->whole->name); /* before the file exists */
        why = bl__replace_open(output->whole);
    }
    output->file = output->whole->file;
    if (why == 0)
        return 0;
    unguard();
    free(output->whole);
    return cannot(output, why, error);
}

bool app_output_replaces(const char *path) {
    struct stat there;
    int descriptor;
    return !in_place(path, &there, &descriptor) && stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

int app_output_open(app_output *output, const char *option, const char *path, app_error *error) {
    struct stat there;
    int descriptor;
    *output = (app_output){.option = option, .path = path};
    return in_place(path, &there, &descriptor) ? open_in_place(output, descriptor, error) : open_whole(output, error);
}

/* Tries it, except on a terminal, a pipe or a device. */
int app_output_check(const char *option, const char *path, app_error *error) {
    app_output output = {.option = option, .path = path};
    struct stat there;
    int descriptor;
    if (in_place(path, &there, &descriptor))
        return 0;
    if (open_whole(&output, error) != 0)
        return 1;
    bl__replace_drop(output.whole);
    unguard();
    free(output.whole);
    return 0;
}

/* Reports the first error: a full disk may show only when the last of the buffer is flushed. */
int app_output_close(app_output *output, app_error *error) {
    if (output->whole) {
        int why = bl__replace_commit(output->whole, false);
        unguard();
        free(output->whole);
        return why ? cannot(output, why, error) : 0;
    }
    bool written = !ferror(output->file) && fflush(output->file) == 0;
    int why = errno;
    if (fclose(output->file) != 0 && written) {
        written = false;
        why = errno;
    }
    return written ? 0 : cannot(output, why, error);
}
