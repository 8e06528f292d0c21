/* One child of ballast soak. */
#define _POSIX_C_SOURCE 200809L /* posix_spawn, sigtimedwait */

#include "soak.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LONGEST = 300 }; /* seconds; the child itself gives up after 60 without progress */

static sigset_t taken;   /* SIGCHLD, and what the user may send */
static bool by_user;     /* one of those has arrived */
static sigset_t initial; /* the mask that this process started with */

void soak_take_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    sigemptyset(&taken);
    sigaddset(&taken, SIGCHLD);
    for (int i = 0; i < 3; i++) /* nohup, or a shell's background job, ignores some */
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&taken, signals[i]);
    sigprocmask(SIG_BLOCK, &taken, &initial);
    by_user = false;
}

bool soak_was_signalled(void) {
    const struct timespec now = {0, 0};
    int number;
    while (!by_user && (number = sigtimedwait(&taken, NULL, &now)) > 0)
        by_user = number != SIGCHLD;
    return by_user;
}

/* ---- starting ---- */

/* In a group of its own, so that the terminal's Ctrl-C reaches the parent only, and with the default actions for the
 * signals that it will be sent. */
static int start(const char *tool, const char *folder, const soak_step *step, pid_t *child) {
    char *arguments[SOAK_WORDS + 2], out[SOAK_PATH + 8], err[SOAK_PATH + 8];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    arguments[0] = (char *)(uintptr_t)tool;
    for (unsigned i = 0; i <= step->words.count; i++)
        arguments[i + 1] = (char *)(uintptr_t)step->words.word[i];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &initial);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int status = posix_spawn(child, tool, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return status;
}

/* ---- waiting ---- */

/* True when the child has ended, false at that time, or when the user has sent a signal. */
static bool ends_before(pid_t child, double when, int *status) {
    while (waitpid(child, status, WNOHANG) != child) {
        double left = when - seconds_now();
        if (left <= 0 || by_user)
            return false;
        struct timespec rest = {(time_t)left, (long)(1e9 * (left - floor(left)))};
        int number = sigtimedwait(&taken, NULL, &rest);
        by_user = by_user || (number > 0 && number != SIGCHLD);
    }
    return true;
}

static void kill_child(pid_t child, int *status) {
    kill(child, SIGKILL);
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
}

/* ---- judging ---- */

static void read_file(const char *folder, const char *name, char *text, size_t size) {
    char path[SOAK_PATH + 8];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, size - 1, in) : 0;
    text[length] = '\0';
    if (in)
        fclose(in);
}

/* Skips the notes before the error, and what may follow it: the state of the workers. */
static char *last_message(char *text) {
    static const char prefix[] = "ballast: ";
    char *message = text;
    for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, prefix, sizeof prefix - 1) == 0)
            message = line + sizeof prefix - 1;
    message[strcspn(message, "\n")] = '\0';
    return message;
}

static void fails(const char *folder, soak_outcome *outcome, const char *what, int number) {
    char said[8192];
    read_file(folder, "err", said, sizeof said);
    const char *message = last_message(said);
    int used = snprintf(outcome->why, sizeof outcome->why, what, number);
    if (message[0] && used > 0)
        snprintf(outcome->why + used, sizeof outcome->why - (size_t)used, ": %s", message);
    outcome->end = SOAK_FAILED;
}

static bool has(const char *json, const char *member) { return strstr(json, member) != NULL; }

static void judge_complete(const char *folder, const char *json, soak_outcome *outcome) {
    const char *tasks = strstr(json, "\"tasks\": ");
    outcome->known = has(json, "\"checked\": \"known\"");
    if (!has(json, "\"status\": \"complete\"") || !tasks)
        fails(folder, outcome, "exit status %d without a result", 0);
    else if (!outcome->known && !has(json, "\"checked\": \"twin\""))
        fails(folder, outcome, "exit status %d, but the answer was not verified", 0);
    else
        outcome->tasks = strtoull(tasks + 9, NULL, 10);
}

static void judge(const char *folder, const soak_step *step, int status, soak_outcome *outcome) {
    char json[8192];
    read_file(folder, "out", json, sizeof json);
    const char *stopped = step->stop == SOAK_LIMIT ? "\"status\": \"time-limit\"" : "\"status\": \"cancelled\"";
    outcome->end = SOAK_VERIFIED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        judge_complete(folder, json, outcome);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && step->stop != SOAK_WHOLE && has(json, stopped))
        outcome->end = SOAK_STOPPED;
    else if (WIFSIGNALED(status) && WTERMSIG(status) == step->signal) /* a polite one, before the run had begun */
        outcome->end = SOAK_STOPPED;
    else if (WIFSIGNALED(status))
        fails(folder, outcome, "killed by signal %d", WTERMSIG(status));
    else
        fails(folder, outcome, "exit status %d", WEXITSTATUS(status));
}

void soak_child(const char *tool, const char *folder, const soak_step *step, soak_outcome *outcome) {
    pid_t child = 0;
    int status = 0;
    memset(outcome, 0, sizeof *outcome);
    int error = start(tool, folder, step, &child);
    if (error) {
        snprintf(outcome->why, sizeof outcome->why, "%.300s: %s", tool, strerror(error));
        outcome->end = SOAK_FAILED;
        return;
    }
    double begin = seconds_now();
    bool ended = step->signal && ends_before(child, begin + step->seconds, &status);
    if (step->signal && !ended && !by_user)
        kill(child, step->signal);
    ended = ended || ends_before(child, begin + LONGEST, &status);
    if (!ended)
        kill_child(child, &status);
    if (by_user && !ended)
        outcome->end = SOAK_ENDED_BY_USER;
    else if (!ended)
        fails(folder, outcome, "still running after %d s", LONGEST);
    else
        judge(folder, step, status, outcome);
}
