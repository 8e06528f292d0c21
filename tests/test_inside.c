/* Looking inside a run: bl_stats_text, BALLAST_LOG and the names of threads. */
#include "check.h"
#include "task_functions.h"

#include <ballast/ballast.h>
#include <ballast/platform/platform.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- bl_stats_text ---- */

static void test_text(void) {
    check_at("bl_stats_text");
    char text[512], cut[20];
    bl_stats s = {.tasks = 7, .seconds = 0.25, .steals = 3, .steal_attempts = 5, .workers = 2, .wall_seconds = 0.5};
    snprintf(s.scheduler, sizeof s.scheduler, "steal:abp");
    snprintf(s.group, sizeof s.group, "lane");
    static const char expected[] =
        "scheduler=steal:abp group=lane workers=2 tasks=7 seconds=0.250000000 wall_seconds=0.500000000 "
        "steals=3 steal_attempts=5 balance=0.000 launches=0 pauses=0 peak_entries=0 "
        "peak_bytes=0";
    CHECK_SAME(bl_stats_text(text, sizeof text, &s), sizeof expected - 1);
    CHECK(!strcmp(text, expected));
    CHECK_SAME(bl_stats_text(cut, sizeof cut, &s), sizeof expected - 1);
    CHECK(strlen(cut) == sizeof cut - 1 && !strncmp(cut, expected, sizeof cut - 1));
    CHECK_SAME(bl_stats_text(NULL, 0, &s), sizeof expected - 1);
    /* A program that was compiled when wall_seconds did not exist. */
    CHECK(bl_stats_text_sized(text, sizeof text, &s, offsetof(bl_stats, wall_seconds)) > 0);
    CHECK(strstr(text, " wall_seconds=0.000000000 ") && strstr(text, " seconds=0.250000000 "));
    CHECK(bl_stats_text(text, sizeof text, NULL) > 0);
    CHECK(!strncmp(text, "scheduler=- group=- workers=0 tasks=0 ", 38));
}

/* ---- BALLAST_LOG ---- */

enum { THREADS = 4, RUNS = 50 };

static void *many_runs(void *argument) {
    bl_program *program = bl_program_from_function(halve, 4, 0, 1);
    bl_context *c = NULL;
    bool *good = argument;
    uint32_t root = 8;
    *good = bl_open(&c, &(bl_config){.device = "cpu", .workers = 2}) == BL_OK;
    for (int i = 0; i < RUNS; i++)
        *good = bl_run(c, program, NULL, &root, 1, NULL) == BL_OK && *good;
    bl_close(c);
    bl_program_free(program);
    return NULL;
}

static void run_in_threads(void) {
    pthread_t threads[THREADS];
    bool good[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_SAME(pthread_create(&threads[i], NULL, many_runs, &good[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_SAME(pthread_join(threads[i], NULL), 0);
        CHECK(good[i]);
    }
}

static void run_and_fail(void) {
    bl_program *program = bl_program_from_function(fail_now, 4, 0, 1);
    bl_context *c = NULL;
    uint32_t root = 8;
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu"}), BL_OK);
    unsetenv("BALLAST_LOG"); /* it is read by bl_open alone */
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_ETASK);
    bl_close(c);
    bl_program_free(program);
}

/* What this writes to standard error while BALLAST_LOG has that value. */
static char *log_of(const char *value, void (*run)(void)) {
    FILE *file = tmpfile();
    char *text = calloc(1, 1 << 20);
    int before = dup(STDERR_FILENO);
    if (!CHECK(file && text && before >= 0))
        exit(1);
    if (value)
        setenv("BALLAST_LOG", value, 1);
    else
        unsetenv("BALLAST_LOG");
    CHECK(dup2(fileno(file), STDERR_FILENO) >= 0);
    run();
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    unsetenv("BALLAST_LOG");
    rewind(file);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    CHECK(length < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void test_log_lines(void) {
    check_at("BALLAST_LOG=1, %d threads", THREADS);
    char *text = log_of("1", run_in_threads), *rest = NULL;
    int lines = 0, whole = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++)
        whole += !strncmp(line, "ballast: device=cpu program=", 28) && strstr(line, " workers=2 tasks=15 seconds=") &&
                 strstr(line, " steals=") && !strcmp(line + strlen(line) - 13, " status=BL_OK");
    CHECK_SAME(lines, THREADS * RUNS);
    CHECK_SAME(whole, lines);
    free(text);
    check_at("BALLAST_LOG=1, a run that fails");
    text = log_of("1", run_and_fail);
    CHECK(strstr(text, " tasks=") && strstr(text, " status=BL_ETASK\n"));
    free(text);
}

static void test_no_log(void) {
    static const char *const off[] = {NULL, "", "0"};
    for (int i = 0; i < 3; i++) {
        check_at("BALLAST_LOG %s", off[i] ? off[i] : "not set");
        char *text = log_of(off[i], run_in_threads);
        CHECK_SAME(strlen(text), 0);
        free(text);
    }
}

/* ---- names of threads ---- */

static bool has_thread(const char *name) {
    DIR *threads = opendir("/proc/self/task");
    bool found = false;
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        char path[300], there[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(there, sizeof there, file))
            there[strcspn(there, "\n")] = 0;
        if (file)
            fclose(file);
        found = found || !strcmp(there, name);
    }
    if (threads)
        closedir(threads);
    return found;
}

/* A thread names itself, and does so a little later than it is created. */
static bool gets_thread(const char *name) {
    for (int i = 0; i < 5000 && !has_thread(name); i++)
        usleep(1000);
    return has_thread(name);
}

static void test_names(void) {
    if (access("/proc/self/task", R_OK) != 0)
        return;
    bl_program *program = bl_program_from_function(halve, 4, 0, 1);
    bl_context *c = NULL;
    uint32_t root = 1 << 10;
    char mine[16];
    CHECK_SAME(pthread_getname_np(pthread_self(), mine, sizeof mine), 0);
    check_at("names, the caller works");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 3}), BL_OK);
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_OK);
    CHECK(gets_thread("ballast-1") && gets_thread("ballast-2") && gets_thread("ballast-watch"));
    CHECK(!has_thread("ballast-0") && has_thread(mine)); /* the caller keeps its name */
    CHECK_SAME(bl_start(c, program, NULL, &root, 1), BL_OK);
    CHECK(gets_thread("ballast-start"));
    CHECK_SAME(bl_wait(c, NULL), BL_OK);
    bl_close(c);
    check_at("names, the caller waits");
    CHECK_SAME(bl_open(&c, &(bl_config){.device = "cpu", .workers = 2, .caller_waits = 1}), BL_OK);
    CHECK_SAME(bl_run(c, program, NULL, &root, 1, NULL), BL_OK);
    CHECK(gets_thread("ballast-0") && gets_thread("ballast-1") && has_thread(mine));
    bl_close(c);
    bl_program_free(program);
}

int main(void) {
    check_limit(120 * CHECK_SLOWER);
    test_text();
    test_log_lines();
    test_no_log();
    test_names();
    return check_end();
}
