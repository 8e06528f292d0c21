/* ballast verify: contract, stress and linearizability tests of the queues on this machine. The checks are in
 * verify/. */
#include "output.h"
#include "tool.h"

#include "verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const app_option VERIFY_OPTIONS[] = {
    {"--seconds", "N", "2", "time per queue; the contract cases always run in full"},
    {"--device", "D", "auto", DEVICES_ACCEPTED},
    {"--seed", "S", "", "with --device sim: replay only this history"},
    {"--litmus", NULL, "", "instead of queues, run litmus tests of the CPU or GPU itself, --seconds each"},
    {"--json", NULL, "", "print one JSON object on one line"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

enum { QUEUES_MAX = 64 };

typedef struct verify_request {
    const verify_target *target;
    bl_device_info device;
    const char *names[QUEUES_MAX]; /* none: all */
    uint32_t count;
    double seconds;
    uint64_t seed;
    bool again, json;
} verify_request;

/* ---- the command line ---- */

static int unknown_queue(const char *name) {
    name_list accepted = {0};
    for (uint32_t i = 0; verify_cpu.queue[i]; i++)
        name_list_add(&accepted, verify_cpu.queue[i]->name);
    return wrong_use("%.64s: unknown queue (accepted: %s)", name, accepted.text);
}

static int take_queue(verify_request *request, const char *name) {
    if (!verify_find(&verify_cpu, name))
        return unknown_queue(name);
    for (uint32_t i = 0; i < request->count; i++)
        if (strcmp(request->names[i], name) == 0)
            return wrong_use("%s: given twice (accepted: once)", name);
    if (request->count == QUEUES_MAX)
        return wrong_use("%s: too many queues (accepted: %d)", name, QUEUES_MAX);
    request->names[request->count++] = name;
    return 0;
}

static int parse(options *set, int argc, char **argv, verify_request *request) {
    for (int at = 0; at < argc;) {
        int status = options_is(argv[at]) ? options_take(set, argv, &at) : take_queue(request, argv[at++]);
        if (status)
            return status;
    }
    return 0;
}

static int choose_device(const options *set, verify_request *request) {
    const char *device = "auto";
    int status = option_device(set, &device);
    if (status)
        return status;
    uint32_t traits = bl_device_traits(device);
    if (traits & BL_DEVICE_GPU)
        request->target = verify_cuda(device_number(device));
    else
        request->target = traits & BL_DEVICE_SIMULATED ? &verify_sim : &verify_cpu;
    bl_device_find(device, &request->device);
    if (!request->target)
        return wrong_use("--device %.64s: no usable GPU here (accepted: " DEVICES_ACCEPTED ")", device);
    return 0;
}

static int read_request(const options *set, verify_request *request) {
    int status = choose_device(set, request);
    if (status == 0)
        status = option_seconds(set, "--seconds", &request->seconds);
    if (status == 0)
        status = option_whole(set, "--seed", 0, UINT32_MAX, &request->seed);
    if (status)
        return status;
    request->json = options_given(set, "--json");
    request->again = options_given(set, "--seed");
    if (request->again && request->target != &verify_sim)
        return wrong_use("--seed: only the simulated machine can replay a history (accepted: with --device sim)");
    if (request->again && request->count != 1)
        return wrong_use("--seed: needs exactly one queue (accepted: with one QUEUE)");
    return 0;
}

/* ---- text ---- */

static const char *const FINDINGS[] = {"FULL is not exact", "EMPTY is not exact", "not linearizable",
                                       "breaks its claims"};

static void print_row_of(const verify_queue *queue, const verify_result *r) {
    char histories[80] = "-";
    if (r->histories)
        snprintf(histories, sizeof histories, "%s (%s)", human_count((double)r->histories).text, r->clocks);
    printf("%-14s  %-7s  %8s  %8s  %-24s  %s\n", queue->name, queue_kind(queue->kind),
           r->cases ? human_count((double)r->cases).text : "-",
           r->operations ? human_count((double)r->operations).text : "-", histories, r->text);
    fflush(stdout);
}

static void print_history(const char *queue, verify_finding finding, const verify_history *h) {
    printf("\n%s: %s", queue, h->why ? h->why : finding < VERIFY_FINDINGS ? FINDINGS[finding] : "as claimed");
    if (h->target == &verify_sim)
        printf("; on the simulated machine; replay with: ballast verify %s --device sim --seed %u\n", queue,
               h->shape.seed);
    else
        printf("; recorded on %s (%s)\n", h->target->name, h->time);
    lin_print(stdout, h->ops, h->count, &h->spec);
}

static void print_histories(const char *queue, const verify_result *r) {
    for (uint32_t i = 0; i < r->shown; i++)
        print_history(queue, r->finding[i], &r->history[i]);
}

/* ---- JSON ---- */

static void operation_json(json_writer *json, const lin_op *op) {
    static const char *const KINDS[] = {"push", "pop", "steal"}, *const OUTCOMES[] = {"DONE", "EMPTY", "FULL", "RETRY"};
    json_start(json, NULL, '{');
    json_whole(json, "thread", op->thread);
    json_string(json, "operation", op->kind <= LIN_STEAL ? KINDS[op->kind] : "?");
    json_string(json, "outcome", op->outcome <= BL_QUEUE_RETRY ? OUTCOMES[op->outcome] : "?");
    if (op->kind == LIN_PUSH || op->outcome == BL_QUEUE_DONE)
        json_whole(json, "value", op->value);
    else
        json_null(json, "value");
    json_whole(json, "called", op->called);
    json_whole(json, "returned", op->returned);
    json_end(json, '}');
}

static void history_json(json_writer *json, verify_finding finding, const verify_history *h) {
    json_start(json, NULL, '{');
    json_string(json, "shows", h->why ? h->why : finding < VERIFY_FINDINGS ? FINDINGS[finding] : "as claimed");
    json_string(json, "device", h->target->name);
    json_string(json, "clock", h->time);
    if (h->target == &verify_sim)
        json_whole(json, "seed", h->shape.seed);
    else
        json_null(json, "seed");
    json_whole(json, "capacity", h->spec.capacity);
    json_whole(json, "filled", h->spec.filled);
    json_start(json, "operations", '[');
    for (uint32_t i = 0; i < h->count; i++)
        operation_json(json, &h->ops[i]);
    json_end(json, ']');
    json_end(json, '}');
}

static void result_json(json_writer *json, const verify_queue *queue, const verify_result *r) {
    static const char *const VERDICTS[] = {"holds", "failed", "unproven", "skipped"};
    json_start(json, NULL, '{');
    json_string(json, "queue", queue->name);
    json_string(json, "kind", queue_kind(queue->kind));
    json_whole(json, "contract_cases", r->cases);
    json_whole(json, "stress_operations", r->operations);
    json_whole(json, "histories", r->histories);
    json_string(json, "clocks", r->clocks);
    json_whole(json, "simulated_histories", r->simulated);
    json_whole(json, "undecided", r->undecided);
    json_string(json, "status", VERDICTS[r->verdict]);
    json_string(json, "verdict", r->text);
    json_start(json, "shown", '[');
    for (uint32_t i = 0; i < r->shown; i++)
        history_json(json, r->finding[i], &r->history[i]);
    json_end(json, ']');
    json_end(json, '}');
}

/* ---- the command ---- */

static void verify_one(const verify_request *request, const verify_queue *queue, verify_result *result) {
    const char *lack = bl_device_lacks(&request->device, queue->name);
    if (lack) {
        result->verdict = VERIFY_SKIPPED;
        snprintf(result->text, sizeof result->text, "skipped: %s", lack);
        return;
    }
    if (request->again)
        verify_replay(queue, (uint32_t)request->seed, result);
    else
        verify_run(request->target, queue, verify_find(&verify_sim, queue->name), request->seconds, result);
}

static bool is_wanted(const verify_request *request, const char *name) {
    for (uint32_t i = 0; i < request->count; i++)
        if (strcmp(request->names[i], name) == 0)
            return true;
    return request->count == 0;
}

/* Prints rows as they complete, and the histories after the last. */
static int verify_all(const verify_request *request, verify_result *results) {
    int status = STATUS_OK;
    json_writer json = {stdout, false};
    const verify_queue *const *queues = request->target->queue;
    if (request->json) {
        json_start(&json, NULL, '{');
        json_string(&json, "device", request->target->name);
        json_start(&json, "queues", '[');
    } else {
        printf("%-14s  %-7s  %8s  %8s  %-24s  %s\n", "queue", "kind", "contract", "stress", "histories", "verdict");
    }
    for (uint32_t i = 0; queues[i]; i++) {
        if (!is_wanted(request, queues[i]->name))
            continue;
        verify_one(request, queues[i], &results[i]);
        if (results[i].verdict == VERIFY_FAILED || results[i].verdict == VERIFY_UNPROVEN)
            status = STATUS_FAILED;
        if (request->json)
            result_json(&json, queues[i], &results[i]);
        else
            print_row_of(queues[i], &results[i]);
    }
    for (uint32_t i = 0; queues[i] && !request->json; i++)
        print_histories(queues[i]->name, &results[i]);
    if (request->json) {
        json_end(&json, ']');
        json_end(&json, '}');
        putchar('\n');
    }
    return status;
}

static int litmus(const verify_request *request) {
    if (request->count)
        return wrong_use("--litmus: tests the machine, not %s (accepted: without a QUEUE)", request->names[0]);
    if (request->target == &verify_sim)
        return wrong_use(
            "--litmus: not for the simulated machine, which has its own tests (accepted: --device cpu, cuda)");
    return verify_litmus(request->target, request->seconds, request->json);
}

static int command_verify(int argc, char **argv) {
    options set = {.command = "verify"};
    verify_request request = {0};
    options_add(&set, VERIFY_OPTIONS);
    int status = parse(&set, argc, argv, &request);
    if (status)
        return status;
    if (options_given(&set, "--help"))
        return command_help(&verify_command);
    status = read_request(&set, &request);
    if (status)
        return status;
    if (options_given(&set, "--litmus"))
        return litmus(&request);
    uint32_t count = 0;
    while (request.target->queue[count])
        count++;
    verify_result *results = calloc(count + 1, sizeof *results);
    if (!results)
        return run_failed("out of memory");
    status = verify_all(&request, results);
    free(results);
    if (request.target->trouble()) { /* some threads never end, and a normal exit might wait for them */
        finish_output();
        _exit(STATUS_FAILED);
    }
    return status;
}

static const char *queue_at(unsigned i, const char **text) {
    *text = NULL;
    return verify_cpu.queue[i] ? verify_cpu.queue[i]->name : NULL;
}

const command verify_command = {
    .name = "verify",
    .text = "test on this machine and device that queues have the properties they claim",
    .usage = "[QUEUE...] [options]",
    .about = "Tests that queues have the properties they claim: contract cases, a stress test with many threads, and\n"
             "recorded histories, each of which must have an order that explains every result. For a property that a\n"
             "queue does not claim, it shows a history that violates it: from this device if one occurs in time, else\n"
             "from the simulated machine. Without a QUEUE, it tests all queues.",
    .options = VERIFY_OPTIONS,
    .word_at = queue_at,
    .run = command_verify,
};
