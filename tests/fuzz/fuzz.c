#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[160];

void fuzz_broken(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

void fuzz_check_line(const char *text) {
    FUZZ_CHECK(text[0] != '\0');
    FUZZ_CHECK(strchr(text, '\n') == NULL);
}

static void remove_all(void) {
    unlink(path);
    rmdir(folder);
}

/* In memory if the system has a folder for that: the file is written millions of times. */
const char *fuzz_folder(void) {
    if (folder[0])
        return folder;
    snprintf(folder, sizeof folder, "%s/ballast-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_CHECK(mkdtemp(folder) != NULL);
    atexit(remove_all);
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size) {
    char wanted[sizeof path];
    snprintf(wanted, sizeof wanted, "%s/%s", fuzz_folder(), name);
    if (path[0] && strcmp(path, wanted) != 0)
        unlink(path);
    memcpy(path, wanted, sizeof path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(file >= 0);
    FUZZ_CHECK(size == 0 || write(file, data, size) == (ssize_t)size);
    close(file);
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

char *fuzz_next_line(char **text) {
    char *line = *text;
    if (!line)
        return NULL;
    size_t length = strcspn(line, "\n");
    *text = line[length] ? line + length + 1 : NULL;
    line[length] = '\0';
    return line;
}
