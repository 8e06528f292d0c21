/* ballast bench: an experiment, as a table on the screen and as rows in a file. */
#include "output.h"
#include "tool.h"

#include "../bench/harness/suite.h"

#include <string.h>

enum { REPEATS_MAX = 101 };

static const app_option BENCH_OPTIONS[] = {
    {"--out", "DIR", "", "also write the raw rows to DIR/SUITE.csv; creates DIR if needed"},
    {"--quick", NULL, "", "fewer points and repeats: two minutes at most"},
    {"--device", "D", "auto", "auto, cpu, cuda, cuda:N; auto means the CPU and, if there is one, a GPU"},
    {"--queues", "QUEUE,...", "", "run only these queues; the empty loop and the ceiling always run"},
    {"--case", "C", "", "run only the tables with this value in column `case`"},
    {"--repeats", "N", "", "measurements per row; default: 5, with --quick 3"},
    {"--force", NULL, "", "overwrite existing rows; without it, an interrupted run resumes"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

static void list_suites(void) {
    for (unsigned i = 0; bench_suite_at(i); i++)
        printf("  %-12s  %s\n", bench_suite_at(i)->name, bench_suite_at(i)->text);
}

static const bench_suite *known_suite(const char *word) {
    const bench_suite *found = bench_suite_find(word);
    name_list accepted = {0};
    for (unsigned i = 0; bench_suite_at(i); i++)
        name_list_add(&accepted, bench_suite_at(i)->name);
    if (!found)
        wrong_use("%.64s: unknown suite (accepted: %s)", word, accepted.text);
    return found;
}

static int read_request(const options *set, bench_request *request) {
    uint64_t repeats = 0;
    int status = option_device(set, &request->device);
    request->gpu = device_number(request->device);
    if (status == 0)
        status = option_whole(set, "--repeats", 1, REPEATS_MAX, &repeats);
    request->repeats = (uint32_t)repeats;
    request->out = options_given(set, "--out") ? options_text(set, "--out") : NULL;
    request->queues = options_text(set, "--queues");
    request->only = options_text(set, "--case");
    request->quick = options_given(set, "--quick");
    request->force = options_given(set, "--force");
    if (status == 0 && request->force && !request->out)
        return wrong_use("--force: there is nothing to overwrite without --out (accepted: both, or neither)");
    return status;
}

/* As typed, for reproducing the run. */
static void join_words(int argc, char **argv, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "ballast bench");
    for (int i = 0; i < argc && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, " %s", argv[i]);
}

static int command_bench(int argc, char **argv) {
    options set = {.command = "bench"};
    options_add(&set, BENCH_OPTIONS);
    const bench_suite *suite = NULL;
    bench_request request = {.device = "auto"};
    char command[512];
    const char *word;
    int status = options_parse(&set, argc, argv, "one SUITE, or none for a list", &word);
    if (status)
        return status;
    if (word && !(suite = known_suite(word)))
        return STATUS_WRONG_USE;
    if (options_given(&set, "--help"))
        return command_help(&bench_command);
    status = read_request(&set, &request);
    if (status)
        return status;
    if (!suite && argc > 0)
        return wrong_use("%.64s: needs a SUITE (accepted: ballast bench SUITE %.64s, or ballast bench for a list)",
                         argv[0], argv[0]);
    if (!suite) {
        puts("suites");
        list_suites();
        return STATUS_OK;
    }
    join_words(argc, argv, command, sizeof command);
    request.command = command;
    bench_error error = {""};
    status = bench_run(suite, &request, &error);
    if (status)
        run_failed("%s", error.text);
    return status;
}

static const char *suite_at(unsigned i, const char **text) {
    const bench_suite *suite = bench_suite_at(i);
    *text = suite ? suite->text : NULL;
    return suite ? suite->name : NULL;
}

const command bench_command = {
    .name = "bench",
    .text = "run an experiment: rows to the screen and to a file",
    .usage = "[SUITE] [options]",
    .about = "Runs an experiment; without SUITE, lists the experiments. Every result is verified.",
    .options = BENCH_OPTIONS,
    .word_at = suite_at,
    .words = "suites",
    .run = command_bench,
};
