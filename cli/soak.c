#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "soak.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder of checkpoints and output ---- */

static int make_folder(char *folder) {
    const char *where = getenv("TMPDIR");
    int length = snprintf(folder, SOAK_PATH, "%s/ballast-soak-XXXXXX", where && where[0] == '/' ? where : "/tmp");
    if (length >= SOAK_PATH)
        return run_failed("TMPDIR: too long (accepted: up to %d characters)", SOAK_PATH - 32);
    if (!mkdtemp(folder))
        return run_failed("%s: %s", folder, strerror(errno));
    return 0;
}

static void checkpoint_path(const char *folder, unsigned step, char *path) {
    snprintf(path, SOAK_PATH + 32, "%s/checkpoint-%u", folder, step);
}

static void remove_checkpoints(const char *folder, unsigned steps) {
    char path[SOAK_PATH + 32];
    for (unsigned i = 0; i < steps; i++) {
        checkpoint_path(folder, i, path);
        unlink(path);
    }
}

static void remove_folder(const char *folder) {
    static const char *const files[] = {"out", "err", "graph.txt"};
    char path[SOAK_PATH + 32];
    remove_checkpoints(folder, SOAK_STEPS);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* ---- command lines that a user can paste ---- */

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:+,=";
    return strspn(word, plain) == strlen(word);
}

static void append_word(char *text, size_t size, const char *word) {
    if (is_plain(word)) {
        append(text, size, " %s", word);
        return;
    }
    append(text, size, " '");
    for (; *word; word++)
        append(text, size, *word == '\'' ? "'\\''" : "%c", *word);
    append(text, size, "'");
}

/* coreutils' timeout sends the signal here. */
static void add_command(soak_summary *summary, const char *tool, const soak_step *step) {
    char line[6144] = "";
    if (step->signal)
        append(line, sizeof line, " timeout -s %s %.4f",
               step->signal == SIGKILL  ? "KILL"
               : step->signal == SIGINT ? "INT"
                                        : "TERM",
               step->seconds);
    append_word(line, sizeof line, tool);
    for (unsigned i = 0; i < step->words.count; i++)
        append_word(line, sizeof line, step->words.word[i]);
    append(summary->commands, sizeof summary->commands, "%s\n", line + 1);
}

/* ---- one problem ---- */

/* Adds the options of checkpoints. `from` is the step that wrote the last one, or -1. */
static void add_checkpoint_words(const char *folder, unsigned number, int from, soak_step *step) {
    char path[SOAK_PATH + 32];
    if (from >= 0) {
        checkpoint_path(folder, (unsigned)from, path);
        soak_words_add(&step->words, "--resume");
        soak_words_add(&step->words, "%s", path);
    }
    if (step->stop == SOAK_LIMIT) {
        soak_words_add(&step->words, "--time-limit");
        soak_words_add(&step->words, "%.4f", step->seconds);
    }
    if (step->writes_checkpoint) {
        checkpoint_path(folder, number, path);
        soak_words_add(&step->words, "--checkpoint");
        soak_words_add(&step->words, "%s", path);
    }
    if (step->checkpoint_every > 0) {
        soak_words_add(&step->words, "--checkpoint-every");
        soak_words_add(&step->words, "%.4f", step->checkpoint_every);
    }
}

static bool wrote_checkpoint(const char *folder, unsigned number) {
    char path[SOAK_PATH + 32];
    checkpoint_path(folder, number, path);
    return access(path, F_OK) == 0;
}

static void count(soak_summary *summary, const soak_plan *plan, const soak_step *step, bool resumes,
                  const soak_outcome *outcome) {
    summary->runs++;
    summary->resumed += resumes;
    summary->stopped[step->stop] += outcome->end == SOAK_STOPPED;
    if (outcome->end != SOAK_VERIFIED)
        return;
    summary->problems++;
    summary->apps[plan->app < SOAK_APPS ? plan->app : SOAK_APPS - 1]++;
    summary->known += outcome->known;
    summary->twin += !outcome->known;
    summary->tasks += outcome->tasks;
}

/* From the first command line until the answer is verified. False: the soak is over. */
static bool solve(const soak_request *request, soak_plan *plan, soak_summary *summary) {
    int from = -1;
    soak_outcome outcome = {.end = SOAK_STOPPED};
    summary->commands[0] = '\0';
    for (unsigned i = 0; i < plan->steps && outcome.end == SOAK_STOPPED; i++) {
        soak_step *step = &plan->step[i];
        add_checkpoint_words(summary->folder, i, from, step);
        add_command(summary, request->tool, step);
        soak_child(request->tool, summary->folder, step, &outcome);
        count(summary, plan, step, from >= 0, &outcome);
        if (wrote_checkpoint(summary->folder, i))
            from = (int)i;
    }
    snprintf(summary->why, sizeof summary->why, "%s", outcome.why);
    summary->by_user = outcome.end == SOAK_ENDED_BY_USER;
    return outcome.end == SOAK_VERIFIED;
}

/* ---- the whole ---- */

static bool prepare(const soak_request *request, const soak_plan *plan, soak_summary *summary) {
    char path[SOAK_PATH + 32];
    snprintf(path, sizeof path, "%s/graph.txt", summary->folder);
    if (!plan->graph || soak_write_graph(path, plan->graph, &request->device))
        return true;
    snprintf(summary->why, sizeof summary->why, "%.400s: %s", path, strerror(errno));
    return false;
}

static void show_progress(const soak_summary *summary) {
    fprintf(stderr, "\r%.1f minutes, %" PRIu64 " problems, %" PRIu64 " runs\033[K", summary->minutes, summary->problems,
            summary->runs);
}

int soak(const soak_request *request, soak_summary *summary) {
    bool terminal = isatty(STDERR_FILENO), right = true;
    double begin = seconds_now();
    memset(summary, 0, sizeof *summary);
    int status = make_folder(summary->folder);
    if (status)
        return status;
    soak_take_signals();
    for (uint64_t number = 0; right && summary->minutes < request->minutes && !summary->by_user; number++) {
        static soak_plan plan; /* too large for a stack */
        soak_draw(request->seed, number, &request->device, summary->folder, &plan);
        right = prepare(request, &plan, summary) && solve(request, &plan, summary);
        if (right) {
            remove_checkpoints(summary->folder, plan.steps);
            summary->commands[0] = '\0';
        }
        summary->by_user = summary->by_user || soak_was_signalled();
        summary->minutes = (seconds_now() - begin) / 60;
        if (terminal)
            show_progress(summary);
    }
    if (terminal)
        fputs("\r\033[K", stderr);
    if (!summary->why[0])
        remove_folder(summary->folder);
    return 0;
}
