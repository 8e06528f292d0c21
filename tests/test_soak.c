/* ballast soak with a script in place of the tool: it must notice every way in which a run can go wrong, and draw the
 * same command lines for the same seed. */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "check.h"

#include "../cli/soak.h"
#include "files.h"

#include <stdlib.h>
#include <sys/stat.h>

#define RIGHT "echo '{\"status\": \"complete\", \"tasks\": 7, \"checked\": \"known\"}'\n"

static soak_summary summary;

/* A soak of a script, until its `answer` is wrong or for a tenth of a second. */
static void soak_script(const char *answer, uint64_t seed) {
    char text[1024], tool[256];
    int length = snprintf(text, sizeof text, "#!/bin/sh\necho \"$*\" >>%s/log\n%s", folder, answer);
    write_file("tool", text, (size_t)length);
    snprintf(tool, sizeof tool, "%s", path_of("tool"));
    CHECK(chmod(tool, 0755) == 0);
    soak_request request = {.tool = tool, .minutes = 0.1 / 60, .seed = seed};
    CHECK(bl_device_find("cpu", &request.device));
    CHECK_SAME(soak(&request, &summary), 0);
}

/* The scripts' command lines, without the folder's name, which differs. */
static void read_log(char *text, size_t size) {
    FILE *in = fopen(path_of("log"), "r");
    size_t used = in ? fread(text, 1, size - 1, in) : 0;
    text[used] = '\0';
    for (char *at = text; (at = strstr(at, "ballast-soak-")) != NULL; at += 13)
        memset(at + 13, '?', 6);
    if (in)
        fclose(in);
    CHECK(remove(path_of("log")) == 0);
}

static void right_answers_pass(void) {
    check_at("right answers");
    soak_script(RIGHT, 1);
    CHECK(summary.problems > 0);
    CHECK_SAME(summary.known, summary.problems);
    CHECK_SAME(summary.tasks, 7 * summary.problems);
    CHECK_SAME(summary.why[0], 0);
    CHECK(access(summary.folder, F_OK) != 0);
}

static void a_seed_draws_the_same(void) {
    enum { SIZE = 1 << 20 };
    char *first = malloc(SIZE), *second = malloc(SIZE), *other = malloc(SIZE);
    check_at("the same seed");
    CHECK(first && second && other && remove(path_of("log")) == 0);
    soak_script(RIGHT, 5);
    read_log(first, SIZE);
    soak_script(RIGHT, 5);
    read_log(second, SIZE);
    soak_script(RIGHT, 6);
    read_log(other, SIZE);
    size_t a = strlen(first), b = strlen(second);
    CHECK(a > 100 && b > 100 && memcmp(first, second, a < b ? a : b) == 0);
    CHECK(memcmp(first, other, 100) != 0);
    free(first);
    free(second);
    free(other);
}

static void fails(const char *what, const char *answer, const char *why) {
    check_at("%s", what);
    soak_script(answer, 1);
    CHECK(strstr(summary.why, why) != NULL);
    const char *last = strstr(summary.commands, path_of("tool"));
    CHECK(last && strncmp(last + strlen(path_of("tool")), " run ", 5) == 0);
    CHECK(access(summary.folder, F_OK) == 0);
    char command[SOAK_PATH + 16];
    snprintf(command, sizeof command, "rm -r '%s'", summary.folder);
    CHECK(system(command) == 0);
}

static void failures_are_noticed(void) {
    fails("a wrong answer", "printf 'ballast: a note\nballast: wrong result\nmore' >&2\nexit 1\n",
          "exit status 1: wrong result");
    fails("a refusal", "exit 2\n", "exit status 2");
    fails("an unverified answer", "echo '{\"status\": \"complete\", \"tasks\": 7, \"checked\": \"no\"}'\n",
          "not verified");
    fails("no answer", "exit 0\n", "without a result");
    fails("a crash", "kill -SEGV $$\n", "killed by signal 11");
    fails("a stop that nobody asked for", "echo '{\"status\": \"cancelled\"}'\nexit 1\n", "exit status 1");
}

int main(void) {
    check_limit(120);
    CHECK(mkdtemp(folder) != NULL);
    right_answers_pass();
    a_seed_draws_the_same();
    failures_are_noticed();
    remove(path_of("tool"));
    remove(path_of("log"));
    CHECK(rmdir(folder) == 0);
    return check_end();
}
