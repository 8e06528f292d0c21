/* ballast verify --litmus: which guarantees the machine itself keeps. The tests are in verify/litmus.h. */
#include "options.h"
#include "output.h"

#include "litmus.h"
#include "verify.h"

#include <string.h>

typedef struct litmus_report {
    json_writer json;
    bool wants_json;
    int status;
} litmus_report;

static void report(litmus_report *r, const char *place, const char *name, const char *text, bool forbidden,
                   const litmus_count *c) {
    if (forbidden && c->odd)
        r->status = STATUS_FAILED;
    if (!r->wants_json) {
        printf("%-7s  %-13s  %12llu  %14llu  %-9s  %s\n", place, name, (unsigned long long)c->odd,
               (unsigned long long)c->runs,
               !c->runs     ? "not here"
               : !forbidden ? "allowed"
               : c->odd     ? "WRONG"
                            : "never",
               text);
        fflush(stdout);
        return;
    }
    json_start(&r->json, NULL, '{');
    json_string(&r->json, "place", place);
    json_string(&r->json, "test", name);
    json_bool(&r->json, "forbidden", forbidden);
    json_whole(&r->json, "seen", c->odd);
    json_whole(&r->json, "runs", c->runs);
    json_end(&r->json, '}');
}

static int on_cpu(litmus_report *r, double seconds) {
    for (int kind = 0; kind < LITMUS_KINDS; kind++) {
        litmus_count c = {0, 0};
        if (!litmus_cpu((litmus_kind)kind, seconds, &c))
            return run_failed("verify --litmus: out of memory or threads");
        report(r, "threads", litmus_tests[kind].name, litmus_tests[kind].text, litmus_tests[kind].forbidden, &c);
    }
    return STATUS_OK;
}

static int on_gpu(litmus_report *r, double seconds) {
    litmus_count block = {0, 0}, host = {0, 0};
    for (int i = 0; i < LITMUS_KINDS * LITMUS_PLACES; i++) {
        const litmus_test *test = &litmus_tests[i % LITMUS_KINDS];
        litmus_place place = (litmus_place)(i / LITMUS_KINDS);
        litmus_count c = {0, 0};
        const char *trouble = litmus_cuda((litmus_kind)(i % LITMUS_KINDS), place, seconds, &c);
        if (trouble)
            return run_failed("verify --litmus: %s", trouble);
        report(r, litmus_places[place], test->name, test->text, test->forbidden, &c);
    }
    const char *trouble = litmus_cuda_block(seconds, &block);
    trouble = trouble ? trouble : litmus_cuda_host(seconds, &host);
    if (trouble)
        return run_failed("verify --litmus: %s", trouble);
    report(r, "block", "sync", "plain words written before bl_block_sync and read after it", true, &block);
    report(r, "host", "counters", "host and kernel read each other's counter: it never goes back", true, &host);
    return STATUS_OK;
}

int verify_litmus(const verify_target *target, double seconds, bool wants_json) {
    litmus_report r = {{stdout, false}, wants_json, STATUS_OK};
    if (wants_json) {
        json_start(&r.json, NULL, '{');
        json_string(&r.json, "device", target->name);
        json_start(&r.json, "litmus", '[');
    } else {
        printf("%-7s  %-13s  %12s  %14s  %-9s  %s\n", "place", "test", "seen", "runs", "outcome", "what");
    }
    int status = target == &verify_cpu ? on_cpu(&r, seconds) : on_gpu(&r, seconds);
    if (wants_json) {
        json_end(&r.json, ']');
        json_end(&r.json, '}');
        putchar('\n');
    }
    return status ? status : r.status;
}
