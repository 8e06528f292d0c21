/* ballast list: what this build offers. Each section is printed either for people or as JSON. */
#include "list_queues.h"
#include "output.h"
#include "tool.h"

#include <string.h>

static const app_option LIST_OPTIONS[] = {
    {"--app", "APP", "", "only schedulers that this app is compiled for"},
    {"--device", "D", "", "only queues and schedulers for this device: " DEVICES_ACCEPTED},
    {"--json", NULL, "", "print one JSON object on one line"},
    {"--help", NULL, "", "print this help"},
    {NULL, NULL, NULL, NULL},
};

/* Lists only schedulers that suit these; NULL: any. */
typedef struct scheduler_filter {
    const app *app;
    const char *target;
    bl_device_info device; /* zero if no device was given */
} scheduler_filter;

static bool app_has(const app *chosen, const char *target, const char *scheduler) {
    return bl_program_has(bl_program_part(chosen->program(), target), scheduler);
}

static bool fits(const scheduler_filter *filter, const char *scheduler) {
    static const char *const TARGETS[] = {"cpu", "cuda", "sim"};
    if (!filter->app && !filter->target)
        return true;
    if (bl_device_lacks(&filter->device, scheduler))
        return false;
    for (unsigned i = 0; app_at(i); i++) {
        if (filter->app && filter->app != app_at(i))
            continue;
        for (size_t t = 0; t < sizeof TARGETS / sizeof TARGETS[0]; t++)
            if ((!filter->target || strcmp(filter->target, TARGETS[t]) == 0) &&
                app_has(app_at(i), TARGETS[t], scheduler))
                return true;
    }
    return false;
}

/* ---- apps ---- */

static void apps_text(const scheduler_filter *filter) {
    (void)filter;
    puts("apps");
    for (unsigned i = 0; app_at(i); i++)
        printf("  %-10s  %s\n", app_at(i)->name, app_at(i)->text);
}

static void app_json(json_writer *json, const app *chosen) {
    json_start(json, NULL, '{');
    json_string(json, "name", chosen->name);
    json_string(json, "text", chosen->text);
    json_start(json, "options", '[');
    for (const app_option *row = chosen->options; row && row->name; row++) {
        json_start(json, NULL, '{');
        json_string(json, "name", row->name);
        json_string(json, "default", row->initial ? row->initial : "");
        json_string(json, "text", row->text);
        json_end(json, '}');
    }
    json_end(json, ']');
    json_end(json, '}');
}

static void apps_json(json_writer *json, const scheduler_filter *filter) {
    (void)filter;
    json_start(json, "apps", '[');
    for (unsigned i = 0; app_at(i); i++)
        app_json(json, app_at(i));
    json_end(json, ']');
}

/* ---- queues ---- */

static void all_queues_text(const scheduler_filter *filter) { queues_text(&filter->device); }
static void all_queues_json(json_writer *json, const scheduler_filter *filter) { queues_json(json, &filter->device); }

/* ---- schedulers ---- */

static void schedulers_text(const scheduler_filter *filter) {
    puts("schedulers");
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        if (fits(filter, bl_scheduler_name(i)))
            printf("  %-20s  %s\n", bl_scheduler_name(i), bl_scheduler_text(i));
    puts("\nnames used in the papers");
    const char *scheduler = NULL;
    for (uint32_t i = 0; bl_alias_name(i, &scheduler); i++)
        if (fits(filter, scheduler))
            printf("  %-20s  %s\n", bl_alias_name(i, &scheduler), scheduler);
    missing_text(&filter->device, bl_scheduler_name);
}

static void pair_json(json_writer *json, const char *name, const char *key, const char *value) {
    json_start(json, NULL, '{');
    json_string(json, "name", name);
    json_string(json, key, value);
    json_end(json, '}');
}

static void schedulers_json(json_writer *json, const scheduler_filter *filter) {
    json_start(json, "schedulers", '[');
    for (uint32_t i = 0; bl_scheduler_name(i); i++)
        if (fits(filter, bl_scheduler_name(i)))
            pair_json(json, bl_scheduler_name(i), "text", bl_scheduler_text(i));
    json_end(json, ']');
    json_start(json, "aliases", '[');
    const char *scheduler = NULL;
    for (uint32_t i = 0; bl_alias_name(i, &scheduler); i++)
        if (fits(filter, scheduler))
            pair_json(json, bl_alias_name(i, &scheduler), "scheduler", scheduler);
    json_end(json, ']');
    missing_json(json, "missing_schedulers", &filter->device, bl_scheduler_name);
}

/* ---- devices ---- */

static void devices_text(const scheduler_filter *filter) {
    (void)filter;
    puts("devices\n  id        workers  memory    name");
    bl_device_info d;
    for (uint32_t i = 0; bl_device_info_at(i, &d); i++)
        printf("  %-8s  %7u  %-8s  %s\n", d.id, (unsigned)d.workers, d.memory ? human_bytes(d.memory).text : "-",
               d.name);
}

static void devices_json(json_writer *json, const scheduler_filter *filter) {
    (void)filter;
    json_start(json, "devices", '[');
    bl_device_info d;
    for (uint32_t i = 0; bl_device_info_at(i, &d); i++) {
        json_start(json, NULL, '{');
        json_string(json, "id", d.id);
        json_string(json, "name", d.name);
        json_whole(json, "workers", d.workers);
        if (d.memory)
            json_whole(json, "memory", d.memory);
        else
            json_null(json, "memory");
        json_end(json, '}');
    }
    json_end(json, ']');
}

/* ---- the command ---- */

typedef struct section {
    const char *name;
    void (*text)(const scheduler_filter *filter);
    void (*json)(json_writer *json, const scheduler_filter *filter);
} section;

static const section SECTIONS[] = {
    {"apps", apps_text, apps_json},
    {"queues", all_queues_text, all_queues_json},
    {"schedulers", schedulers_text, schedulers_json},
    {"devices", devices_text, devices_json},
};
enum { SECTION_COUNT = sizeof SECTIONS / sizeof SECTIONS[0] };

static const section *known_section(const char *word) {
    name_list accepted = {0};
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (strcmp(word, SECTIONS[i].name) == 0)
            return &SECTIONS[i];
        name_list_add(&accepted, SECTIONS[i].name);
    }
    wrong_use("%.64s: not something to list (accepted: %s)", word, accepted.text);
    return NULL;
}

static int read_filter(const options *set, const section *only, scheduler_filter *filter) {
    bool narrowed = options_given(set, "--app") || options_given(set, "--device");
    bool app = options_given(set, "--app");
    if (narrowed && only && only->text != schedulers_text && (app || only->text != all_queues_text))
        return wrong_use("%s: filters only schedulers%s, not %s (accepted: ballast list schedulers)",
                         app ? "--app" : "--device", app ? "" : " and queues", only->name);
    if (options_given(set, "--app") && !(filter->app = known_app("--app ", options_text(set, "--app"))))
        return STATUS_WRONG_USE;
    const char *device = NULL;
    int status = option_device(set, &device);
    if (status == 0 && device) {
        filter->target = device_target(device);
        bl_device_find(device, &filter->device);
    }
    return status;
}

static void print_text(const section *only, const scheduler_filter *filter) {
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (only && only != &SECTIONS[i])
            continue;
        SECTIONS[i].text(filter);
        if (!only && i + 1 < SECTION_COUNT)
            putchar('\n');
    }
}

static void print_json(const section *only, const scheduler_filter *filter) {
    json_writer json = {stdout, false};
    json_start(&json, NULL, '{');
    for (int i = 0; i < SECTION_COUNT; i++)
        if (!only || only == &SECTIONS[i])
            SECTIONS[i].json(&json, filter);
    json_end(&json, '}');
    putchar('\n');
}

static int command_list(int argc, char **argv) {
    options set = {.command = "list"};
    options_add(&set, LIST_OPTIONS);
    const section *only = NULL;
    const char *word;
    int status = options_parse(&set, argc, argv, "one word, or none for all", &word);
    if (status)
        return status;
    if (word && !(only = known_section(word)))
        return STATUS_WRONG_USE;
    if (options_given(&set, "--help"))
        return command_help(&list_command);
    scheduler_filter filter = {.app = NULL};
    status = read_filter(&set, only, &filter);
    if (status)
        return status;
    if (options_given(&set, "--json"))
        print_json(only, &filter);
    else
        print_text(only, &filter);
    return STATUS_OK;
}

static const char *section_at(unsigned i, const char **text) {
    *text = NULL;
    return i < SECTION_COUNT ? SECTIONS[i].name : NULL;
}

const command list_command = {
    .name = "list",
    .text = "list the apps, queues, schedulers and devices",
    .usage = "[apps|queues|schedulers|devices] [options]",
    .about = "Lists what this build offers; without a word, all four.",
    .options = LIST_OPTIONS,
    .word_at = section_at,
    .run = command_list,
};
