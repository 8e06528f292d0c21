/* ballast soak: the command line and the summary. The work is in soak.c. */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include "output.h"
#include "soak.h"
#include "tool.h"

#include "../apps/common/parse.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const app_option SOAK_OPTIONS[] = {
    {"--minutes", "N", "1", "how long to run; may be a fraction"},
    {"--device", "D", "auto", DEVICES_ACCEPTED "; whatever it is, one run in four uses the CPU"},
    {"--seed", "S", "1", "random seed: the same seed gives the same problems in the same order"},
    {"--json", NULL, "", "print one JSON object on one line"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

static const char *const STOPS[SOAK_STOPS] = {NULL, "time limit", "signal", "SIGKILL"};
static const char *const STOPS_JSON[SOAK_STOPS] = {NULL, "time_limit", "signal", "kill"};

static int read_request(const options *set, soak_request *request) {
    const char *device = "auto", *minutes = options_text(set, "--minutes");
    int status = option_device(set, &device);
    if (status == 0)
        status = option_whole(set, "--seed", 0, UINT64_MAX, &request->seed);
    if (status)
        return status;
    if (!parse_double(minutes, &request->minutes) || !(request->minutes > 0 && request->minutes <= 1e6))
        return wrong_use("--minutes %.64s: not a time (accepted: minutes above 0, up to 1e6)", minutes);
    if (!bl_device_find(device, &request->device))
        return wrong_use("--device %.64s: no usable GPU here (accepted: " DEVICES_ACCEPTED ")", device);
    return 0;
}

static const char *verdict(const soak_summary *summary) {
    return summary->why[0] ? "failed" : summary->by_user ? "interrupted" : "passed";
}

/* ---- text ---- */

static void print_summary(const soak_request *request, const soak_summary *summary) {
    name_list apps = {0}, stops = {0};
    char text[64];
    for (unsigned i = 0; app_at(i) && i < SOAK_APPS; i++) {
        snprintf(text, sizeof text, "%s %" PRIu64, app_at(i)->name, summary->apps[i]);
        name_list_add(&apps, text);
    }
    for (int i = SOAK_LIMIT; i < SOAK_STOPS; i++) {
        snprintf(text, sizeof text, "%s %" PRIu64, STOPS[i], summary->stopped[i]);
        name_list_add(&stops, text);
    }
    print_row(stdout, "device", "%s (%s)", request->device.id, request->device.name);
    print_row(stdout, "seed", "%" PRIu64, request->seed);
    print_row(stdout, "minutes", "%.3g", summary->minutes);
    print_row(stdout, "problems", "%" PRIu64 " solved (%s)", summary->problems, apps.text);
    print_row(stdout, "answers", "%" PRIu64 " known, %" PRIu64 " from the twin", summary->known, summary->twin);
    print_row(stdout, "runs", "%" PRIu64, summary->runs);
    print_row(stdout, "stopped", "%s", stops.text);
    print_row(stdout, "resumed", "%" PRIu64, summary->resumed);
    print_row(stdout, "tasks", "%s", human_count((double)summary->tasks).text);
    print_row(stdout, "result", "%s", verdict(summary));
}

/* Of the problem that failed, or that a signal interrupted: perhaps because it took too long. */
static void print_commands(const soak_summary *summary) {
    if (summary->why[0])
        printf("\nThe last of these failed. Its output (out, err) and the checkpoints are in %s:\n", summary->folder);
    else if (summary->commands[0])
        puts("\nThe last of these was under way:");
    fputs(summary->commands, stdout);
}

/* ---- JSON ---- */

static void print_json(const soak_request *request, const soak_summary *summary) {
    json_writer json = {stdout, false};
    json_start(&json, NULL, '{');
    json_string(&json, "device", request->device.id);
    json_string(&json, "device_name", request->device.name);
    json_whole(&json, "seed", request->seed);
    json_real(&json, "minutes", summary->minutes);
    json_string(&json, "status", verdict(summary));
    json_whole(&json, "problems", summary->problems);
    json_start(&json, "apps", '{');
    for (unsigned i = 0; app_at(i) && i < SOAK_APPS; i++)
        json_whole(&json, app_at(i)->name, summary->apps[i]);
    json_end(&json, '}');
    json_whole(&json, "known", summary->known);
    json_whole(&json, "twin", summary->twin);
    json_whole(&json, "runs", summary->runs);
    json_start(&json, "stopped", '{');
    for (int i = SOAK_LIMIT; i < SOAK_STOPS; i++)
        json_whole(&json, STOPS_JSON[i], summary->stopped[i]);
    json_end(&json, '}');
    json_whole(&json, "resumed", summary->resumed);
    json_whole(&json, "tasks", summary->tasks);
    if (summary->why[0]) {
        json_string(&json, "failure", summary->why);
        json_string(&json, "folder", summary->folder);
    }
    if (summary->commands[0])
        json_string(&json, "commands", summary->commands);
    json_string(&json, "version", bl_version());
    json_end(&json, '}');
    putchar('\n');
}

/* ---- the command ---- */

static int command_soak(int argc, char **argv) {
    static soak_summary summary; /* too large for a stack */
    options set = {.command = "soak"};
    soak_request request = {0};
    char tool[SOAK_PATH];
    const char *word = NULL;
    options_add(&set, SOAK_OPTIONS);
    int status = options_parse(&set, argc, argv, "no word", &word);
    if (status)
        return status;
    if (word)
        return wrong_use("%.64s: unexpected (accepted: only options)", word);
    if (options_given(&set, "--help"))
        return command_help(&soak_command);
    status = read_request(&set, &request);
    if (status)
        return status;
    ssize_t length = readlink("/proc/self/exe", tool, sizeof tool);
    if (length <= 0 || (size_t)length >= sizeof tool)
        return run_failed("/proc/self/exe: cannot be read, so this program cannot start itself");
    tool[length] = '\0';
    request.tool = tool;
    status = soak(&request, &summary);
    if (status)
        return status;
    if (options_given(&set, "--json")) {
        print_json(&request, &summary);
    } else {
        print_summary(&request, &summary);
        print_commands(&summary);
    }
    return summary.why[0] ? run_failed("%s", summary.why) : STATUS_OK;
}

const command soak_command = {
    .name = "soak",
    .text = "random runs, stopped, killed and resumed; every answer is verified",
    .usage = "[options]",
    .about =
        "Solves random problems with random schedulers, workers and capacities, each in its own processes. Two in\n"
        "three are stopped on the way, by a time limit, a signal or SIGKILL, and resumed from the last checkpoint\n"
        "with other settings. Every answer is verified. A wrong answer, a crash or a stall ends the soak, which\n"
        "then prints the command lines that led to it.",
    .options = SOAK_OPTIONS,
    .run = command_soak,
};
