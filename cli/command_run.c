/* ballast run: one app, one device, one scheduler: solve, verify, summarise. */
#define _POSIX_C_SOURCE 200809L /* isatty, open_memstream */

#include "output.h"
#include "mpi_job.h"
#include "tool.h"
#include "trace_file.h"

#include "../apps/common/app_output.h"
#include "../apps/common/kernels.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT_MAX = 1000, ENTRIES_MAX = 1000000000, WORKERS_MAX = 1000000, LANES_MAX = 1024 };

static const char *const VICTIMS[] = {"round-robin", "random", NULL};
static const char *const STEALS[] = {"one", "half", NULL};

#define RUN_DEVICES DEVICES_ACCEPTED ", several that share the work: cpu+cuda:0, or all"

static const app_option RUN_OPTIONS[] = {
    {"--device", "D", "auto", RUN_DEVICES "; auto means a usable GPU, else the CPU"},
    {"--scheduler", "SCHEDULER", "auto", "a name from ballast list schedulers"},
    {"--workers", "N", "", "number of workers, of each device; default: all that fit"},
    {"--bind", NULL, "", "cpu: pin each worker to one of the cores that this process may use"},
    {"--group", "lane|warp|block:LANES", "", "lanes that run one task; default: the app's best"},
    {"--repeat", "R", "1", "number of runs; the summary shows their median time"},
    {"--seed", "S", "1", "seed of generated problems and of random victims"},
    {"--victims", "round-robin|random", "", "victim selection; default: the scheduler's best"},
    {"--steal", "one|half", "", "amount to steal; default: the scheduler's best"},
    {"--capacity", "N", "", "initial entries per queue; queues grow"},
    {"--private", "N", "", "entries of each private stack, 0 for none; default: the scheduler's best"},
    {"--pop", "N", "", "loop indices taken at once; default: the app's best"},
    {"--stall", "S", "60", "abort after this many seconds without progress"},
    {"--time-limit", "S", "", "stop after this many seconds in total"},
    {"--checkpoint", "FILE", "", "write checkpoints to FILE: periodically, and when the run is stopped"},
    {"--checkpoint-every", "S", "60", "seconds between checkpoints"},
    {"--resume", "FILE", "", "resume from FILE; APP, its options and --seed must be the same"},
    {"--trace", "FILE", "", "write a timeline of the last run to FILE, for Perfetto or chrome://tracing"},
    {"--check", NULL, "", "verify the result, however long it takes"},
    {"--no-check", NULL, "", "do not verify the result"},
    {"--json", NULL, "", "print one JSON object on one line"},
    {"--help", NULL, "", "print this help; with an APP, also its options"},
    {NULL, NULL, NULL, NULL},
};

/* The progress line, rewritten in place. */
typedef struct progress_line {
    bool shown;
    uint64_t tasks; /* at the first call of this run, whose time is `start`: set-up does not count towards the rate */
    double start;
} progress_line;

typedef struct run_request {
    const app *app;
    const char *values[OPTIONS_MAX]; /* values of the app's options */
    bl_config config;
    uint32_t repeat;
    uint64_t seed;
    const char *trace;  /* NULL: none */
    char problem[4096]; /* identifies the problem, for checkpoints */
    bool check, force, json;
    progress_line progress;
} run_request;

typedef struct run_outcome {
    bl_stats stats;     /* of the last run, which is the one verified */
    const char *status; /* "complete", or why it was stopped */
    uint32_t runs;
    double seconds[REPEAT_MAX], wall[REPEAT_MAX];
    double median, median_wall;
    const char *checked;
} run_outcome;

/* ---- reading the command line ---- */

#define NUMBERS "Numbers may end in k, M or G (powers of ten)."

static int help(const app *chosen) {
    if (!chosen)
        return command_help(&run_command);
    printf("usage: ballast run %s [options]\n\n%s: %s\n\noptions of %s\n", chosen->name, chosen->name, chosen->text,
           chosen->name);
    options_help(chosen->options);
    puts("\noptions of run");
    options_help(RUN_OPTIONS);
    puts("\n" NUMBERS);
    return STATUS_OK;
}

/* The app's options are known only once its name has been read, so they follow it. */
static int parse(options *set, int argc, char **argv, const app **chosen) {
    for (int at = 0; at < argc;) {
        if (options_is(argv[at])) {
            int status = options_take(set, argv, &at);
            if (status)
                return status;
            continue;
        }
        if (*chosen)
            return wrong_use("%.64s: unexpected after %s (accepted: one APP, then options)", argv[at], (*chosen)->name);
        *chosen = known_app("", argv[at++]);
        if (!*chosen)
            return STATUS_WRONG_USE;
        set->command = "run";
        options_add(set, (*chosen)->options);
    }
    return 0;
}

static bool is_group(const char *text) {
    if (strncmp(text, "block:", 6) != 0)
        return strcmp(text, "lane") == 0 || strcmp(text, "warp") == 0;
    char *end;
    long lanes = strtol(text + 6, &end, 10);
    return text[6] >= '0' && text[6] <= '9' && *end == '\0' && lanes >= 1 && lanes <= LANES_MAX;
}

static int read_names(const options *set, bl_config *config) {
    const char *device = options_text(set, "--device");
    /* bl_open knows which ones can share a run */
    const bool several = bl_device_traits(device) & BL_DEVICE_SEVERAL;
    if (several)
        config->device = device;
    int status = several ? 0 : option_device(set, &config->device);
    if (status == 0)
        status = option_scheduler(set, &config->scheduler);
    if (status)
        return status;
    if (options_given(set, "--group")) {
        config->group = options_text(set, "--group");
        if (!is_group(config->group))
            return wrong_use("--group %.64s: unknown group (accepted: lane, warp, block:LANES with 1 to %d)",
                             config->group, LANES_MAX);
    }
    int victims = -1, steal = -1;
    if ((status = option_choice(set, "--victims", VICTIMS, &victims)) ||
        (status = option_choice(set, "--steal", STEALS, &steal)))
        return status;
    config->victims = (bl_victims)(victims + 1);
    config->steal = (bl_steal)(steal + 1);
    return 0;
}

static int read_numbers(const options *set, run_request *request) {
    uint64_t workers = 0, capacity = 0, private_entries = 0, repeat = 1, pop = 0;
    int status;
    if ((status = option_whole(set, "--workers", 1, WORKERS_MAX, &workers)) ||
        (status = option_whole(set, "--capacity", 1, ENTRIES_MAX, &capacity)) ||
        (status = option_whole(set, "--private", 0, ENTRIES_MAX, &private_entries)) ||
        (status = option_whole(set, "--pop", 1, ENTRIES_MAX, &pop)) ||
        (status = option_whole(set, "--repeat", 1, REPEAT_MAX, &repeat)) ||
        (status = option_whole(set, "--seed", 0, UINT64_MAX, &request->seed)) ||
        (status = option_seconds(set, "--stall", &request->config.stall_seconds)) ||
        (status = option_seconds(set, "--time-limit", &request->config.time_limit)) ||
        (status = option_seconds(set, "--checkpoint-every", &request->config.checkpoint_seconds)))
        return status;
    request->config.caller_waits = 1; /* so that --stall ends a run whose task never does */
    if (options_given(set, "--private") && private_entries == 0)
        private_entries = BL_NONE;
    request->config.workers = (uint32_t)workers;
    request->config.capacity = (uint32_t)capacity;
    request->config.private_entries = (uint32_t)private_entries;
    request->config.grain = (uint32_t)pop;
    request->config.seed = request->seed;
    request->repeat = (uint32_t)repeat;
    return 0;
}

/* Everything that a checkpoint must match: the app, the seed, its options, and the contents of its files, whatever
 * their paths. */
static void name_problem(run_request *request, const void *problem) {
    const app *chosen = request->app;
    size_t size = sizeof request->problem;
    int used = snprintf(request->problem, size, "%s --seed %" PRIu64 " data %016" PRIx64, chosen->name, request->seed,
                        chosen->digest ? chosen->digest(problem) : 0);
    for (int i = 0; chosen->options[i].name && used >= 0 && (size_t)used < size; i++)
        if (!chosen->options[i].value || strcmp(chosen->options[i].value, "FILE") != 0)
            used += snprintf(request->problem + used, size - (size_t)used, " %s %s", chosen->options[i].name,
                             request->values[i]);
    request->config.checkpoint_tag = request->problem;
}

static int read_request(const options *set, run_request *request) {
    int status = read_names(set, &request->config);
    if (status == 0)
        status = read_numbers(set, request);
    if (status)
        return status;
    request->force = options_given(set, "--check");
    request->check = !options_given(set, "--no-check");
    request->json = options_given(set, "--json");
    request->config.bind = options_given(set, "--bind");
    if (options_given(set, "--trace"))
        request->trace = options_text(set, "--trace");
    if (options_given(set, "--checkpoint"))
        request->config.checkpoint = options_text(set, "--checkpoint");
    if (options_given(set, "--resume"))
        request->config.resume = options_text(set, "--resume");
    if (request->force && !request->check)
        return wrong_use("--check: contradicts --no-check (accepted: one of the two)");
    if (options_given(set, "--checkpoint-every") && !request->config.checkpoint)
        return wrong_use("--checkpoint-every: no checkpoint is written (accepted: with --checkpoint FILE)");
    if (request->trace && (request->config.checkpoint || request->config.resume))
        return wrong_use(
            "--trace %.200s: tracing needs an uninterrupted run (accepted: without --checkpoint and --resume)",
            request->trace);
    if (request->repeat > 1 && (request->config.checkpoint || request->config.resume))
        return wrong_use("--repeat %" PRIu32 ": an interrupted run is not a measurement (accepted: 1 with %s)",
                         request->repeat, request->config.checkpoint ? "--checkpoint" : "--resume");
    options_values(set, request->app->options, request->values);
    return 0;
}

/* ---- progress ---- */

static void show_progress(void *argument, uint64_t tasks) {
    progress_line *line = argument;
    if (!line->shown || tasks < line->tasks) { /* fewer: the app has started a new run */
        line->shown = true;
        line->tasks = tasks;
        line->start = seconds_now();
    }
    double seconds = seconds_now() - line->start;
    double rate = seconds > 0 ? (double)(tasks - line->tasks) / seconds : 0;
    fprintf(stderr, "\r%s tasks, %s tasks/s\033[K", human_count((double)tasks).text, human_count(rate).text);
}

static void clear_progress(progress_line *line) {
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}

/* ---- signals ---- */

static bl_context *volatile to_cancel;
static atomic_int received; /* number of signals, possibly on several threads */

/* The first signal lets the run stop cleanly, however long that takes. A second one may be a duplicate: timeout signals
 * both the process and its group. The third terminates the process. */
static void on_signal(int number) {
    enum { TOO_MANY = 3 };
    int count = atomic_fetch_add(&received, 1) + 1;
    if (count == 1)
        bl_cancel(to_cancel);
    if (count < TOO_MANY)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

/* NULL restores the old handlers, unless there was a signal: the next one must not interrupt a clean stop. */
static void cancel_on_signals(bl_context *context) {
    static const int signals[] = {SIGINT, SIGTERM};
    static struct sigaction before[2];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (context)
        to_cancel = context;
    for (int i = 0; i < 2; i++) {
        if (context && sigaction(signals[i], NULL, before + i) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
        else if (!context && atomic_load(&received) == 0)
            sigaction(signals[i], before + i, NULL);
    }
}

/* ---- errors from the library ---- */

/* A hint where this tool could have more kernels: apps/common/kernels.h. */
static const char *left_out(const bl_context *context) {
    const bool gpu = (bl_device_traits(bl_device_id(context)) & BL_DEVICE_GPU) != 0;
    return gpu && !APP_ALL_KERNELS ? "; others were left out: built without a GPU and CMAKE_CUDA_ARCHITECTURES" : "";
}

static int no_code(const run_request *request, const bl_context *context) {
    const char *scheduler = request->config.scheduler, *target = bl_device_target(context);
    const bl_program *program = bl_program_part(request->app->program(), target);
    bl_device_info device = {.capability = 0};
    bl_device_find(bl_device_id(context), &device);
    if (bl_device_lacks(&device, scheduler))
        return wrong_use("--%s", bl_error_detail(context));
    bool fits = strcmp(scheduler, "auto") == 0 || bl_program_has(program, scheduler);
    if (fits && request->config.group)
        return wrong_use("--group %s: %s has no code for it on %s with --scheduler %s (accepted: its own group, or "
                         "--scheduler auto%s)",
                         request->config.group, request->app->name, target, scheduler, left_out(context));
    if (fits)
        return wrong_use("--scheduler %s: %s has no code for it on %s with these options (accepted: auto)", scheduler,
                         request->app->name, target);
    name_list accepted = {0};
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        if (bl_program_has(program, bl_scheduler_name(i)) && !bl_device_lacks(&device, bl_scheduler_name(i)))
            name_list_add(&accepted, bl_scheduler_name(i));
    return wrong_use("--scheduler %s: %s has no code for it on %s (accepted: %s%s)", scheduler, request->app->name,
                     target, accepted.text, left_out(context));
}

/* Errors that the option ranges do not catch: an option that the scheduler or the device does not support, or a
 * combination that does not fit. The library's detail begins with the option's name. */
static int out_of_range(const char *detail) {
    if (!strncmp(detail, "grain ", 6)) /* the option has the papers' name */
        return wrong_use("--pop %s", detail + 6);
    if (detail[0]) /* in capitals: not an option, but a variable of the environment */
        return wrong_use("%s%s", isupper((unsigned char)detail[0]) ? "" : "--", detail);
    return wrong_use("--workers, --capacity, --private: too large together for this device (accepted: smaller ones)");
}

static int no_device(const char *device) {
    bool gpu = (bl_device_traits(device) & BL_DEVICE_GPU) != 0;
    return wrong_use("--device %.64s: no usable %s here (accepted: " RUN_DEVICES ")", device, gpu ? "GPU" : "device");
}

/* Prints a line with the state of each worker: the only message longer than one line. */
static int stalled(const run_request *request, const char *detail) {
    int status = run_failed("%s: no progress, aborted (--stall %g)", request->app->name, request->config.stall_seconds);
    if (detail[0])
        fprintf(stderr, "%s\n", detail);
    return status;
}

/* Prints one line for a status other than BL_OK; `context` is NULL if there is none yet. Returns the exit status. */
static int explain(const run_request *request, const bl_context *context, int status) {
    const char *detail = bl_error_detail(context);
    if (status == BL_ENODEVICE && ranks_are_several()) /* another rank may be the one without it */
        return wrong_use("--%s", detail);
    if (status == BL_ENODEVICE)
        return no_device(request->config.device);
    if (status == BL_ESCHEDULER)
        return unknown_scheduler(request->config.scheduler);
    if (status == BL_ENOCODE && context && bl_node_device(context, 0))
        return wrong_use("--device %s: %s", request->config.device, detail);
    if (status == BL_ENOCODE && context)
        return no_code(request, context);
    if (status == BL_EINVAL)
        return out_of_range(detail);
    if (status == BL_ESTALL)
        return stalled(request, detail);
    if (status == BL_EFILE)
        return run_failed("--%s", detail);
    return run_failed("%s: %s%s%s", request->app->name, bl_status_text(status), detail[0] ? ": " : "", detail);
}

/* The app's message names the option or file. */
static int refused(const app_error *error, int status) {
    int exit_status = run_failed("%s", error->text);
    return status == STATUS_WRONG_USE ? status : exit_status;
}

/* ---- results ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sorted(const double *times, uint32_t count, double *seconds) {
    memcpy(seconds, times, count * sizeof *seconds);
    qsort(seconds, count, sizeof *seconds, ascending);
}

static double median(const double *times, uint32_t count) {
    double seconds[REPEAT_MAX];
    sorted(times, count, seconds);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

static double rate(const run_outcome *outcome) {
    return outcome->median > 0 ? (double)outcome->stats.tasks / outcome->median : 0;
}

/* The app's lines "name value", aligned with ours. */
static void print_result(const app *chosen, const void *problem) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) {
        chosen->print(problem, stdout, false);
        return;
    }
    chosen->print(problem, memory, false);
    fclose(memory);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *gap = line + strcspn(line, " \t");
        const char *value = gap + strspn(gap, " \t");
        *gap = '\0';
        print_row(stdout, line, "%s", value);
    }
    free(text);
}

static void print_seconds(const run_outcome *outcome, uint32_t repeat) {
    if (repeat == 1) {
        print_row(stdout, "seconds", "%s", human_seconds(outcome->median).text);
        return;
    }
    double seconds[REPEAT_MAX];
    sorted(outcome->seconds, repeat, seconds);
    print_row(stdout, "seconds", "%s (median of %" PRIu32 ", %s to %s)", human_seconds(outcome->median).text, repeat,
              human_seconds(seconds[0]).text, human_seconds(seconds[repeat - 1]).text);
}

/* How many, and their devices if these differ. */
static void print_ranks(const bl_context *context) {
    name_list others = {0};
    for (uint32_t i = 0; i < bl_ranks(context); i++)
        if (i == 0 || strcmp(bl_rank_device(context, i), bl_rank_device(context, i - 1)))
            name_list_add(&others, bl_rank_device(context, i));
    print_row(stdout, "ranks", "%" PRIu32 "%s%s", bl_ranks(context), strchr(others.text, ',') ? " with " : "",
              strchr(others.text, ',') ? others.text : "");
}

static void print_summary(const run_request *request, const bl_context *context, const void *problem,
                          const run_outcome *outcome) {
    const bl_stats *stats = &outcome->stats;
    print_row(stdout, "app", "%s", request->app->name);
    print_row(stdout, "device", "%s (%s)", bl_device_id(context), bl_device_name(context));
    print_row(stdout, "scheduler", "%s", stats->scheduler);
    if (ranks_are_several())
        print_ranks(context);
    print_row(stdout, "workers", "%" PRIu32, stats->workers);
    print_row(stdout, "group", "%s", stats->group);
    print_row(stdout, "tasks", "%" PRIu64, stats->tasks);
    print_seconds(outcome, request->repeat);
    print_row(stdout, "with set-up", "%s", human_seconds(outcome->median_wall).text);
    print_row(stdout, "tasks/s", "%s", human_count(rate(outcome)).text);
    print_row(stdout, "peak entries", "%" PRIu64, stats->peak_entries);
    print_row(stdout, "peak memory", "%s", human_bytes(stats->peak_bytes).text);
    print_row(stdout, "steals", "%" PRIu64 " in %" PRIu64 " attempts", stats->steals, stats->steal_attempts);
    print_row(stdout, "balance", "%.3g", stats->balance);
    print_result(request->app, problem);
    print_row(stdout, "checked", "%s", outcome->checked);
}

static void json_stats(json_writer *json, const run_outcome *outcome) {
    const bl_stats *stats = &outcome->stats;
    json_whole(json, "tasks", stats->tasks);
    json_real(json, "seconds", outcome->median);
    json_start(json, "seconds_all", '[');
    for (uint32_t i = 0; i < outcome->runs; i++)
        json_real(json, NULL, outcome->seconds[i]);
    json_end(json, ']');
    json_real(json, "wall_seconds", outcome->median_wall);
    json_real(json, "tasks_per_second", rate(outcome));
    json_whole(json, "peak_tasks", stats->peak_entries);
    json_whole(json, "paper_tasks", stats->paper_tasks);
    json_whole(json, "peak_bytes", stats->peak_bytes);
    json_whole(json, "steals", stats->steals);
    json_whole(json, "steal_attempts", stats->steal_attempts);
    json_real(json, "balance", stats->balance);
}

/* What one rank or node did in the last run. */
static void json_share(json_writer *json, const char *device, const bl_stats *stats, const bl_traffic *traffic,
                       bool is_rank) {
    json_string(json, "device", device);
    json_whole(json, "workers", stats->workers);
    json_whole(json, "tasks", stats->tasks);
    json_real(json, "seconds", stats->seconds);
    json_whole(json, "messages", traffic->messages);
    if (is_rank)
        json_whole(json, "bytes", traffic->bytes);
    json_whole(json, "entries_sent", traffic->entries_sent);
    json_whole(json, "entries_received", traffic->entries_received);
    json_real(json, "ask_seconds", traffic->asks ? traffic->ask_seconds / (double)traffic->asks : 0);
    json_whole(json, "asks", traffic->asks);
}

static void json_ranks(json_writer *json, bl_context *context) {
    bl_stats stats;
    bl_traffic traffic;
    json_start(json, "ranks", '[');
    for (uint32_t i = 0; i < bl_ranks(context) && bl_rank_stats(context, i, &stats) == BL_OK &&
                         bl_rank_traffic(context, i, &traffic) == BL_OK;
         i++) {
        json_start(json, NULL, '{');
        json_whole(json, "rank", i);
        json_share(json, bl_rank_device(context, i), &stats, &traffic, true);
        json_end(json, '}');
    }
    json_end(json, ']');
}

static void json_nodes(json_writer *json, bl_context *context) {
    bl_stats stats;
    bl_traffic traffic;
    const char *device;
    json_start(json, "nodes", '[');
    for (uint32_t i = 0; (device = bl_node_device(context, i)) && bl_node_stats(context, i, &stats) == BL_OK &&
                         bl_node_traffic(context, i, &traffic) == BL_OK;
         i++) {
        json_start(json, NULL, '{');
        json_share(json, device, &stats, &traffic, false);
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* `problem` is NULL if there is no result. */
static void print_json(const run_request *request, bl_context *context, const void *problem,
                       const run_outcome *outcome) {
    json_writer json = {stdout, false};
    json_start(&json, NULL, '{');
    json_string(&json, "app", request->app->name);
    json_string(&json, "device", bl_device_id(context));
    json_string(&json, "device_name", bl_device_name(context));
    json_string(&json, "scheduler", outcome->stats.scheduler);
    json_whole(&json, "workers", outcome->stats.workers);
    json_string(&json, "group", outcome->stats.group);
    json_string(&json, "status", outcome->status);
    json_stats(&json, outcome);
    if (ranks_are_several())
        json_ranks(&json, context);
    else if (bl_node_device(context, 0))
        json_nodes(&json, context);
    if (problem) {
        json_start(&json, "result", '{');
        request->app->print(problem, stdout, true);
        json_end(&json, '}');
    }
    json_string(&json, "checked", outcome->checked);
    json_string(&json, "version", bl_version());
    json_end(&json, '}');
    putchar('\n');
}

/* ---- the run ---- */

static int check(const run_request *request, const bl_context *context, void *problem, run_outcome *outcome) {
    outcome->checked = "no";
    app_error error = {""};
    if (!ranks_is_first()) /* that one has the result */
        return STATUS_OK;
    if (!request->check || request->app->check(problem, &outcome->stats, request->force, &outcome->checked, &error))
        return STATUS_OK;
    return run_failed("wrong result with %s on %s: %s", outcome->stats.scheduler, bl_device_id(context), error.text);
}

/* A scheduler without queues runs waves of tasks, and can stop only between two waves. */
static void note_waves(const run_request *request, const bl_stats *stats) {
    bool waves = bl_scheduler_traits(stats->scheduler) & BL_TRAIT_WAVES;
    if (waves && (request->config.time_limit > 0 || request->config.checkpoint))
        note("%s: %s can stop only between waves of tasks; this run had %" PRIu32,
             request->config.time_limit > 0 ? "--time-limit" : "--checkpoint", stats->scheduler, stats->launches);
}

/* Notes on options that were ignored or adjusted. */
static void note_changes(const run_request *request, const bl_context *context, const bl_stats *stats) {
    uint32_t capacity = request->config.capacity, private_entries = request->config.private_entries;
    uint32_t uses = bl_scheduler_uses(stats->scheduler);
    uint64_t rounded = 2;
    while (rounded < capacity)
        rounded *= 2;
    if (capacity && !(uses & BL_USES_CAPACITY))
        note("--capacity %" PRIu32 ": ignored by %s, which has no queues", capacity, stats->scheduler);
    else if (capacity > 0 && rounded != capacity)
        note("--capacity %" PRIu32 ": rounded up to %" PRIu64 ", a power of two", capacity, rounded);
    if (private_entries && private_entries != BL_NONE && !(uses & BL_USES_PRIVATE))
        note("--private %" PRIu32 ": ignored by %s, which has no private stacks", private_entries, stats->scheduler);
    if (request->config.workers && bl_scheduler_traits(stats->scheduler) & BL_TRAIT_GROUP_PER_TASK &&
        bl_device_traits(bl_device_id(context)) & BL_DEVICE_GPU)
        note("--workers %" PRIu32 ": ignored by static:wave on a GPU, which distributes the tasks itself",
             request->config.workers);
    else if (stats->workers > 0 && stats->workers < request->config.workers) /* 0 if there was nothing to run */
        note("--workers %" PRIu32 ": clamped to the %" PRIu32 " that fit", request->config.workers, stats->workers);
}

/* A stopped run has no result, but reports how far it came. */
static int stopped(const run_request *request, bl_context *context, int status, run_outcome *outcome) {
    /* A resumed run writes no checkpoint while it repeats the runs that were complete before. */
    const char *written = request->config.checkpoint, *from = request->config.resume;
    const char *file = written && access(written, F_OK) == 0 ? written : from;
    outcome->status = status == BL_ETIME ? "time-limit" : "cancelled";
    outcome->checked = "no";
    outcome->median = outcome->stats.seconds;
    outcome->seconds[0] = outcome->stats.seconds;
    outcome->wall[0] = outcome->median_wall = outcome->stats.wall_seconds;
    outcome->runs = 1;
    if (request->json)
        print_json(request, context, NULL, outcome);
    return run_failed("%s: %s after %s tasks%s%s", request->app->name,
                      status == BL_ETIME ? "stopped by --time-limit" : outcome->status,
                      human_count((double)outcome->stats.tasks).text, file ? "; to resume: --resume " : "",
                      file ? file : "");
}

static int measure(run_request *request, bl_context *context, void *problem, run_outcome *outcome) {
    int status = BL_OK;
    outcome->status = "complete";
    cancel_on_signals(context);
    for (uint32_t i = 0; i < request->repeat && status == BL_OK; i++) {
        if (request->trace && i + 1 == request->repeat)
            status = bl_trace_start(context, 0);
        if (status == BL_OK)
            status = request->app->run(problem, context, &outcome->stats);
        clear_progress(&request->progress);
        outcome->seconds[i] = outcome->stats.seconds;
        outcome->wall[i] = outcome->stats.wall_seconds;
    }
    cancel_on_signals(NULL);
    if (status == BL_ETIME || status == BL_ECANCEL)
        return stopped(request, context, status, outcome);
    if (status)
        return explain(request, context, status);
    outcome->runs = request->repeat;
    outcome->median = median(outcome->seconds, request->repeat);
    outcome->median_wall = median(outcome->wall, request->repeat);
    note_changes(request, context, &outcome->stats);
    note_waves(request, &outcome->stats);
    if (request->app->found) {
        size_t bytes;
        const void *found = request->app->found(problem, &bytes);
        status = ranks_collect(found, bytes, request->app->add, problem);
    }
    return status ? status : check(request, context, problem, outcome);
}

static int run_loaded(run_request *request, bl_context *context, void *problem) {
    run_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    int status = measure(request, context, problem, &outcome);
    app_error error = {""};
    if (status)
        return status;
    if (request->app->write && request->app->write(problem, context, &error))
        return run_failed("%s", error.text);
    if (request->trace && trace_write(request->trace, request->app->name, context, &outcome.stats, &error))
        return run_failed("%s", error.text);
    if (request->json)
        print_json(request, context, problem, &outcome);
    else
        print_summary(request, context, problem, &outcome);
    return STATUS_OK;
}

/* Whether the context can run it. Returns an exit status. */
static int check_context(const run_request *request, const bl_context *context, const void *problem) {
    const app *chosen = request->app;
    const bl_program *program = chosen->program();
    const char *unfit = chosen->unfit ? chosen->unfit(problem, context) : NULL;
    if (program && !bl_program_part(program, bl_device_target(context)))
        return wrong_use("--device %s: %s has no code for it (accepted: " RUN_DEVICES ")", request->config.device,
                         chosen->name);
    if (chosen->one_memory && bl_memories(context) > 1)
        return wrong_use("--device %s: %s: %s (accepted: one device)", request->config.device, chosen->name,
                         chosen->one_memory);
    return unfit ? wrong_use("%s", unfit) : STATUS_OK;
}

static int run_on(run_request *request, bl_context *context, void *problem) {
    const app *chosen = request->app;
    int status = check_context(request, context, problem), loaded = BL_ENOCODE;
    if (status == STATUS_OK) {
        loaded = chosen->load(problem, context);
        status = loaded ? explain(request, context, loaded) : STATUS_OK;
    }
    status = ranks_agree(status, NULL);
    if (status == STATUS_OK)
        status = run_loaded(request, context, problem);
    if (loaded == BL_OK)
        chosen->unload(problem, context);
    return status;
}

static int run_problem(run_request *request, void *problem) {
    bl_context *context = NULL;
    int status = ranks_open(&context, &request->config);
    if (status)
        return explain(request, NULL, status);
    status = run_on(request, context, problem);
    bl_close(context);
    return status;
}

/* Why processes cannot share a run of it. */
static const char *why_alone(const app *a) { return a->alone ? a->alone : a->one_memory; }

/* Checks that come before there is a context, and the problem. Returns an exit status. */
static int prepare(run_request *request, void **problem) {
    app_error error = {""};
    const char *why = why_alone(request->app);
    if (ranks_are_several() && why) {
        name_list accepted = {0};
        for (unsigned i = 0; app_at(i); i++)
            if (!why_alone(app_at(i)))
                name_list_add(&accepted, app_at(i)->name);
        return wrong_use("%s: %s (accepted with mpirun: %s)", request->app->name, why, accepted.text);
    }
    if ((request->trace && app_output_check("--trace", request->trace, &error)) ||
        (request->config.checkpoint && ranks_is_first() && /* which writes it */
         app_output_check("--checkpoint", request->config.checkpoint, &error)))
        return run_failed("%s", error.text);
    int status = request->app->open(problem, request->values, request->seed, &error);
    if (status)
        return refused(&error, status);
    if (request->config.checkpoint || request->config.resume || ranks_are_several())
        name_problem(request, *problem);
    return STATUS_OK;
}

static int run(run_request *request) {
    if (isatty(STDERR_FILENO) && ranks_is_first()) {
        request->config.progress = show_progress;
        request->config.progress_arg = &request->progress;
    }
    void *problem = NULL;
    int status = ranks_agree(prepare(request, &problem), request->problem);
    if (status == STATUS_OK)
        status = run_problem(request, problem);
    if (problem)
        request->app->close(problem);
    return status;
}

/* What the command line asks for. Returns an exit status. */
static int read_command_line(options *set, int argc, char **argv, run_request *request) {
    int status = parse(set, argc, argv, &request->app);
    if (status || options_given(set, "--help"))
        return status;
    if (!request->app)
        return known_app("run: ", NULL) ? STATUS_OK : STATUS_WRONG_USE;
    return read_request(set, request);
}

static int command_run(int argc, char **argv) {
    options set = {.command = "run before APP"};
    options_add(&set, RUN_OPTIONS);
    run_request request;
    memset(&request, 0, sizeof request);
    ranks_find();
    int status = read_command_line(&set, argc, argv, &request);
    if (status == 0 && options_given(&set, "--help"))
        return help(request.app);
    const int started = ranks_start(); /* even if this rank is wrong: others may not be */
    if (started)
        return started;
    status = ranks_agree(status, NULL);
    if (status == 0)
        status = run(&request);
    ranks_end();
    return status;
}

static const char *app_word(unsigned i, const char **text) {
    *text = app_at(i) ? app_at(i)->text : NULL;
    return app_at(i) ? app_at(i)->name : NULL;
}

static const app_option *app_options(const char *word) { return app_find(word)->options; }

const command run_command = {
    .name = "run",
    .text = "solve one problem, verify the result, print a summary",
    .usage = "APP [options]",
    .about = "Solves one problem, verifies the result and prints a summary. " NUMBERS "\n"
             "Started by mpirun, the processes share the work of fib, fourrow, nqueens or uts. The first one prints, "
             "and reads and\n"
             "writes checkpoints, which do not depend on the number of processes.",
    .options = RUN_OPTIONS,
    .word_at = app_word,
    .words = "apps (ballast run APP --help lists their options)",
    .options_of = app_options,
    .run = command_run,
};
