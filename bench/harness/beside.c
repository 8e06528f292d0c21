#include "beside.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_SIZE = 1024 };

bool bench_beside(const char *name, char *path, size_t size) {
    char self[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    snprintf(path, size, "%.*s/%s", slash ? (int)(slash - self) : 0, self, name);
    return access(path, X_OK) == 0;
}

static size_t read_all(int from, char *text, size_t size) {
    size_t length = 0;
    ssize_t got;
    while ((got = read(from, text + length, size - 1 - length)) > 0 || (got < 0 && errno == EINTR))
        length += got > 0 ? (size_t)got : 0;
    text[length] = '\0';
    return length;
}

int bench_run_beside(char *const *arguments, char *text, size_t size) {
    int ends[2], status = -1;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) {
        read_all(ends[0], text, size);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return error == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
